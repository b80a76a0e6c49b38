import Basics
import CPanelLines
import EventLoop
import Glibc

/// One GPIO line of this process, taken from the kernel. Nobody else can take it meanwhile.
public final class GPIOLine {
    public struct Options: OptionSet, Sendable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// The line is active when its voltage is low.
        public static let activeLow = Options(rawValue: 1 << 2)
        public static let pullUp = Options(rawValue: 1 << 3)
        public static let pullDown = Options(rawValue: 1 << 4)
    }

    public enum Direction: UInt32, Sendable {
        /// Starts inactive.
        case output = 1
        /// Both edges are reported through the descriptor.
        case input = 2
    }

    private let line: OpaquePointer

    /// Looks the line up among the chips and takes it.
    /// - Throws: what is missing, not allowed or taken, in words.
    public init(
        _ address: LineAddress, _ direction: Direction, _ options: Options, chips: GPIOChips = GPIOChips()
    ) throws(GPIOProblem) {
        let (path, offset) = try chips.find(address)
        guard let line = panel_line_open(path, offset, direction.rawValue | options.rawValue, "bitgate") else {
            throw GPIOProblem(line: address, path: path, error: errno)
        }
        self.line = line
    }

    deinit { panel_line_close(line) }

    /// Whether it is active; nil when it cannot be read, as when its chip is gone.
    public var isActive: Bool? {
        let value = panel_line_get(line)
        return value < 0 ? nil : value == 1
    }

    /// - Returns: false when the line is gone.
    public func set(_ isActive: Bool) -> Bool { panel_line_set(line, isActive ? 1 : 0) == 0 }

    /// Readable when an edge was seen.
    public var descriptor: Int32 { panel_line_fd(line) }

    /// Takes the edges seen so far; nil when the line is gone.
    public func takeEdges() -> [LineEdge]? {
        var edges: [LineEdge] = []
        while edges.count < PanelLimits.edgesAtATime {
            var level: Int32 = 0
            var at: Int64 = 0
            switch panel_line_next_edge(line, &level, &at) {
            case 1: edges.append(LineEdge(isActive: level == 1, at: Instant(nanoseconds: at)))
            case 0: return edges
            default: return nil
            }
        }
        return edges
    }
}

/// Why a line cannot be had, with what to do about it.
public enum GPIOProblem: Error, Equatable, CustomStringConvertible {
    case noSuchLine(LineAddress, chips: [String])
    case notPermitted(LineAddress, path: String)
    case taken(LineAddress)
    case failed(LineAddress, String)

    init(line: LineAddress, path: String, error: Int32) {
        switch error {
        case EACCES, EPERM: self = .notPermitted(line, path: path)
        case EBUSY: self = .taken(line)
        default: self = .failed(line, SystemError.text(error))
        }
    }

    public var description: String {
        switch self {
        case .noSuchLine(let line, let chips):
            chips.isEmpty
                ? "\(line): this machine shows no GPIO chip"
                : "\(line): no such line; chips here: \(chips.joined(separator: ", "))"
        case .notPermitted(let line, let path):
            "\(line): \(path) may not be opened; add the user to the group gpio, or install the udev rule"
        case .taken(let line): "\(line): another program or driver holds it"
        case .failed(let line, let text): "\(line): \(text)"
        }
    }
}
