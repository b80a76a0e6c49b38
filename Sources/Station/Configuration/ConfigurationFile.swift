import EventLoop
import Glibc
import Vault

extension Configuration {
    /// Where the packaged configuration stands.
    public static let defaultPath = "/etc/bitgate/bitgate.toml"

    /// Reads a configuration file.
    public init(contentsOf path: String) throws(StationFault) {
        let bytes = try Configuration.bytes(of: path, cure: "; bitgate config defaults prints one to begin with")
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

    /// The same file, whatever the working directory.
    public static func absolutePath(_ path: String) -> String {
        guard !path.hasPrefix("/"), let directory = getcwd(nil, 0) else { return path }
        defer { free(directory) }
        return String(cString: directory) + "/" + path
    }

    /// What is no file, or not readable, is as good as absent.
    /// - Parameter cure: what helps where there is no file.
    static func bytes(of path: String, cure: String = "") throws(StationFault) -> [UInt8] {
        func absent(_ why: String) -> StationFault { .configurationMissing("\(TerminalText.escape(path)): \(why)") }
        let raw = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard raw >= 0 else {
            switch errno {
            case ENOENT: throw absent("there is no such file" + cure)
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
