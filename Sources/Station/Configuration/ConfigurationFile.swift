import EventLoop
import Glibc

extension Configuration {
    /// Where the packaged configuration stands.
    public static let defaultPath = "/etc/bitgate/bitgate.toml"

    /// Reads a configuration file.
    public init(contentsOf path: String) throws(StationFault) {
        let raw = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard raw >= 0 else {
            let error = SystemError.last("open")
            throw .configurationMissing("\(TerminalText.escape(path)): \(error)")
        }
        let bytes: [UInt8]
        do {
            bytes = try PrivateFile.readAll(FileDescriptor(owning: raw), path: path, limit: Configuration.sizeLimit)
        } catch {
            throw .configuration(TerminalText.escape("\(error)"))
        }
        do {
            try self.init(parsing: bytes, file: path)
        } catch {
            throw .configuration(error.description)
        }
    }
}
