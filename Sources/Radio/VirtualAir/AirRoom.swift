import EventLoop
import Glibc

/// The directory a virtual air lives in: our socket file, the others' socket files and the range file.
final class AirRoom {
    private let path: String
    private let name: AirName
    /// Device and inode of a file: tells our socket file from one that has taken its place.
    private struct FileIdentity: Hashable {
        let device: UInt
        let inode: UInt
    }
    private struct FileVersion: Equatable {
        let identity: FileIdentity
        let size: Int
        let seconds: Int
        let nanoseconds: Int
    }

    private var published: FileIdentity?
    private var rangeVersion: FileVersion?
    private(set) var range: RangeTable?
    /// What is wrong with the range file, for the operator; nil when it is absent or sound.
    private(set) var rangeProblem: String?
    /// Files refused once, waiting for the refusal that proves them stale: a node may be between bind and listen.
    private var refused: [AirName: FileIdentity] = [:]

    init(path: String, name: AirName) {
        self.path = path
        self.name = name
    }

    // MARK: Our socket

    /// Listens under our name, making the directory if need be.
    func publish() throws -> FileDescriptor {
        if mkdir(path, 0o770) != 0, errno != EEXIST { throw SystemError.last("mkdir", subject: path) }
        // The file appears under its own name only once it listens, so that nobody finds it dead.
        let hidden = path + "/.\(name).\(getpid())"
        unlink(hidden)
        let socket: FileDescriptor
        do {
            socket = try UnixSocket.listen(.messages, at: hidden)
        } catch {
            throw SystemError(error.call, code: error.code, subject: path)
        }
        defer { unlink(hidden) }
        if Glibc.link(hidden, file(name)) != 0 {
            guard errno == EEXIST else { throw SystemError.last("link", subject: file(name)) }
            guard case .failure(let error) = connect(to: name), error.code == ECONNREFUSED else {
                throw VirtualAirError.nameTaken(name)
            }
            unlink(file(name))
            guard Glibc.link(hidden, file(name)) == 0 else { throw SystemError.last("link", subject: file(name)) }
        }
        published = identity(of: file(name))
        return socket
    }

    /// Somebody else has removed our socket file, so nobody can find us any more.
    var isOwnFileMissing: Bool { published != nil && identity(of: file(name)) == nil }

    /// Leaves the room. A file that is no longer ours stays.
    func withdraw() {
        if let published, identity(of: file(name)) == published { unlink(file(name)) }
        published = nil
    }

    // MARK: The others

    /// The other nodes' names, sorted.
    func neighbours() -> [AirName] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [AirName] = []
        for _ in 0..<RadioLimits.roomEntries {
            guard let entry = readdir(directory) else { break }
            let fileName = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let found = AirName(fileName: fileName), found != name { names.append(found) }
        }
        return names.sorted()
    }

    func connect(to neighbour: AirName) -> Result<FileDescriptor, SystemError> {
        do { return .success(try UnixSocket.connect(.messages, to: file(neighbour))) } catch { return .failure(error) }
    }

    /// Takes note of a failed connection. The second time nobody answers on the same file it is removed as stale.
    /// - Returns: whether it was removed.
    func noteFailure(_ neighbour: AirName, _ error: SystemError) -> Bool {
        guard error.code == ECONNREFUSED, let current = identity(of: file(neighbour)) else { return false }
        guard refused[neighbour] == current else {
            if refused.count >= RadioLimits.candidates { refused.removeAll() }
            refused[neighbour] = current
            return false
        }
        refused[neighbour] = nil
        return unlink(file(neighbour)) == 0
    }

    // MARK: Range

    func isInRange(_ neighbour: AirName) -> Bool { range?.hears(name, neighbour) ?? true }

    /// Reads the range file if it changed. An unreadable or oversized file leaves the last good one in force.
    /// - Returns: whether the range may have changed.
    func refreshRange() -> Bool {
        var status = stat()
        guard stat(path + "/range", &status) == 0 else {
            let had = range != nil
            (range, rangeVersion, rangeProblem) = (nil, nil, nil)
            return had
        }
        let version = FileVersion(
            identity: FileIdentity(device: UInt(status.st_dev), inode: UInt(status.st_ino)), size: Int(status.st_size),
            seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
        guard version != rangeVersion else { return false }
        rangeVersion = version
        guard let text = contents(of: path + "/range", limit: RadioLimits.rangeFileBytes) else {
            rangeProblem = "cannot be read, or is larger than \(RadioLimits.rangeFileBytes) bytes"
            return false
        }
        let table = RangeTable(parsing: text)
        range = table
        rangeProblem = table.problem
        return true
    }

    private func contents(of path: String, limit: Int) -> [UInt8]? {
        let descriptor = FileDescriptor(owning: open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK))
        guard descriptor.isOpen else { return nil }
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var count = 0
        while count < bytes.count {
            let transfer = bytes.withUnsafeMutableBytes {
                descriptor.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[count...]))
            }
            switch transfer {
            case .bytes(let more): count += more
            case .end: return Array(bytes[..<count])
            case .wouldBlock, .failed: return nil
            }
        }
        return nil
    }

    private func file(_ name: AirName) -> String { path + "/" + name.fileName }

    private func identity(of path: String) -> FileIdentity? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        return FileIdentity(device: UInt(status.st_dev), inode: UInt(status.st_ino))
    }
}

/// Why a virtual air cannot start.
public enum VirtualAirError: Error, Equatable, CustomStringConvertible {
    /// Another node answers under this name in the room.
    case nameTaken(AirName)

    public var description: String {
        switch self {
        case .nameTaken(let name): "another node in the room already answers as \(name)"
        }
    }
}
