import EventLoop
import Foundation
import Radio
import Uplink
import XCTest

@testable import Station

final class DoctorTests: XCTestCase {
    /// A machine on which all is well.
    private func healthy() -> DoctorFacts {
        var facts = DoctorFacts()
        facts.kernel = KernelRelease(release: "6.12.48+deb13-amd64", build: "#1 SMP Debian 6.12.48-1 (2026-09-20)")
        facts.controllers = [adapter()]
        facts.own.capabilities = .networkAdministration
        facts.own.lockableMemory = 8 << 20
        facts.stateDirectory = "/var/lib/bitgate"
        facts.radioKind = "bluetooth"
        return facts
    }

    private func adapter(
        supported: AdapterSettings = [.powered, .lowEnergy, .advertising],
        current: AdapterSettings = [.powered, .lowEnergy]
    ) -> DoctorFacts.Controller {
        var controller = DoctorFacts.Controller(index: 0)
        controller.information = ControllerInformation(address: nil, supported: supported, current: current)
        controller.instances = AdvertisingFeatures(instances: [1])
        controller.attachment = .usb
        return controller
    }

    private func daemon(started: UInt64 = 100) -> DoctorFacts.Process {
        var process = DoctorFacts.Process()
        process.pid = 7
        process.capabilities = .networkAdministration
        process.lockableMemory = 8 << 20
        process.started = started
        return process
    }

    private func codes(_ change: (inout DoctorFacts) -> Void) -> [String] {
        var facts = healthy()
        change(&facts)
        return Diagnosis(facts).findings.map(\.code)
    }

    private func changed(_ change: (inout DoctorFacts.Controller) -> Void) -> [String] {
        codes { change(&$0.controllers[0]) }
    }

    func testAWellMachineGivesNoFindings() {
        XCTAssertEqual(codes { _ in }, [])
        XCTAssertEqual(codes { $0.daemon = daemon() }, [])
        XCTAssertTrue(DoctorReport.text(Diagnosis(healthy())).hasSuffix("\nAll is well.\n"))
    }

    func testAbsentBlockedHeldOldAndSwitchedOffAdaptersAreToldApart() {
        XCTAssertEqual(codes { $0.controllers = [] }, ["no-adapter"])
        XCTAssertEqual(changed { $0.block = .soft }, ["adapter-soft-blocked"])
        XCTAssertEqual(changed { $0.block = .hard }, ["adapter-hard-blocked"])
        XCTAssertEqual(changed { $0.information = nil }, ["adapter-held"])
        XCTAssertEqual(changed { $0 = adapter(supported: [.powered, .classic]) }, ["adapter-unsuitable"])
        XCTAssertEqual(
            changed { $0.instances = AdvertisingFeatures(mostInstances: 0, instances: []) },
            ["adapter-cannot-advertise"])
        XCTAssertEqual(changed { $0 = adapter(current: []) }, [], "bitgated will switch it on")
        XCTAssertEqual(
            codes {
                $0.controllers = [adapter(current: [])]
                $0.daemon = daemon()
            }, ["adapter-off"])
        for (bluetooth, code) in [
            (DoctorFacts.Bluetooth.missing, "bluetooth-missing"), (.forbidden, "bluetooth-forbidden"),
            (.silent, "bluetooth-silent"),
        ] {
            XCTAssertEqual(codes { ($0.bluetooth, $0.controllers) = (bluetooth, []) }, [code])
        }
    }

    func testOnlyAdaptersThatTheConfigurationGivesAreJudged() {
        func two(_ adapters: [AdapterChoice]) -> [String] {
            codes {
                var other = DoctorFacts.Controller(index: 1)
                other.block = .soft
                $0.controllers.append(other)
                $0.adapters = adapters
            }
        }
        XCTAssertEqual(two([]), ["adapter-soft-blocked"])
        XCTAssertEqual(two([.index(0)]), [])
        XCTAssertEqual(two([.index(0), .index(1)]), ["adapter-soft-blocked"])
        XCTAssertEqual(two([.index(0), .index(7)]), ["adapter-missing"])
        let address = BluetoothAddress(value: 5, kind: .public)
        XCTAssertEqual(two([.address(address)]), ["adapter-missing"])
        XCTAssertEqual(
            codes {
                $0.radioKind = "air"
                $0.controllers = []
            }, [], "virtual air needs no Bluetooth")
    }

    func testAChipSharedWithTheUplinkIsAWarning() {
        XCTAssertEqual(changed { $0.attachment = .serial }, [])
        XCTAssertEqual(changed { $0.sharesAntenna = true }, ["shared-antenna"])
    }

    func testWhoHoldsAdaptersBesideUsIsNamed() {
        func holder(_ name: String, _ sockets: DoctorFacts.Sockets, started: UInt64 = 1) -> DoctorFacts.Holder {
            DoctorFacts.Holder(name: name, pid: 42, sockets: sockets, started: started)
        }
        XCTAssertEqual(codes { $0.holders = [holder("bluetoothd", [.links, .controllers])] }, ["bluetoothd"])
        XCTAssertEqual(codes { $0.holders = [holder("bluetoothd", [])] }, ["bluetoothd"])
        XCTAssertEqual(codes { $0.holders = [holder("btmon", .controllers)] }, [], "watching does no harm")
        XCTAssertEqual(codes { $0.holders = [holder("gatttool", .links)] }, ["other-links"])
        for (started, code) in [(UInt64(99), "other-links"), (101, "younger-listener")] {
            XCTAssertEqual(
                codes {
                    $0.daemon = daemon()
                    $0.holders = [holder("gatttool", .links, started: started)]
                }, [code])
        }
        var facts = healthy()
        facts.holders = [holder("evil\u{1b}[2J", .links)]
        XCTAssertFalse(DoctorReport.text(Diagnosis(facts)).contains("\u{1b}"))
    }

    func testMissingRightsAreThoseOfTheDaemonWhenItRuns() {
        XCTAssertEqual(codes { $0.own.capabilities = [] }, ["no-net-admin"])
        XCTAssertEqual(codes { $0.own.lockableMemory = 64 << 10 }, ["memory-lock"])
        XCTAssertEqual(
            codes {
                $0.own.lockableMemory = 64 << 10
                $0.own.capabilities = [.networkAdministration, .memoryLock]
            }, [])
        XCTAssertEqual(
            codes {
                $0.own = DoctorFacts.Process()
                $0.own.lockableMemory = 0
                $0.daemon = daemon()
            }, [])
        XCTAssertEqual(
            codes {
                $0.daemon = daemon()
                $0.daemon?.capabilities = .rawNetwork
            }, ["no-net-admin"])
    }

    func testKernelsWithKnownFaultsAreTold() {
        func told(_ release: String, _ build: String = "#1 SMP") -> [String] {
            codes { $0.kernel = KernelRelease(release: release, build: build) }
        }
        // On Debian the release is the name of a series of packages; the build text holds the version.
        XCTAssertEqual(
            told("6.1.0-57-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-1 (2026-10-01)"), ["kernel-closing"])
        XCTAssertEqual(
            told("6.1.0-54-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.190-1 (2026-09-01)"), ["kernel-blocking"])
        XCTAssertEqual(
            told("6.1.0-50-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.176-1 (2026-08-01)"), ["kernel-blocking"])
        XCTAssertEqual(told("6.1.0-40-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.153-1 (2025-09-20)"), [])
        XCTAssertEqual(told("6.1.192"), ["kernel-closing"])
        XCTAssertEqual(told("6.12.117+deb12-amd64", "#1 SMP Debian 6.12.117-1~deb12u1"), [])
        XCTAssertEqual(told("5.10.0-28-amd64", "#1 SMP Debian 5.10.209-2"), ["kernel-old"])
        XCTAssertEqual(told("6.18.4-rpi"), [])
        XCTAssertEqual(told(""), [])
        XCTAssertEqual(KernelRelease(release: "6.1.0-57-amd64", build: "#1 Debian").series.major, 0)
    }

    func testClockStateAndConfigurationAreLookedAt() {
        XCTAssertEqual(codes { $0.clock = .lastKnown }, ["clock"])
        XCTAssertEqual(codes { $0.clock = .configured }, [])
        let states: [DoctorFacts.State] = [.homeless, .notDirectory, .foreign, .open, .readOnly, .unreadable("why")]
        for state in states { XCTAssertEqual(codes { $0.state = state }, ["state-directory"]) }
        XCTAssertEqual(codes { $0.state = .absent }, [])
        XCTAssertEqual(codes { $0.state = .full(1 << 20) }, ["state-space"])
        XCTAssertEqual(codes { $0.configuration = .absent }, [])
        XCTAssertEqual(codes { $0.configuration = .bad("a.toml:1:1: no") }, ["configuration"])
        XCTAssertEqual(codes { $0.configuration = .hidden("/etc/bitgate/bitgate.toml") }, ["configuration-hidden"])
    }

    func testFaultsComeBeforeWarningsAndTheReportCountsBoth() throws {
        var facts = healthy()
        facts.clock = .lastKnown
        facts.state = .open
        facts.controllers[0].block = .soft
        let diagnosis = Diagnosis(facts)
        XCTAssertEqual(diagnosis.findings.map(\.code), ["adapter-soft-blocked", "state-directory", "clock"])
        let text = DoctorReport.text(diagnosis)
        XCTAssertTrue(text.hasPrefix("!! hci0 is blocked by software.\n   Run `rfkill unblock bluetooth`"), text)
        XCTAssertTrue(text.hasSuffix("\n2 faults, 1 warning.\n"), text)
        let json = try JSONSerialization.jsonObject(with: Data(DoctorReport.json(diagnosis).utf8)) as? [String: Any]
        XCTAssertEqual(
            (json?["findings"] as? [[String: Any]])?.map { $0["code"] as? String },
            ["adapter-soft-blocked", "state-directory", "clock"])
        XCTAssertEqual((json?["adapters"] as? [[String: Any]])?.first?["name"] as? String, "hci0")
    }

    func testAddressesOfAdaptersAreNotPrinted() {
        var facts = healthy()
        let address = BluetoothAddress(value: 0x0102_0304_0506, kind: .public)
        facts.controllers[0].information = ControllerInformation(
            address: address, supported: [.powered, .lowEnergy, .advertising], current: [.powered])
        for text in [DoctorReport.text(Diagnosis(facts)), DoctorReport.json(Diagnosis(facts))] {
            XCTAssertFalse(text.lowercased().contains("01:02:03"))
        }
    }

    // The machine's own files

    private var folder = ""

    override func setUpWithError() throws {
        folder = NSTemporaryDirectory() + "doctor-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

    private func write(_ text: String, _ path: String) throws {
        let whole = URL(fileURLWithPath: folder).appendingPathComponent(path)
        try FileManager.default.createDirectory(
            at: whole.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: whole, atomically: true, encoding: .utf8)
    }

    func testProcessesWithBluetoothSocketsAreFoundThroughProc() throws {
        try write("sk RefCnt Rmem Wmem User Inode Parent\n0 2 0 0 0 5001 0\n", "net/l2cap")
        try write("sk RefCnt Rmem Wmem User Inode Parent\n0 2 0 0 0 6001 0\n", "net/hci")
        for (pid, name, socket) in [
            (10, "gatttool", 5_001), (11, "btmon", 6_001), (12, "cat", 7_001), (13, "bitgated", 5_001),
        ] {
            try write("\(name)\n", "\(pid)/comm")
            let zeros = Array(repeating: "0", count: 18).joined(separator: " ")
            try write("\(pid) (a ) b) S \(zeros) \(pid * 100) 0\n", "\(pid)/stat")
            try write("Name:\t\(name)\nCapEff:\t0000000000003000\n", "\(pid)/status")
            try write("Max locked memory         65536    65536    bytes\n", "\(pid)/limits")
            try FileManager.default.createDirectory(atPath: "\(folder)/\(pid)/fd", withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder)/\(pid)/fd/3", withDestinationPath: "socket:[\(socket)]")
        }
        XCTAssertEqual(ProcessTable(root: folder).processes(named: "bitgated"), [13])
        let survey = ProcessTable(root: folder).survey(ownPID: 1, daemon: 13)
        XCTAssertEqual(
            survey.holders,
            [
                DoctorFacts.Holder(name: "gatttool", pid: 10, sockets: .links, started: 1_000),
                DoctorFacts.Holder(name: "btmon", pid: 11, sockets: .controllers, started: 1_100),
            ])
        XCTAssertEqual(survey.daemon?.pid, 13)
        XCTAssertEqual(survey.daemonSockets, .links)
        let others = ProcessTable(root: folder).survey(ownPID: 1, daemon: nil)
        XCTAssertNil(others.daemon)
        XCTAssertEqual(others.holders.map(\.name), ["gatttool", "btmon", "bitgated"], "another one is a stranger")
        XCTAssertEqual(survey.daemon?.capabilities, [.networkAdministration, .rawNetwork])
        XCTAssertEqual(survey.daemon?.lockableMemory, 65_536)
        XCTAssertEqual(ProcessTable(root: folder + "/none").survey(ownPID: 1, daemon: nil).holders, [])
        // Only the system's daemon takes every adapter; others are suspects once somebody is found to answer.
        let table = ProcessTable(root: folder)
        XCTAssertNil(table.rival(isProven: false, ownPID: 1))
        XCTAssertEqual(table.rival(isProven: true, ownPID: 1), ChannelRival(name: "gatttool", pid: 10))
        XCTAssertEqual(table.rival(isProven: true, ownPID: 10), ChannelRival(name: "bitgated", pid: 13))
        try write("bluetoothd\n", "20/comm")
        let daemon = ChannelRival(name: "bluetoothd", pid: 20)
        for isProven in [false, true] { XCTAssertEqual(table.rival(isProven: isProven, ownPID: 1), daemon) }
        XCTAssertTrue(table.isRunning(daemon))
        try write("cat\n", "20/comm")
        XCTAssertFalse(table.isRunning(daemon), "its number is another's now")
        XCTAssertNil(ProcessTable(root: folder + "/none").rival(isProven: true, ownPID: 1))
    }

    func testMemoryThatMayReachADiskInClearIsFound() throws {
        try write(
            """
            Filename                                Type            Size            Used            Priority
            /dev/sda2                               partition       1               0               -2
            /var/swap                               file            1               0               -3
            /dev/zram0                              partition       1               0               5
            /dev/zram1                              partition       1               0               5
            /dev/dm-0                               partition       1               0               5
            """, "proc/swaps")
        try write("none\n", "sys/block/zram0/backing_dev")
        try write("/dev/loop0\n", "sys/block/zram1/backing_dev")
        try write("CRYPT-PLAIN-swap\n", "sys/block/dm-0/dm/uuid")
        try write("0::/system.slice/bitgated.service\n", "proc/7/cgroup")
        let survey = SwapSurvey(root: folder)
        let found = ["/dev/sda2", "/var/swap", "/dev/zram1"]
        XCTAssertEqual(survey.places(of: 7), found, "no memory controller")
        let limit = "sys/fs/cgroup/system.slice/bitgated.service/memory.swap.max"
        try write("max\n", limit)
        XCTAssertEqual(survey.places(of: 7), found)
        try write("0\n", limit)
        XCTAssertEqual(survey.places(of: 7), [])
        XCTAssertEqual(survey.places(of: 8), found, "it is run by hand")
        XCTAssertEqual(SwapSurvey(root: folder + "/none").places(of: 7), [])
        XCTAssertEqual(codes { $0.swap = found }, ["swap"])
        var facts = healthy()
        facts.swap = ["/dev/sda2"]
        XCTAssertTrue(DoctorReport.text(Diagnosis(facts)).contains("memory may be written to /dev/sda2,"))
        XCTAssertTrue(DoctorReport.json(Diagnosis(facts)).contains(#""swap":["/dev/sda2"]"#))
    }

    func testOnlyTheDaemonOfTheConfigurationIsDescribed() throws {
        let path = folder + "/control"
        XCTAssertNil(HostSurvey.daemon(at: path, ProcessTable()))
        let listener = try UnixSocket.listen(.stream, at: path)
        XCTAssertEqual(HostSurvey.daemon(at: path, ProcessTable()), getpid())
        withExtendedLifetime(listener) {}
        var facts = healthy()
        facts.daemon = daemon()
        XCTAssertTrue(DoctorReport.text(Diagnosis(facts)).contains("held by     nobody\n"), "it has no sockets")
        facts.daemonSockets = .links
        XCTAssertTrue(DoctorReport.text(Diagnosis(facts)).contains("held by     bitgated (process 7)\n"))
        facts.radioKind = "air"
        XCTAssertTrue(DoctorReport.text(Diagnosis(facts)).contains("hci0        not bitgated's: "))
    }

    func testATorThatIsRequiredAndDoesNotListenIsAFault() throws {
        let path = folder + "/socks"
        let socket = try XCTUnwrap(LocalEndpoint(path))
        let missing = HostSurvey.tor(at: socket)
        guard case .closed = missing else { return XCTFail("\(missing)") }
        XCTAssertEqual(codes { $0.tor = missing }, ["tor-socket"])
        let listener = try UnixSocket.listen(.stream, at: path)
        XCTAssertEqual(HostSurvey.tor(at: socket), .listens)
        listener.close()
        guard case .closed = HostSurvey.tor(at: socket) else { return XCTFail("nobody listens") }
        guard case .closed = HostSurvey.tor(at: try XCTUnwrap(LocalEndpoint("127.0.0.1:1"))) else {
            return XCTFail("nobody listens")
        }
        for fine in [DoctorFacts.Tor.unneeded, .listens, .forbidden] { XCTAssertEqual(codes { $0.tor = fine }, []) }
    }

    // Root may do everything, so that what others may is computed: of modes, owner and groups.

    private func tor() throws -> (network: Configuration.Network, owner: uid_t, group: gid_t) {
        try write("x", "tor/socks")
        try write("x", "tor/control")
        try write("x", "tor/control.authcookie")
        for name in ["socks", "control"] { chmod(folder + "/tor/" + name, 0o660) }
        chmod(folder + "/tor/control.authcookie", 0o640)
        chmod(folder + "/tor", 0o750)
        chmod(folder, 0o755)
        var network = Configuration.Network()
        network.socks = try XCTUnwrap(LocalEndpoint(folder + "/tor/socks"))
        network.control = LocalEndpoint(folder + "/tor/control")
        var info = stat()
        XCTAssertEqual(stat(folder + "/tor", &info), 0)
        return (network, info.st_uid, info.st_gid)
    }

    func testWhatOfTorIsClosedToTheDaemonsUserIsToldWithItsCure() throws {
        let (network, owner, group) = try tor()
        let stranger = Credentials(user: owner + 77, groups: [group + 77])
        let member = Credentials(user: owner + 77, groups: [group + 77, group])
        let keys = ["network.socks", "network.control", "network.control_cookie"]
        func denials(_ running: Credentials?, _ started: Credentials?) -> [DoctorFacts.TorDenial] {
            HostSurvey.torDenials(network, running: running, started: started, user: "somebody")
        }
        for fine in [member, Credentials(user: owner, groups: []), Credentials(user: 0, groups: [])] {
            XCTAssertEqual(denials(fine, stranger), [], "what runs counts")
            XCTAssertEqual(denials(nil, fine), [])
        }
        XCTAssertEqual(denials(nil, nil), [])
        let joining = DoctorFacts.TorDenial.Cure.joining(group: Credentials.name(ofGroup: group))
        for (running, started, cure) in [
            (stranger, stranger, joining), (nil, stranger, joining), (stranger, nil, joining),
            (stranger, member, .restart),
        ] {
            let found = denials(running, started)
            XCTAssertEqual(found.map(\.key), keys)
            XCTAssertEqual(found.map(\.cure), [cure, cure, cure])
            XCTAssertEqual(Set(found.map(\.path)), [folder + "/tor"])
            XCTAssertEqual(
                codes { $0.torDenials = found },
                ["tor-forbidden", "tor-control-forbidden", "tor-control-forbidden"])
        }
        // A folder for its owner alone, which is what tor makes unless it is told otherwise.
        chmod(folder + "/tor", 0o700)
        XCTAssertEqual(denials(nil, member).map(\.cure), [.opening, .opening, .opening])
        chmod(folder + "/tor", 0o711)
        XCTAssertEqual(
            denials(nil, stranger).map(\.path),
            ["socks", "control", "control.authcookie"].map {
                folder + "/tor/" + $0
            })
        // The first class that fits decides, even where others may do more.
        chmod(folder + "/tor/socks", 0o606)
        XCTAssertEqual(denials(nil, member).map(\.key), ["network.socks"])
        XCTAssertEqual(denials(nil, stranger).map(\.key), Array(keys.dropFirst()))
        // What is not there, or cannot be seen, is no matter of rights.
        try FileManager.default.removeItem(atPath: folder + "/tor")
        XCTAssertEqual(denials(nil, stranger), [])
    }

    func testTheCookieIsWhereItIsSaidToBeAndPortsNeedNoRights() throws {
        var (network, owner, group) = try tor()
        let stranger = Credentials(user: owner + 77, groups: [group + 77])
        func keys() -> [String] {
            HostSurvey.torDenials(network, running: nil, started: stranger, user: "somebody").map(\.key)
        }
        try write("x", "cookie")
        chmod(folder + "/cookie", 0o600)
        network.controlCookie = folder + "/cookie"
        network.socks = try XCTUnwrap(LocalEndpoint("127.0.0.1:9050"))
        network.control = LocalEndpoint("127.0.0.1:9051")
        XCTAssertEqual(keys(), ["network.control_cookie"])
        chmod(folder + "/cookie", 0o644)
        XCTAssertEqual(keys(), [])
        network.control = nil
        chmod(folder + "/cookie", 0o600)
        XCTAssertEqual(keys(), [], "it is not read")
    }

    func testCureAndConsequenceOfADenialAreInTheReport() {
        var facts = healthy()
        facts.tor = .listens
        facts.torDenials = [
            DoctorFacts.TorDenial(
                key: "network.socks", path: "/run/tor", user: "bitgate", cure: .joining(group: "debian-tor"))
        ]
        let text = DoctorReport.text(Diagnosis(facts))
        XCTAssertTrue(
            text.hasPrefix(
                "!! network.socks: user bitgate of bitgated cannot get past /run/tor: nothing goes to "
                    + "relays.\n   Run `usermod -a -G debian-tor bitgate` and restart bitgated.\n"), text)
        XCTAssertTrue(
            DoctorReport.json(Diagnosis(facts)).contains(#""tor_denied":[{"key":"network.socks","path":"/run/tor"}]"#))
        facts.tor = .closed("gone")
        XCTAssertEqual(Diagnosis(facts).findings.map(\.code), ["tor-socket"], "first things first")
    }

    func testCredentialsAreThoseForFilesWithAllGroups() throws {
        try write("Name:\tbitgated\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nGroups:\t8 20 117 \n", "30/status")
        XCTAssertEqual(ProcessTable(root: folder).credentials(30), Credentials(user: 4, groups: [8, 20, 117]))
        try write("Name:\tbitgated\n", "31/status")
        XCTAssertNil(ProcessTable(root: folder).credentials(31))
        XCTAssertNil(ProcessTable(root: folder).credentials(32))
        let own = try XCTUnwrap(ProcessTable().credentials(getpid()))
        XCTAssertEqual(own.user, geteuid())
        XCTAssertTrue(own.groups.contains(getegid()))
        XCTAssertEqual(try XCTUnwrap(Credentials(ofUser: 0)).groups.contains(0), true)
        XCTAssertEqual(Credentials.name(ofUser: 0), "root")
        XCTAssertNil(Credentials(ofUser: 4_000_000_000))
        XCTAssertEqual(Credentials.name(ofGroup: 4_000_000_000), "4000000000")
    }

    func testAConfigurationThatMayNotBeReadIsNotTakenForNone() throws {
        func found(_ path: String?, usual: String) -> DoctorFacts.ConfigurationFile {
            var facts = DoctorFacts()
            _ = HostSurvey.configuration(path, usual: usual, &facts)
            return facts.configuration
        }
        try write("nickname = \"pub\"\n", "etc/good.toml")
        let file = folder + "/etc/good.toml"
        XCTAssertEqual(found(nil, usual: file), .good)
        XCTAssertEqual(found(nil, usual: folder + "/etc/none.toml"), .absent)
        guard case .bad = found(folder + "/etc/none.toml", usual: file) else { return XCTFail("it was named") }
        chmod(folder, 0o755)
        chmod(folder + "/etc", 0o700)
        try XCTSkipUnless(geteuid() == 0, "only root may become somebody else")
        // What decides is who one really is (access(2)).
        XCTAssertEqual(setreuid(65_534, uid_t.max), 0)
        defer { XCTAssertEqual(setreuid(0, uid_t.max), 0) }
        XCTAssertEqual(found(nil, usual: file), .hidden(file))
    }

    func testTheStateDirectoryIsJudgedWithoutTouchingIt() throws {
        let path = folder + "/state"
        XCTAssertEqual(HostSurvey.state(path, owner: geteuid()), .absent)
        XCTAssertEqual(HostSurvey.state(folder + "/none/state", owner: geteuid()), .homeless)
        mkdir(path, 0o755)
        XCTAssertEqual(HostSurvey.state(path, owner: geteuid()), .open)
        chmod(path, 0o700)
        XCTAssertEqual(HostSurvey.state(path, owner: geteuid()), .good)
        XCTAssertEqual(HostSurvey.state(path, owner: geteuid() + 1), .foreign)
        try write("", "file")
        XCTAssertEqual(HostSurvey.state(folder + "/file", owner: geteuid()), .notDirectory)
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: path), [])
    }
}
