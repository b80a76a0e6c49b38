import EventLoop
import Glibc

/// The daemon's own directory: made if absent, mode 0700, and held by one process at a time.
public final class StateDirectory {
    static let lockName = "lock"

    public let path: String
    private let lock: FileDescriptor

    /// Opens and locks the directory, making it if only its last part is missing.
    public init(_ path: String) throws(StationFault) {
        self.path = path
        if mkdir(path, 0o700) != 0, errno != EEXIST {
            throw .state(SystemError.last("mkdir", subject: path).withCure)
        }
        var info = stat()
        guard stat(path, &info) == 0 else { throw .state(SystemError.last("stat", subject: path).withCure) }
        guard info.st_mode & S_IFMT == S_IFDIR else { throw .state("\(path) is not a directory") }
        guard info.st_uid == geteuid() else {
            throw .state("\(path) belongs to another user: run as its owner, or chown it")
        }
        guard info.st_mode & 0o077 == 0 else {
            throw .state("\(path) is accessible to other users but holds keys: chmod 0700 \(path)")
        }
        lock = try StateDirectory.lock(path + "/" + StateDirectory.lockName)
    }

    /// For a process that goes on without it: from now on it is anybody's.
    func release() { lock.close() }

    /// Whether a process has it. Nothing is made where nothing is.
    static func isTaken(_ path: String) -> Bool {
        let file = FileDescriptor(owning: open(path + "/" + lockName, O_RDONLY | O_CLOEXEC | O_NOFOLLOW))
        return file.isOpen && flock(file.raw, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    static func exists(_ path: String) -> Bool {
        var info = stat()
        return stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
    }

    /// The lock lives as long as its descriptor, so that a killed process leaves no stale one. The file stays: removing
    /// it would let two processes lock two different files of the same name.
    private static func lock(_ path: String) throws(StationFault) -> FileDescriptor {
        var raw = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        // A card that has become read-only must not keep a wipe that failed on it from being told.
        if raw < 0, errno == EROFS { raw = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) }
        guard raw >= 0 else { throw .state(SystemError.last("open", subject: path).withCure) }
        let descriptor = FileDescriptor(owning: raw)
        guard flock(raw, LOCK_EX | LOCK_NB) == 0 else {
            throw errno == EWOULDBLOCK
                ? .alreadyRunning(
                    "another process uses this state (\(path) is locked): stop it, or choose another directory")
                : .state(SystemError.last("lock", subject: path).withCure)
        }
        return descriptor
    }
}
