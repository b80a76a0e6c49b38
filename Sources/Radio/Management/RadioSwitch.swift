import Glibc

/// Whether rfkill keeps a controller off.
public enum RadioBlock: String, Sendable {
    case none
    /// By software: `rfkill unblock bluetooth` lifts it.
    case soft
    /// By a switch or key on the machine.
    case hard
}

/// The kernel's radio switches, read from files. A controller's own switch carries its name; laptops have further ones
/// that take the controller off its bus.
public struct RadioSwitches {
    public static let kernelPath = "/sys/class/rfkill"
    private let path: String

    public init(path: String = RadioSwitches.kernelPath) { self.path = path }

    /// What keeps hciN off, by its own switch or, when it has none, by one that belongs to no controller.
    public func block(ofController index: UInt16) -> RadioBlock {
        let bluetooth = switches()
        if let own = bluetooth.first(where: { $0.name == "hci\(index)" }) { return own.block }
        let shared = bluetooth.filter { !$0.name.hasPrefix("hci") }.map(\.block)
        return shared.contains(.hard) ? .hard : shared.contains(.soft) ? .soft : .none
    }

    private func switches() -> [(name: String, block: RadioBlock)] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var found: [(name: String, block: RadioBlock)] = []
        for _ in 0..<ManagementLimits.switchEntries {
            guard let entry = readdir(directory) else { break }
            let folder = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard folder.hasPrefix("rfkill"), word("\(folder)/type") == "bluetooth", let name = word("\(folder)/name")
            else { continue }
            let isHard = word("\(folder)/hard") == "1"
            let isSoft = word("\(folder)/soft") == "1"
            found.append((name, isHard ? .hard : isSoft ? .soft : .none))
        }
        return found
    }

    /// The first line of a small file.
    private func word(_ file: String) -> String? {
        let descriptor = Glibc.open("\(path)/\(file)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return nil }
        return String(decoding: bytes.prefix(count).prefix { $0 != 0x0a }, as: UTF8.self)
    }
}
