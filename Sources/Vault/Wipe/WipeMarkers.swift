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

    /// Whether one stands that outlasts the power.
    public var isLasting: Bool { [statePath, secondPath].contains { WipeMarkers.read($0) != nil } }

    private static func read(_ path: String) -> WipeCause? {
        var info = stat()
        if lstat(path, &info) != 0 {
            return [ENOENT, ENOTDIR, EACCES].contains(errno) ? nil : .panic
        }
        guard let bytes = try? PrivateFile.read(path, limit: longest) else { return .panic }
        return WipeCause(rawValue: String(decoding: bytes, as: UTF8.self)) ?? .panic
    }

    func write(_ cause: WipeCause, inState: Bool) throws(SystemError) {
        var problem: SystemError?
        for path in inState ? [statePath] : otherPaths {
            do throws(SystemError) {
                try PrivateFile.replace(path, Array(cause.rawValue.utf8))
            } catch {
                problem = error
            }
        }
        if let problem { throw problem }
    }

    /// Removes the marker, or those of the other places, and looks whether it is gone.
    func remove(inState: Bool) throws(SystemError) {
        for path in inState ? [statePath] : otherPaths { try WipeMarkers.remove(path) }
    }

    private static func remove(_ path: String) throws(SystemError) {
        guard unlink(path) == 0 else {
            if [ENOENT, ENOTDIR, EACCES].contains(errno), WipeMarkers.read(path) == nil { return }
            throw .last("unlink", subject: path)
        }
        try PrivateFile.syncDirectory(PrivateFile.parent(of: path))
        guard WipeMarkers.read(path) == nil else { throw SystemError("unlink", code: EEXIST, subject: path) }
    }
}
