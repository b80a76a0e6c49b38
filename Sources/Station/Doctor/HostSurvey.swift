import Basics
import EventLoop
import Glibc
import Panel
import Radio
import Uplink
import Vault

/// Gathers the facts of the machine it runs on. It changes nothing and needs no daemon; without root it sees less.
public enum HostSurvey {
    private enum Limits {
        static let controllers = 64
    }

    /// - Parameter configurationPath: nil for the default place, where there may be none.
    public static func facts(configurationPath: String?) -> DoctorFacts {
        var facts = DoctorFacts()
        let configuration = configuration(configurationPath, &facts)
        facts.radioKind = configuration.radio.kind.rawValue
        facts.adapters = configuration.radio.adapters
        facts.kernel = kernel()
        let processes = ProcessTable()
        facts.own = processes.process(getpid())
        let survey = processes.survey(
            ownPID: getpid(), daemon: daemon(at: configuration.controlSocket, processes))
        facts.holders = survey.holders
        facts.seesAllProcesses = survey.seesAll
        facts.daemon = survey.daemon
        facts.daemonSockets = survey.daemonSockets
        if let daemon = survey.daemon { facts.swap = SwapSurvey().places(of: daemon.pid) }
        if configuration.network.tor == .required {
            facts.torSocket = configuration.network.socks.description
            facts.tor = tor(at: configuration.network.socks)
            let user = survey.daemon.flatMap { owner(of: $0.pid) } ?? daemonUser(of: configuration.stateDirectory)
            facts.torDenials = torDenials(
                configuration.network, running: survey.daemon.flatMap { processes.credentials($0.pid) },
                started: Credentials(ofUser: user), user: Credentials.name(ofUser: user))
        }
        facts.clock = ClockSource(
            ofSystem: SystemClock.wall, isSynchronised: SystemClock.isSynchronised,
            isVouchedFor: configuration.clock.trustSystem)
        facts.stateDirectory = configuration.stateDirectory
        facts.state = state(
            configuration.stateDirectory, owner: survey.daemon.flatMap { owner(of: $0.pid) } ?? geteuid())
        facts.panel = configuration.panel.lines.map { panelLine($0.key, $0.address) }
        bluetooth(&facts)
        return facts
    }

    /// Who answers a control socket. A user who may not ask takes the only process of that name for it.
    static func daemon(at path: String, _ processes: ProcessTable) -> Int32? {
        do throws(SystemError) {
            return UnixSocket.peerProcess(of: try UnixSocket.connect(.stream, to: path))
        } catch {
            guard error.code == EACCES else { return nil }
            let found = processes.processes(named: "bitgated")
            return found.count == 1 ? found.first : nil
        }
    }

    static func tor(at endpoint: LocalEndpoint) -> DoctorFacts.Tor {
        do throws(SystemError) {
            try endpoint.tryConnecting()
            return .listens
        } catch {
            return error.code == EACCES || error.code == EPERM ? .forbidden : .closed(SystemError.text(error.code))
        }
    }

    /// As whom bitgated would run: whoever has its state, or whom the package made for it.
    private static func daemonUser(of stateDirectory: String) -> uid_t {
        var info = stat()
        if stat(stateDirectory, &info) == 0 { return info.st_uid }
        return Credentials.user(named: "bitgate") ?? geteuid()
    }

    /// - Parameters:
    ///   - running: as whom the daemon runs, if it does.
    ///   - started: as whom it would if it were started now.
    static func torDenials(
        _ network: Configuration.Network, running: Credentials?, started: Credentials?, user: String
    ) -> [DoctorFacts.TorDenial] {
        guard let actual = running ?? started else { return [] }
        var needed: [(key: String, path: String, right: Credentials.Right)] = [
            ("network.socks", network.socks.description, .write)
        ]
        if let control = network.control?.description {
            needed.append(("network.control", control, .write))
            // Where Debian's tor has it, unless somebody says where.
            let cookie = network.controlCookie ?? PrivateFile.parent(of: control) + "/control.authcookie"
            needed.append(("network.control_cookie", cookie, .read))
        }
        return needed.compactMap { key, path, right in
            actual.barrier(to: path, for: right).map { barrier in
                let cure: DoctorFacts.TorDenial.Cure =
                    if running != nil, let started, started.barrier(to: path, for: right) == nil {
                        .restart
                    } else if barrier.opensToGroup, !actual.groups.contains(barrier.group) {
                        .joining(group: Credentials.name(ofGroup: barrier.group))
                    } else {
                        .opening
                    }
                return DoctorFacts.TorDenial(key: key, path: barrier.path, user: user, cure: cure)
            }
        }
    }

    static func panelLine(
        _ key: String, _ address: LineAddress, chips: GPIOChips = GPIOChips()
    ) -> DoctorFacts.PanelLineCheck {
        do throws(GPIOProblem) {
            let found = try chips.find(address)
            let chip = found.path.split(separator: "/").last ?? ""
            return DoctorFacts.PanelLineCheck(
                key: key, address: address, place: "\(chip) line \(found.offset)", problem: nil)
        } catch {
            return DoctorFacts.PanelLineCheck(key: key, address: address, place: nil, problem: error)
        }
    }

    /// - Parameter usual: where a configuration may be, but need not.
    static func configuration(
        _ path: String?, usual: String = Configuration.defaultPath, _ facts: inout DoctorFacts
    ) -> Configuration {
        let file = path ?? usual
        if access(file, R_OK) != 0 {
            let code = errno
            if path == nil, code == ENOENT || code == ENOTDIR {
                facts.configuration = .absent
                return Configuration()
            }
            if code == EACCES {
                facts.configuration = .hidden(file)
                return Configuration()
            }
        }
        do {
            return try Configuration(contentsOf: file)
        } catch {
            facts.configuration = .bad("\(error)".split(separator: "\n").first.map(String.init) ?? "")
            return Configuration()
        }
    }

    private static func kernel() -> KernelRelease {
        var name = utsname()
        guard uname(&name) == 0 else { return KernelRelease(release: "", build: "") }
        func text(_ field: some Any) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        return KernelRelease(release: text(name.release), build: text(name.version))
    }

    private static func owner(of pid: Int32) -> uid_t? {
        var info = stat()
        return stat("/proc/\(pid)", &info) == 0 ? info.st_uid : nil
    }

    static func state(_ path: String, owner: uid_t) -> DoctorFacts.State {
        var info = stat()
        guard stat(path, &info) == 0 else {
            guard errno == ENOENT else { return .unreadable(SystemError.text(errno)) }
            let parent = path.split(separator: "/").dropLast().reduce(into: "") { $0 += "/" + $1 }
            return access(parent.isEmpty ? "/" : parent, F_OK) == 0 ? .absent : .homeless
        }
        guard info.st_mode & S_IFMT == S_IFDIR else { return .notDirectory }
        guard info.st_uid == owner else { return .foreign }
        guard info.st_mode & 0o077 == 0 else { return .open }
        var space = statvfs()
        guard statvfs(path, &space) == 0 else { return .unreadable(SystemError.text(errno)) }
        guard space.f_flag & UInt(ST_RDONLY) == 0 else { return .readOnly }
        let free = UInt64(space.f_bavail).multipliedReportingOverflow(by: UInt64(space.f_frsize))
        return free.overflow || free.partialValue >= Diagnosis.Limits.freeBytes ? .good : .full(free.partialValue)
    }

    private static func bluetooth(_ facts: inout DoctorFacts) {
        let indexes = SystemFiles.names(in: "/sys/class/bluetooth", atMost: Limits.controllers)
            .compactMap { $0.hasPrefix("hci") ? UInt16($0.dropFirst(3)) : nil }.sorted()
        facts.controllers = indexes.map { index in
            var controller = DoctorFacts.Controller(index: index)
            controller.block = RadioSwitches().block(ofController: index)
            controller.attachment = attachment(index)
            controller.sharesAntenna = AntennaSurvey().isShared(ofController: index)
            return controller
        }
        ControllerSurvey.fill(&facts)
    }

    private static func attachment(_ index: UInt16) -> DoctorFacts.Attachment {
        guard let resolved = realpath("/sys/class/bluetooth/hci\(index)", nil) else { return .other }
        defer { free(resolved) }
        let path = String(cString: resolved)
        if path.contains("/usb") { return .usb }
        if path.contains("/serial") || path.contains("/tty") { return .serial }
        return path.contains("/virtual/") ? .virtual : .other
    }
}
