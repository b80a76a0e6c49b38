import EventLoop
import Glibc

/// Reads tor's authentication cookie.
enum TorCookieFile {
    /// Nothing is read that is not exactly what tor writes: the path may come from whoever answers on the port.
    static func read(_ path: String) throws(TorControlFault) -> [UInt8] {
        let raw = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard raw >= 0 else {
            switch errno {
            case ENOENT, ENOTDIR: throw .cookieAbsent(path)
            case EACCES, EPERM: throw .cookieForbidden(path)
            default: throw .cookieUnusable("\(path): \(SystemError.text(errno))")
            }
        }
        let file = FileDescriptor(owning: raw)
        var info = stat()
        guard fstat(raw, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_size == TorLimits.cookieBytes else {
            throw .cookieUnusable("\(path) is no cookie of tor's: it must be a file of \(TorLimits.cookieBytes) bytes")
        }
        var cookie = [UInt8](repeating: 0, count: TorLimits.cookieBytes)
        guard cookie.withUnsafeMutableBytes({ file.read(into: $0) }) == .bytes(TorLimits.cookieBytes) else {
            throw .cookieUnusable("\(path) cannot be read")
        }
        return cookie
    }
}
