import Basics
import Crypto
import EventLoop
import Glibc

/// The steps of a wipe that concern files, and a place for the rest to be hung in.
public final class StateWipe: WipeWorker {
    /// Files that hold keys unsealed, relative to the state directory: overwritten before they are removed.
    public static let keyFiles = [MasterKey.fileName]

    public let markers: WipeMarkers
    public let cause: WipeCause
    /// Whether something that outlasts the power tells of this wipe: an earlier marker, one this wipe has written to
    /// the end, or what the caller has seen to.
    public private(set) var isNoted: Bool
    private let directory: String
    private let keyFiles: [String]
    private let kept: Set<String>
    private let forgetKeys: () -> Void
    private let others: [WipeStep: (StateWipe) throws -> Void]

    /// - Parameters:
    ///   - keyFiles: more files with unsealed keys, relative to the directory.
    ///   - kept: names in the directory that stay, beside the marker: they say nothing about anybody.
    ///   - forgetKeys: overwrites every secret of the process, of which nobody may use one afterwards.
    ///   - others: what the caller does in a step, after what is done here, and whatever became of that.
    public init(
        _ cause: WipeCause, of directory: String, markers: WipeMarkers, keyFiles: [String] = [],
        keeping kept: Set<String>, forgetKeys: @escaping () -> Void = SecretMemory.scrub,
        others: [WipeStep: (StateWipe) throws -> Void] = [:]
    ) {
        self.cause = cause
        self.directory = directory
        self.markers = markers
        isNoted = markers.isLasting
        self.keyFiles = StateWipe.keyFiles + keyFiles
        self.kept = kept.union([WipeMarkers.stateName])
        self.forgetKeys = forgetKeys
        self.others = others
    }

    /// The caller has a note of its own.
    public func noteStands() { isNoted = true }

    public func perform(_ step: WipeStep) -> String? {
        let own = problem { try ownPart(of: step) }
        let other = problem { try others[step]?(self) }
        return own ?? other
    }

    private func problem(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return "\(error)"
        }
    }

    private func ownPart(of step: WipeStep) throws {
        switch step {
        case .markState: try mark(inState: true)
        case .markConfiguration: try mark(inState: false)
        case .destroyKey: try destroyKeys()
        case .forgetKeys: forgetKeys()
        case .deleteStores: try deleteStores()
        case .unmarkState: try markers.remove(inState: true)
        case .unmarkConfiguration: try markers.remove(inState: false)
        case .block, .silence, .clearMemory, .removeTraces, .createIdentity: break
        }
    }

    private func mark(inState: Bool) throws {
        try markers.write(cause, inState: inState)
        isNoted = true
    }

    /// Every key file is tried, whatever becomes of the one before.
    private func destroyKeys() throws {
        var problem: SystemError?
        for name in keyFiles {
            for path in [name, name + ".new"] {
                do throws(SystemError) {
                    try PrivateFile.destroy(directory + "/" + path)
                } catch {
                    // A directory that is not there holds no key.
                    if error.code != ENOTDIR { problem = error }
                }
            }
        }
        if let problem { throw problem }
    }

    /// Removes all there is, known or not: no store can be forgotten here.
    private func deleteStores() throws {
        var left: [String] = []
        remove(directory, isTop: true, depth: 0, left: &left)
        // What was removed may have made the room that a marker lacked, or been in its way.
        if !isNoted { try? mark(inState: true) }
        try PrivateFile.syncDirectory(directory)
        for name in entries(of: directory) ?? ["?"] where isToGo(name, in: directory) {
            left.append(name)
        }
        if let first = left.first { throw SystemError("unlink", code: EEXIST, subject: directory + "/" + first) }
    }

    private func isToGo(_ name: String, in folder: String) -> Bool {
        guard !kept.contains(name) else { return false }
        // A socket is no store: it holds nothing, and one may be answered right now.
        var info = stat()
        return lstat(folder + "/" + name, &info) != 0 || info.st_mode & S_IFMT != S_IFSOCK
    }

    private func remove(_ folder: String, isTop: Bool, depth: Int, left: inout [String]) {
        for name in entries(of: folder) ?? [] where !isTop || isToGo(name, in: folder) {
            let path = folder + "/" + name
            if unlink(path) == 0 || errno == ENOENT { continue }
            if errno == EISDIR || errno == EPERM, depth < 8 {
                remove(path, isTop: false, depth: depth + 1, left: &left)
                if rmdir(path) == 0 { continue }
            }
            left.append(name)
        }
    }

    private func entries(of folder: String) -> [String]? {
        guard let stream = opendir(folder) else { return nil }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
