/// Whether a process's memory can reach a disk unencrypted. Its service forbids swapping, which a kernel without the
/// memory controller, such as Raspberry Pi OS starts, does not heed.
struct SwapSurvey {
    private let root: String

    init(root: String = "") { self.root = root }

    private enum Limits {
        static let fileBytes = 65_536
    }

    func places(of pid: Int32) -> [String] { isSpared(pid) ? [] : inUse.filter { !isHarmless($0) } }

    private var inUse: [String] {
        (SystemFiles.text(root + "/proc/swaps", atMost: Limits.fileBytes) ?? "").split(separator: "\n").dropFirst()
            .compactMap { $0.split { $0 == " " || $0 == "\t" }.first.map(String.init) }
    }

    /// By its control group of version 2.
    private func isSpared(_ pid: Int32) -> Bool {
        let groups = SystemFiles.text("\(root)/proc/\(pid)/cgroup", atMost: Limits.fileBytes) ?? ""
        guard let line = groups.split(separator: "\n").first(where: { $0.hasPrefix("0::") }) else { return false }
        return SystemFiles.line("\(root)/sys/fs/cgroup\(line.dropFirst(3))/memory.swap.max") == "0"
    }

    /// In memory and with no disk behind, or encrypted.
    private func isHarmless(_ device: String) -> Bool {
        let name = device.split(separator: "/").last ?? ""
        let block = "\(root)/sys/block/\(name)"
        if name.hasPrefix("zram") { return ["none", nil].contains(SystemFiles.line(block + "/backing_dev")) }
        return SystemFiles.line(block + "/dm/uuid")?.hasPrefix("CRYPT-") ?? false
    }
}
