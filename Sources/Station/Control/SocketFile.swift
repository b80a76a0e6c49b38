import EventLoop
import Glibc

/// A listening AF_UNIX socket and its file, mode 0660.
///
/// The socket is bound under a temporary name, given its mode, made to listen and only then renamed into place: nobody
/// ever finds it with another mode, not yet listening, or not there while a stale one is replaced.
final class SocketFile {
    let descriptor: FileDescriptor
    private let path: String
    private let device: dev_t
    private let inode: ino_t

    init(_ path: String) throws(StationFault) {
        self.path = path
        try SocketFile.makeParent(of: path)
        try SocketFile.refuseIfTaken(path)
        let fresh = path + ".\(getpid())"
        do throws(SystemError) {
            unlink(fresh)
            descriptor = try UnixSocket.listen(.stream, at: fresh)
            guard chmod(fresh, 0o660) == 0 else { throw SystemError.last("chmod", subject: fresh) }
            var info = stat()
            guard lstat(fresh, &info) == 0 else { throw SystemError.last("stat", subject: fresh) }
            device = info.st_dev
            inode = info.st_ino
            guard rename(fresh, path) == 0 else { throw SystemError.last("rename", subject: path) }
        } catch {
            unlink(fresh)
            throw .system(SystemError(error.call, code: error.code, subject: path).withCure)
        }
    }

    /// Removes the file if it is still this socket's.
    func remove() {
        descriptor.close()
        var info = stat()
        guard lstat(path, &info) == 0, info.st_dev == device, info.st_ino == inode else { return }
        unlink(path)
    }

    private static func makeParent(of path: String) throws(StationFault) {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        let parent = String(path[..<slash])
        if mkdir(parent, 0o750) != 0, errno != EEXIST {
            throw .system(SystemError.last("mkdir", subject: parent).withCure)
        }
    }

    /// Only a socket nobody answers on may be replaced.
    private static func refuseIfTaken(_ path: String) throws(StationFault) {
        var info = stat()
        guard lstat(path, &info) == 0 else { return }
        guard info.st_mode & S_IFMT == S_IFSOCK else {
            throw .system("\(path) exists and is not a socket: move it away")
        }
        do {
            _ = try UnixSocket.connect(.stream, to: path)
        } catch {
            if error.code == ECONNREFUSED || error.code == ENOENT { return }
            if error.code != EAGAIN { throw .system(error.withCure) }
        }
        throw .alreadyRunning("another daemon answers at \(path): stop it, or give this one a path of its own")
    }
}
