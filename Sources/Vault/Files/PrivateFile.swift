import EventLoop
import Glibc

/// Small files only their owner may read, written so that a power cut leaves the old content or the new one.
public enum PrivateFile {
    public enum ReadProblem: Error, Equatable, CustomStringConvertible {
        case absent
        case unreadable(String)

        public var description: String {
            switch self {
            case .absent: "there is no such file"
            case .unreadable(let why): why
            }
        }
    }

    /// The bytes of a regular file of at most `limit` bytes that nobody but its owner may touch.
    public static func read(_ path: String, limit: Int) throws(ReadProblem) -> [UInt8] {
        let raw = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard raw >= 0 else {
            if errno == ENOENT { throw .absent }
            throw .unreadable(SystemError.last("open", subject: path).description)
        }
        let file = FileDescriptor(owning: raw)
        var info = stat()
        guard fstat(raw, &info) == 0 else { throw .unreadable(SystemError.last("stat", subject: path).description) }
        guard info.st_mode & S_IFMT == S_IFREG else { throw .unreadable("\(path) is not a regular file") }
        guard info.st_mode & 0o077 == 0 else {
            throw .unreadable("\(path) is open to other users: chmod 0600 \(path) if you are sure nobody read it")
        }
        return try readAll(file, path: path, limit: limit)
    }

    /// All bytes of an open file, which must be at most `limit`.
    public static func readAll(_ file: FileDescriptor, path: String, limit: Int) throws(ReadProblem) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var filled = 0
        while filled < bytes.count {
            let result = bytes.withUnsafeMutableBytes {
                file.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[filled...]))
            }
            switch result {
            case .bytes(let count): filled += count
            case .end:
                bytes.removeLast(bytes.count - filled)
                return bytes
            case .wouldBlock: throw .unreadable("\(path): read: would block")
            case .failed(let error): throw .unreadable("\(path): \(error)")
            }
        }
        throw .unreadable("\(path) is larger than \(limit) bytes")
    }

    /// Writes a new file, mode 0600, and waits until it is on the disk. An existing one is not touched.
    public static func create(_ path: String, _ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        let raw = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard raw >= 0 else { throw .last("open", subject: path) }
        let file = FileDescriptor(owning: raw)
        guard fchmod(raw, 0o600) == 0 else { throw .last("chmod", subject: path) }
        var rest = bytes
        while !rest.isEmpty {
            switch file.write(rest) {
            case .bytes(let count): rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            case .end, .wouldBlock: throw SystemError("write", code: ENOSPC, subject: path)
            case .failed(let error): throw SystemError("write", code: error.code, subject: path)
            }
        }
        guard fsync(raw) == 0 else { throw .last("fsync", subject: path) }
    }

    /// Waits until the names in a directory are on the disk.
    public static func syncDirectory(_ path: String) throws(SystemError) {
        let raw = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard raw >= 0 else { throw .last("open", subject: path) }
        let directory = FileDescriptor(owning: raw)
        guard fsync(directory.raw) == 0 else { throw .last("fsync", subject: path) }
    }

    /// Puts new content in the place of a file's, or makes the file: after a power cut there is the old content or the
    /// new one, whole.
    public static func replace(_ path: String, _ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        let fresh = path + ".new"
        guard unlink(fresh) == 0 || errno == ENOENT else { throw .last("unlink", subject: fresh) }
        try create(fresh, bytes)
        guard rename(fresh, path) == 0 else { throw .last("rename", subject: path) }
        try syncDirectory(parent(of: path))
    }

    public static func replace(_ path: String, _ bytes: [UInt8]) throws(SystemError) {
        try bytes.withUnsafeBytes { bytes in
            Result { () throws(SystemError) in try replace(path, bytes) }
        }.get()
    }

    /// Overwrites a file's content where it lies, then removes the file and waits until both are on the disk. An absent
    /// one is as good.
    ///
    /// Flash may keep the old content in a cell it no longer shows. So nothing but keys is worth this, and a key's
    /// safety rests on its file being one block that the file system rewrites in place.
    public static func destroy(_ path: String) throws(SystemError) {
        let how = O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        var raw = open(path, how)
        // One that its owner may only read, as keys are often put back; it is no link, or the error were another.
        if raw < 0, errno == EACCES, chmod(path, 0o600) == 0 { raw = open(path, how) }
        if raw >= 0 {
            let file = FileDescriptor(owning: raw)
            var info = stat()
            guard fstat(raw, &info) == 0 else { throw .last("stat", subject: path) }
            if info.st_mode & S_IFMT == S_IFREG { try overwrite(file, count: Int(info.st_size), path: path) }
        } else if errno == ENOENT {
            return
        } else if errno != ELOOP, errno != ENXIO {
            // It may be a key's file: whoever takes its name only loses sight of it.
            throw .last("open", subject: path)
        }
        guard unlink(path) == 0 || errno == ENOENT else { throw .last("unlink", subject: path) }
        try syncDirectory(parent(of: path))
    }

    private static func overwrite(_ file: FileDescriptor, count: Int, path: String) throws(SystemError) {
        let noise = [UInt8](repeating: 0xff, count: 4_096)
        var left = min(count, overwrittenSize)
        while left > 0 {
            let part = noise.prefix(left).withUnsafeBytes { file.write($0) }
            switch part {
            case .bytes(let written): left -= written
            case .end, .wouldBlock: throw SystemError("write", code: EIO, subject: path)
            case .failed(let error): throw SystemError("write", code: error.code, subject: path)
            }
        }
        guard fsync(file.raw) == 0 else { throw .last("fsync", subject: path) }
    }

    /// Keys are small; more than this is never overwritten.
    private static let overwrittenSize = 65_536

    /// The directory a path stands in.
    public static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
