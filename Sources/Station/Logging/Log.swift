import Basics
import Glibc

/// How much the log says; a level includes those above it.
public enum LogLevel: String, CaseIterable, Comparable, Sendable {
    case error, warning, info, debug

    /// The syslog priority (RFC 5424).
    var priority: Int {
        switch self {
        case .error: 3
        case .warning: 4
        case .info: 6
        case .debug: 7
        }
    }

    public static func < (a: LogLevel, b: LogLevel) -> Bool { a.priority < b.priority }
}

/// Text of a log line. Interpolation takes numbers, named states and the operator's own paths: there is no way to put
/// a peer's text, a name, an identifier, a place or a payload into a log line (chapter 06 §13).
public struct LogMessage: ExpressibleByStringInterpolation, Sendable {
    public let text: String

    public init(stringLiteral value: StaticString) { text = value.description }
    public init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

    public struct Interpolation: StringInterpolationProtocol {
        public typealias StringLiteralType = StaticString
        var text = ""

        public init(literalCapacity: Int, interpolationCount: Int) {}

        public mutating func appendLiteral(_ literal: StaticString) { text += literal.description }
        public mutating func appendInterpolation(_ number: some FixedWidthInteger) { text += "\(number)" }
        /// A case of an enumeration this program defines.
        public mutating func appendInterpolation<State: CaseIterable & RawRepresentable>(_ state: State)
        where State.RawValue == String {
            text += state.rawValue
        }
        /// A path from the command line or the configuration.
        public mutating func appendInterpolation(path: String) { text += TerminalText.escape(path) }
        /// A key of the configuration table.
        public mutating func appendInterpolation(key: String) { text += TerminalText.escape(key) }
        /// The system's words for an error number.
        public mutating func appendInterpolation(errno code: Int32) { text += String(cString: strerror(code)) }
    }
}

/// The daemon's log: lines on standard error, at most `LogLimits` of them.
public final class Log {
    public var level: LogLevel
    private let write: (String) -> Void
    private let clock: () -> Instant
    private let hasPriorityPrefix: Bool
    private var budget = TokenBucket(capacity: LogLimits.burst, perSecond: LogLimits.perSecond)
    /// Lines not written since the last one that was.
    public private(set) var suppressed: UInt64 = 0

    /// - Parameters:
    ///   - hasPriorityPrefix: begin lines with `<N>` for the journal.
    ///   - clock: bounds the rate.
    public init(
        level: LogLevel, hasPriorityPrefix: Bool = false, clock: @escaping () -> Instant,
        write: @escaping (String) -> Void
    ) {
        self.level = level
        self.hasPriorityPrefix = hasPriorityPrefix
        self.clock = clock
        self.write = write
    }

    /// Writes one line to standard error, whole or not at all.
    public static func toStandardError(_ line: String) {
        let bytes = Array(line.utf8)
        _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    public func error(_ message: LogMessage) { log(.error, message) }
    public func warning(_ message: LogMessage) { log(.warning, message) }
    public func info(_ message: LogMessage) { log(.info, message) }
    public func debug(_ message: @autoclosure () -> LogMessage) {
        if level >= .debug { log(.debug, message()) }
    }

    private func log(_ level: LogLevel, _ message: LogMessage) {
        guard level <= self.level else { return }
        guard budget.take(at: clock()) else {
            suppressed += 1
            return
        }
        if suppressed > 0 {
            emit(.warning, "\(suppressed) log lines were left out")
            suppressed = 0
        }
        emit(level, message.text)
    }

    private func emit(_ level: LogLevel, _ text: String) {
        write((hasPriorityPrefix ? "<\(level.priority)>" : "\(level.rawValue): ") + text + "\n")
    }
}

enum LogLimits {
    /// Lines written at once after a quiet time.
    static let burst = 40.0
    /// Sustained lines a second, so that no outside event can fill a disk.
    static let perSecond = 1.0
}
