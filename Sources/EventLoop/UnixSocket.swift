import Glibc

/// AF_UNIX sockets: non-blocking, close-on-exec.
public enum UnixSocket {
    public enum Kind {
        /// A byte stream.
        case stream
        /// Messages with their boundaries kept, in order, connected.
        case messages
    }

    /// `sun_path` holds 108 bytes including the closing zero.
    public static let longestPath = 107

    public static func make(_ kind: Kind) throws(SystemError) -> FileDescriptor {
        let type = kind == .stream ? SOCK_STREAM : SOCK_SEQPACKET
        let raw = socket(AF_UNIX, Int32(type.rawValue) | SocketFlags.nonBlocking, 0)
        guard raw >= 0 else { throw .last("socket") }
        return FileDescriptor(owning: raw)
    }

    /// A socket listening at `path`, which must not exist yet. The file is the caller's to remove.
    public static func listen(_ kind: Kind, at path: String, backlog: Int32 = 16) throws(SystemError) -> FileDescriptor
    {
        let socket = try make(kind)
        guard try withAddress(path, { Glibc.bind(socket.raw, $0, $1) }) == 0 else {
            throw .last("bind", subject: path)
        }
        guard Glibc.listen(socket.raw, backlog) == 0 else { throw .last("listen", subject: path) }
        return socket
    }

    /// A socket connected to `path`. AF_UNIX connects at once or not at all: a full backlog is EAGAIN, a file nobody
    /// answers on ECONNREFUSED.
    public static func connect(_ kind: Kind, to path: String) throws(SystemError) -> FileDescriptor {
        let socket = try make(kind)
        guard try withAddress(path, { Glibc.connect(socket.raw, $0, $1) }) == 0 else {
            throw .last("connect", subject: path)
        }
        return socket
    }

    /// The process that made `connection`'s other end listen or connect (SO_PEERCRED, unix(7)).
    public static func peerProcess(of connection: FileDescriptor) -> Int32? {
        // pid_t, uid_t, gid_t.
        var credentials: [Int32] = [0, 0, 0]
        var size = socklen_t(MemoryLayout<Int32>.size * credentials.count)
        guard getsockopt(connection.raw, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0, credentials[0] > 0 else {
            return nil
        }
        return credentials[0]
    }

    private static func withAddress(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(SystemError) -> Int32 {
        let bytes = Array(path.utf8)
        guard bytes.count <= longestPath else { throw SystemError("bind", code: ENAMETOOLONG, subject: path) }
        guard !bytes.isEmpty, !bytes.contains(0) else { throw SystemError("bind", code: EINVAL, subject: path) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }
}
