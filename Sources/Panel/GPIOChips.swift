import CPanelLines
import EventLoop
import Glibc

/// The GPIO chips of this machine, found by looking: their numbers have gaps and mean nothing.
public struct GPIOChips {
    /// The library through which lines are taken, such as `libgpiod 2.2.1`.
    public static var library: String { "libgpiod " + String(cString: panel_library_version()) }

    private let folder: String

    public init(folder: String = "/dev") { self.folder = folder }

    /// Paths of the chips, by number.
    var paths: [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var numbers: [Int] = []
        while let entry = readdir(directory), numbers.count < PanelLimits.chips {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasPrefix("gpiochip"), let number = Int(name.dropFirst("gpiochip".count)) { numbers.append(number) }
        }
        return numbers.sorted().map { "\(folder)/gpiochip\($0)" }
    }

    /// Where a line is. A chip that may not be opened yet counts as the reason when nothing else has the line.
    public func find(_ address: LineAddress) throws(GPIOProblem) -> (path: String, offset: UInt32) {
        var labels: [String] = []
        var closed: String?
        for path in paths {
            guard let chip = describe(path) else {
                if errno == EACCES || errno == EPERM { closed = path }
                continue
            }
            labels.append(chip.label)
            switch address.place {
            case .named(let name):
                let offset = panel_chip_find_line(path, name)
                if offset >= 0 { return (path, UInt32(offset)) }
            case .offset(let offset, let label):
                if chip.label == label, offset < chip.lines { return (path, offset) }
            }
        }
        if let closed { throw .notPermitted(address, path: closed) }
        throw .noSuchLine(address, chips: labels)
    }

    private func describe(_ path: String) -> (label: String, lines: UInt32)? {
        var label = [CChar](repeating: 0, count: 64)
        var lines: UInt32 = 0
        guard panel_chip_describe(path, &label, label.count, &lines) == 0 else { return nil }
        return (label.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } } ?? "", lines)
    }
}
