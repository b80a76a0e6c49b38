import Glibc

/// Why a program of this package cannot start or go on, in words for the operator and with a status for the supervisor.
public enum StationFault: Error, Equatable, CustomStringConvertible {
    case usage(String)
    case configuration(String)
    case configurationMissing(String)
    /// The state directory or what is in it cannot be used as it is.
    case state(String)
    case alreadyRunning(String)
    case system(String)

    public var description: String {
        switch self {
        case .usage(let text), .configuration(let text), .configurationMissing(let text), .state(let text),
            .alreadyRunning(let text), .system(let text):
            text
        }
    }

    /// One of sysexits.h.
    public var exitStatus: Int32 {
        switch self {
        case .usage: ExitStatus.usage
        case .configuration: ExitStatus.configuration
        case .configurationMissing: ExitStatus.noInput
        case .state: ExitStatus.cannotCreate
        case .alreadyRunning: ExitStatus.tryLater
        case .system: ExitStatus.systemError
        }
    }
}

/// Exit statuses (sysexits.h).
public enum ExitStatus {
    public static let ok: Int32 = 0
    /// Wrong command line.
    public static let usage: Int32 = 64
    /// A file named on the command line is not there.
    public static let noInput: Int32 = 66
    /// Nobody answers.
    public static let unavailable: Int32 = 69
    /// A system call failed.
    public static let systemError: Int32 = 71
    /// The state directory cannot be used.
    public static let cannotCreate: Int32 = 73
    /// Another process holds what is needed.
    public static let tryLater: Int32 = 75
    /// Not allowed to this user.
    public static let noPermission: Int32 = 77
    /// The answer was not understood.
    public static let protocolError: Int32 = 76
    public static let configuration: Int32 = 78
}
