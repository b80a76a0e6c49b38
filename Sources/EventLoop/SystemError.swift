import Glibc

/// A system call that failed: which one, on what, and the system's own text for the error number.
public struct SystemError: Error, Equatable, CustomStringConvertible {
    public let call: String
    public let code: Int32
    /// The path or address concerned; nil when the call has none.
    public let subject: String?

    public init(_ call: String, code: Int32, subject: String? = nil) {
        self.call = call
        self.code = code
        self.subject = subject
    }

    /// The error the last failing call of this thread left behind. Take it before any other call.
    public static func last(_ call: String, subject: String? = nil) -> SystemError {
        SystemError(call, code: errno, subject: subject)
    }

    public var description: String {
        let reason = SystemError.text(code)
        return subject.map { "\($0): \(call): \(reason)" } ?? "\(call): \(reason)"
    }

    /// The system's text for an error number.
    public static func text(_ code: Int32) -> String { strerror(code).map { String(cString: $0) } ?? "error \(code)" }
}
