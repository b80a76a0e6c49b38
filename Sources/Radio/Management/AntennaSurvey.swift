import Glibc

/// Whether a controller and the Wi-Fi that leads out of the machine are one chip with one antenna, as on a Raspberry
/// Pi: there the radio hangs on a serial port, and its Wi-Fi on the bus of memory cards. Continuous scanning keeps such
/// a Wi-Fi from its access point.
public struct AntennaSurvey {
    private let root: String

    /// - Parameter root: before `/sys` and `/proc`; empty but in tests.
    public init(root: String = "") { self.root = root }

    public func isShared(ofController index: UInt16) -> Bool {
        let controller = components("/sys/class/bluetooth/hci\(index)")
        guard controller.contains(where: { $0.hasSuffix(".serial") || $0.hasPrefix("serial") || $0 == "tty" }) else {
            return false
        }
        return uplinks().contains { isOnCardBus($0) }
    }

    private func isOnCardBus(_ interface: String) -> Bool {
        access("\(root)/sys/class/net/\(interface)/phy80211", F_OK) == 0
            && components("/sys/class/net/\(interface)").contains { $0.hasPrefix("mmc") }
    }

    /// The interfaces of the default routes with the smallest metric.
    private func uplinks() -> [String] {
        var routes: [(interface: String, metric: Int)] = []
        for line in lines("/proc/net/route").dropFirst() {
            // Interface, destination, gateway, flags, references, use, metric, mask.
            let fields = line.split(whereSeparator: { $0 == "\t" || $0 == " " }).map(String.init)
            guard fields.count > 7, fields[1] == "00000000", fields[7] == "00000000", !fields[0].contains("/") else {
                continue
            }
            routes.append((fields[0], Int(fields[6]) ?? 0))
        }
        let least = routes.map(\.metric).min()
        return routes.filter { $0.metric == least }.map(\.interface)
    }

    /// Of the folder a link leads to.
    private func components(_ link: String) -> [String] {
        guard let resolved = realpath(root + link, nil) else { return [] }
        defer { free(resolved) }
        return String(cString: resolved).split(separator: "/").map(String.init)
    }

    private func lines(_ file: String) -> [String] {
        let descriptor = Glibc.open(root + file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: ManagementLimits.routeBytes)
        let count = read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return [] }
        return String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
