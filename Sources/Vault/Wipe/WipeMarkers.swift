import Basics
import EventLoop
import Glibc

/// Why everything is destroyed.
public enum WipeCause: String, CaseIterable, Sendable {
    /// Somebody asked for it.
    case panic
    /// The state woke up in another machine than the one it belongs to (chapter 06 §12).
    case moved
}

/// The intent to wipe, written in two places, so that power loss at any moment leads to completion at the next start
/// (chapter 06 §11.5 B).
public struct WipeMarkers: Sendable {
    public static let stateName = "wiping"
    private static let longest = 64

    private let statePath: String
    /// The second place serves several boxes of one machine, so the name tells them apart.
    private let secondPath: String
    private let passingPath: String?
    private var otherPaths: [String] { [secondPath] + (passingPath.map { [$0] } ?? []) }

    /// - Parameters:
    ///   - state: the state directory.
    ///   - second: a directory on another file system where there is one. It need not be writable.
    ///   - passing: one in memory, so that even with everything read-only no new process goes on the air before the
    ///     power was cut.
    public init(state: String, second: String, passing: String? = nil) {
        statePath = state + "/" + WipeMarkers.stateName
        let name = "/bitgate-wiping-" + Hex.encode(SHA256.hash(Array(state.utf8)).prefix(4))
        secondPath = second + name
        passingPath = passing.map { $0 + name }
    }

    /// The wipe that was begun and not completed; nil when there is none. A marker that cannot be read counts: whoever
    /// cannot tell must not go on the air. Only where the second place is forbidden to us can no marker of ours be.
    /// Where the two differ, the wipe that spares less counts.
    public var pending: WipeCause? {
        let causes = ([statePath] + otherPaths).compactMap { WipeMarkers.read($0) }
        return causes.contains(.panic) ? .panic : causes.first
    }

    /// Whether one stands that outlasts the power. Here one that cannot be read does not count: who cannot tell has to
    /// see to it that the wipe is noted.
    public var isLasting: Bool {
        [statePath, secondPath].contains { (try? PrivateFile.read($0, limit: WipeMarkers.longest)) != nil }
    }

    /// Whether none of ours can be there.
    private static func isAbsent(_ path: String) -> Bool {
        var info = stat()
        return lstat(path, &info) != 0 && [ENOENT, ENOTDIR, EACCES].contains(errno)
    }

    private static func read(_ path: String) -> WipeCause? {
        if isAbsent(path) { return nil }
        guard let bytes = try? PrivateFile.read(path, limit: longest) else { return .panic }
        return WipeCause(rawValue: String(decoding: bytes, as: UTF8.self)) ?? .panic
    }

    func write(_ cause: WipeCause, inState: Bool) throws(SystemError) {
        var problem: SystemError?
        for path in inState ? [statePath] : otherPaths {
            do throws(SystemError) {
                try PrivateFile.replace(path, Array(cause.rawValue.utf8))
            } catch {
                // A full disk still takes a name, and one without a cause is a panic's.
                if cause == .panic, error.code == ENOSPC || error.code == EDQUOT, WipeMarkers.leaveEmpty(path) {
                    continue
                }
                problem = error
            }
        }
        if let problem { throw problem }
    }

    /// Removes the marker, or those of the other places, and looks whether it is gone.
    func remove(inState: Bool) throws(SystemError) {
        var problem: SystemError?
        for path in inState ? [statePath] : otherPaths {
            do throws(SystemError) { try WipeMarkers.remove(path) } catch { problem = error }
        }
        if let problem { throw problem }
    }

    private static func remove(_ path: String) throws(SystemError) {
        guard unlink(path) == 0 else {
            let error = SystemError.last("unlink", subject: path)
            // A file system that cannot be written refuses before it looks whether there is anything.
            guard isAbsent(path) else { throw error }
            return
        }
        try PrivateFile.syncDirectory(PrivateFile.parent(of: path))
        guard isAbsent(path) else { throw SystemError("unlink", code: EEXIST, subject: path) }
    }

    private static func leaveEmpty(_ path: String) -> Bool {
        let file = FileDescriptor(owning: open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600))
        guard file.isOpen, fsync(file.raw) == 0 else { return false }
        return (try? PrivateFile.syncDirectory(PrivateFile.parent(of: path))) != nil
    }
}
