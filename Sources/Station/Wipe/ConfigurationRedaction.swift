import EventLoop
import Glibc
import Vault

/// Takes what tells of people and places out of a configuration file that is ours to change.
enum ConfigurationRedaction {
    /// Keys whose values tell who runs the box, where, and whom it talks to.
    static let telling: Set<String> = [
        "nickname", "air.name", "location.cell", "location.latitude", "location.longitude", "gateway.channels",
        "bridge.extra_cells", "courier.trusted", "nostr.relays", "nostr.directory_url",
    ]

    /// The other settings that are not at their defaults, as a file. Comments may tell anything, so none is kept.
    static func text(of configuration: Configuration) -> String {
        let lines = ConfigurationTable.settings.compactMap { setting -> String? in
            guard !telling.contains(setting.key), setting.differs(configuration, Configuration()) else { return nil }
            return setting.text(configuration).map { "\(setting.key) = \($0)\n" }
        }
        return "# Emptied by a wipe. bitgate config defaults prints every key.\n" + lines.joined()
    }

    /// Replaces the file, or what its name leads to, where this process may by their modes; one that belongs to the
    /// system is the operator's to clear, as `status` says. One of ours on a disk that takes nothing any more is left,
    /// and told.
    static func redact(_ path: String, _ configuration: Configuration) throws(SystemError) {
        guard let resolved = realpath(path, nil) else {
            if [ENOENT, ENOTDIR, EACCES].contains(errno) { return }
            throw .last("realpath", subject: path)
        }
        defer { free(resolved) }
        let file = String(cString: resolved)
        let own = Credentials.own
        guard own.barrier(to: file, for: .write) == nil,
            own.barrier(to: PrivateFile.parent(of: file), for: .write) == nil
        else { return }
        var info = stat()
        guard stat(file, &info) == 0 else { throw .last("stat", subject: file) }
        try PrivateFile.replace(file, Array(text(of: configuration).utf8))
        guard chmod(file, info.st_mode & 0o777) == 0 else { throw .last("chmod", subject: file) }
    }
}
