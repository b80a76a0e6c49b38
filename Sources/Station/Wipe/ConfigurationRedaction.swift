import EventLoop
import Glibc
import Vault

/// Takes what tells of people and places out of a configuration file that is ours to change.
enum ConfigurationRedaction {
    /// Keys whose values tell who runs the box, where, and whom it talks to.
    static let telling: Set<String> = [
        "nickname", "air.name", "location.cell", "location.latitude", "location.longitude", "gateway.channels",
        "bridge.extra_cells", "courier.trusted", "nostr.relays",
    ]

    /// The other settings that are not at their defaults, as a file. Comments may tell anything, so none is kept.
    static func text(of configuration: Configuration) -> String {
        let lines = ConfigurationTable.settings.compactMap { setting -> String? in
            guard !telling.contains(setting.key), setting.differs(configuration, Configuration()) else { return nil }
            return setting.text(configuration).map { "\(setting.key) = \($0)\n" }
        }
        return "# Emptied by a wipe. bitgate config defaults prints every key.\n" + lines.joined()
    }

    /// Replaces the file where this process may; one that belongs to the system is the operator's to clear, as `status`
    /// says.
    static func redact(_ path: String, _ configuration: Configuration) throws(SystemError) {
        var info = stat()
        guard stat(path, &info) == 0, access(path, W_OK) == 0, access(PrivateFile.parent(of: path), W_OK) == 0 else {
            return
        }
        try PrivateFile.replace(path, Array(text(of: configuration).utf8))
        guard chmod(path, info.st_mode & 0o777) == 0 else { throw .last("chmod", subject: path) }
    }
}
