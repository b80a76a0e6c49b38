import EventLoop
import Glibc
import Radio

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

    /// The same fault, said of `subject`: the setting or option the operator can change.
    public func about(_ subject: String) -> StationFault {
        let text = "\(subject): \(self)"
        return switch self {
        case .usage: .usage(text)
        case .configuration: .configuration(text)
        case .configurationMissing: .configurationMissing(text)
        case .state: .state(text)
        case .alreadyRunning: .alreadyRunning(text)
        case .system: .system(text)
        }
    }

    /// Why a radio did not start.
    /// - Parameters:
    ///   - room: The setting or option that gives the room.
    ///   - name: The one that gives the name in it.
    public static func radio(_ error: any Error, room: String, name: String) -> StationFault {
        switch error {
        case let error as VirtualAirError: .alreadyRunning("\(name): \(error): choose another name")
        case let error as SystemError: .system("\(room): \(error.withCure)")
        default: .system("\(error)")
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

extension SystemError {
    /// The error with what usually helps, for failures of the operator's own files and directories.
    var withCure: String { "\(self)" + (cure.map { ": \($0)" } ?? "") }

    private var cure: String? {
        switch code {
        case ENOENT: "make its parent directory first"
        case ENOTDIR: "a part of this path is a file"
        case EACCES, EPERM: "change its owner or mode, or run as a user who may write there"
        case EROFS: "choose a place that can be written to"
        case ENOSPC, EDQUOT: "free some space (df shows it, and df -i)"
        case ENAMETOOLONG: "choose a shorter path: a socket's has at most \(UnixSocket.longestPath) bytes in all"
        case EMFILE, ENFILE: "raise the limit of open files"
        case EIO, EUCLEAN, EBADMSG, ESTALE:
            "the file system or the disk below it is damaged: check it (fsck), or put in another card"
        default: nil
        }
    }
}

/// Exit statuses (sysexits.h).
public enum ExitStatus {
    public static let ok: Int32 = 0
    /// The doctor found something.
    public static let findings: Int32 = 1
    /// A wipe did not complete: data may remain.
    public static let wipeIncomplete: Int32 = 1
    /// Wrong command line.
    public static let usage: Int32 = 64
    /// A file named on the command line is not there.
    public static let noInput: Int32 = 66
    /// Nobody answers, or nobody is there to be talked to.
    public static let unavailable: Int32 = 69
    /// A system call failed.
    public static let systemError: Int32 = 71
    /// The state directory cannot be used.
    public static let cannotCreate: Int32 = 73
    /// What is printed cannot be written.
    public static let outputError: Int32 = 74
    /// Another process holds what is needed.
    public static let tryLater: Int32 = 75
    /// Not allowed to this user.
    public static let noPermission: Int32 = 77
    /// The answer was not understood.
    public static let protocolError: Int32 = 76
    public static let configuration: Int32 = 78
}
