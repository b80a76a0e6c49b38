import EventLoop
import Glibc
import Vault

extension Configuration {
    /// Where the packaged configuration stands.
    public static let defaultPath = "/etc/bitgate/bitgate.toml"

    /// Reads a configuration file.
    public init(contentsOf path: String) throws(StationFault) {
        let bytes = try Configuration.bytes(of: path)
        do {
            try self.init(parsing: bytes, file: path)
        } catch {
            throw .configuration(error.description)
        }
    }

    /// The text of another configuration file, of tor's for instance.
    public static func text(of path: String) throws(StationFault) -> String {
        String(decoding: try bytes(of: path), as: UTF8.self)
    }

    /// What is no file, or not readable, is as good as absent.
    static func bytes(of path: String) throws(StationFault) -> [UInt8] {
        func absent(_ why: String) -> StationFault { .configurationMissing("\(TerminalText.escape(path)): \(why)") }
        let raw = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard raw >= 0 else {
            switch errno {
            case ENOENT: throw absent("there is no such file; bitgate config defaults prints one to begin with")
            case EACCES: throw absent("no permission to read it: change its owner or mode, or the user who runs this")
            default: throw absent(SystemError.text(errno))
            }
        }
        let file = FileDescriptor(owning: raw)
        var info = stat()
        guard fstat(raw, &info) == 0 else { throw absent(SystemError.text(errno)) }
        // An empty file by another name is welcome; a pipe would make the daemon wait when it reads again.
        let kind = info.st_mode & S_IFMT
        guard kind == S_IFREG || kind == S_IFCHR else {
            throw absent(kind == S_IFDIR ? "is a directory, not a file" : "is not a regular file")
        }
        do {
            return try PrivateFile.readAll(file, path: path, limit: sizeLimit)
        } catch {
            throw .configuration(TerminalText.escape("\(error)"))
        }
    }
}
