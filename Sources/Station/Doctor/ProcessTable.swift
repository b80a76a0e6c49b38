import Glibc
import Radio

/// Who runs on this machine and has Bluetooth sockets, from /proc.
struct ProcessTable {
    private let root: String

    init(root: String = "/proc") { self.root = root }

    private enum Limits {
        static let processes = 65_536
        static let descriptors = 4_096
        static let fileBytes = 1 << 20
    }

    struct Survey {
        var holders: [DoctorFacts.Holder] = []
        var seesAll = true
        var daemon: DoctorFacts.Process?
        var daemonSockets: DoctorFacts.Sockets = []
    }

    /// What the system's Bluetooth daemon is called; it takes every adapter.
    static let bluetoothDaemon = "bluetoothd"

    /// Who answers, or may answer, phones in this process's place, as far as it may see: where others' processes are
    /// hidden from it, nobody.
    /// - Parameter isProven: whether somebody does, so that any with a Bluetooth link will be who.
    func rival(isProven: Bool, ownPID: Int32 = getpid()) -> ChannelRival? {
        let holders = survey(ownPID: ownPID, daemon: nil).holders
        let daemon = holders.first { $0.name == ProcessTable.bluetoothDaemon }
        let holder = daemon ?? (isProven ? holders.first { $0.sockets.contains(.links) } : nil)
        return holder.map { ChannelRival(name: $0.name, pid: $0.pid) }
    }

    /// Whether it still is.
    func isRunning(_ rival: ChannelRival) -> Bool { SystemFiles.line("\(root)/\(rival.pid)/comm") == rival.name }

    private var numbers: [Int32] {
        SystemFiles.names(in: root, atMost: Limits.processes).compactMap { Int32($0) }.sorted()
    }

    func processes(named name: String) -> [Int32] {
        numbers.filter { SystemFiles.line("\(root)/\($0)/comm") == name }
    }

    /// - Parameter daemon: the process the configuration is about; another one of the same name is like any other.
    func survey(ownPID: Int32, daemon: Int32?) -> Survey {
        let links = socketNumbers("l2cap")
        let controllers = socketNumbers("hci")
        var survey = Survey()
        for pid in numbers where pid != ownPID {
            guard let name = SystemFiles.line("\(root)/\(pid)/comm") else { continue }
            var sockets: DoctorFacts.Sockets = []
            let folder = "\(root)/\(pid)/fd"
            if access(folder, R_OK | X_OK) == 0 {
                for descriptor in SystemFiles.names(in: folder, atMost: Limits.descriptors) {
                    guard let number = socketNumber("\(folder)/\(descriptor)") else { continue }
                    if links.contains(number) { sockets.insert(.links) }
                    if controllers.contains(number) { sockets.insert(.controllers) }
                }
            } else if errno == EACCES {
                survey.seesAll = false
            }
            if pid == daemon {
                survey.daemon = process(pid)
                survey.daemonSockets = sockets
                continue
            }
            guard !sockets.isEmpty || name == ProcessTable.bluetoothDaemon else { continue }
            survey.holders.append(
                DoctorFacts.Holder(name: name, pid: pid, sockets: sockets, started: started(pid)))
        }
        return survey
    }

    func process(_ pid: Int32) -> DoctorFacts.Process {
        var process = DoctorFacts.Process()
        process.pid = pid
        process.started = started(pid)
        for line in lines("\(root)/\(pid)/status") where line.hasPrefix("CapEff:") {
            let digits = line.dropFirst(7).drop { $0 == "\t" || $0 == " " }
            process.capabilities = DoctorFacts.Capabilities(rawValue: UInt64(digits, radix: 16) ?? 0)
        }
        for line in lines("\(root)/\(pid)/limits") where line.hasPrefix("Max locked memory") {
            let soft = line.dropFirst("Max locked memory".count).split(separator: " ").first ?? ""
            process.lockableMemory = soft == "unlimited" ? .max : UInt64(soft) ?? 0
        }
        return process
    }

    func credentials(_ pid: Int32) -> Credentials? {
        var user: uid_t?
        var groups: Set<gid_t> = []
        for line in lines("\(root)/\(pid)/status") {
            let words = line.split { $0 == "\t" || $0 == " " }
            switch words.first {
            // Real, effective, saved, and the one for files.
            case "Uid:" where words.count == 5: user = uid_t(words[4])
            case "Gid:" where words.count == 5: groups.formUnion(gid_t(words[4]).map { [$0] } ?? [])
            case "Groups:": groups.formUnion(words.dropFirst().compactMap { gid_t($0) })
            default: break
            }
        }
        return user.map { Credentials(user: $0, groups: groups) }
    }

    /// Inode numbers of all sockets of a Bluetooth protocol: the column that the table's head calls Inode.
    private func socketNumbers(_ protocolName: String) -> Set<UInt64> {
        let table = lines("\(root)/net/\(protocolName)")
        guard let column = table.first?.split(separator: " ").firstIndex(of: "Inode") else { return [] }
        return Set(
            table.dropFirst().compactMap { line in
                let words = line.split(separator: " ")
                return words.indices.contains(column) ? UInt64(words[column]) : nil
            })
    }

    private func socketNumber(_ path: String) -> UInt64? {
        var target = [CChar](repeating: 0, count: 64)
        let count = readlink(path, &target, target.count)
        guard count > 0 else { return nil }
        let text = String(decoding: target.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard text.hasPrefix("socket:["), text.hasSuffix("]") else { return nil }
        return UInt64(text.dropFirst(8).dropLast())
    }

    /// The 22nd field of /proc/PID/stat; the second, the name, may hold anything up to the last parenthesis.
    private func started(_ pid: Int32) -> UInt64 {
        guard let line = SystemFiles.line("\(root)/\(pid)/stat"), let end = line.lastIndex(of: ")") else { return 0 }
        let words = line[line.index(after: end)...].split(separator: " ")
        return words.count > 19 ? UInt64(words[19]) ?? 0 : 0
    }

    private func lines(_ path: String) -> [Substring] {
        (SystemFiles.text(path, atMost: Limits.fileBytes) ?? "").split(separator: "\n")
    }
}

/// Small files and folders of the kernel, which may vanish at any time.
enum SystemFiles {
    static func text(_ path: String, atMost limit: Int) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4_096)
        while bytes.count < limit {
            let count = read(descriptor, &part, part.count)
            guard count > 0 else { break }
            bytes += part.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func line(_ path: String) -> String? {
        text(path, atMost: 4_096)?.split(separator: "\n", maxSplits: 1).first.map(String.init)
    }

    static func names(in path: String, atMost limit: Int) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while names.count < limit, let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
