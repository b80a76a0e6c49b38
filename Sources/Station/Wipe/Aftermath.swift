import EventLoop
import Glibc
import Vault

/// What a wipe left the box as, and what the operator has not been told yet. Two files of the state directory; neither
/// holds a time.
struct Aftermath: Equatable {
    static let noticeFile = "wiped"
    static let latchFile = "unprovisioned"
    private static let sizeLimit = 64

    /// Why everything was destroyed; until the operator acknowledges it.
    var notice: WipeCause?
    /// The random name under which the box is nothing but a relay of its mesh: it knows no place, no relays and offers
    /// nothing, whatever the configuration file says (chapter 06 §11.5). Nil when the file counts.
    var unprovisionedName: String?

    init(notice: WipeCause? = nil, unprovisionedName: String? = nil) {
        self.notice = notice
        self.unprovisionedName = unprovisionedName
    }

    /// A file that is there counts, even if nobody can read what is in it.
    init(in directory: String) {
        notice = Aftermath.read(directory + "/" + Aftermath.noticeFile).map { WipeCause(rawValue: $0) ?? .panic }
        unprovisionedName = Aftermath.read(directory + "/" + Aftermath.latchFile).map { $0.isEmpty ? "anon" : $0 }
    }

    /// The app's form of a name nobody chose (chapter 06 §11.2).
    static func anonymousName(using random: inout some RandomNumberGenerator) -> String {
        "anon\(Int.random(in: 1_000...9_999, using: &random))"
    }

    func write(in directory: String) throws(SystemError) {
        try Aftermath.write(notice?.rawValue, directory + "/" + Aftermath.noticeFile)
        try Aftermath.write(unprovisionedName, directory + "/" + Aftermath.latchFile)
    }

    private static func write(_ text: String?, _ path: String) throws(SystemError) {
        if let text { return try PrivateFile.replace(path, Array(text.utf8)) }
        guard unlink(path) == 0 || errno == ENOENT else { throw .last("unlink", subject: path) }
    }

    /// `nil` when there is no such file, empty when it cannot be read.
    private static func read(_ path: String) -> String? {
        do {
            return String(decoding: try PrivateFile.read(path, limit: sizeLimit), as: UTF8.self)
        } catch {
            return error == .absent ? nil : ""
        }
    }

    /// The configuration as far as it counts.
    func applied(to configuration: Configuration) -> Configuration {
        guard let unprovisionedName else { return configuration }
        var bare = configuration
        bare.nickname = unprovisionedName
        bare.air.name = nil
        bare.location = Configuration.Location()
        bare.gateway.isEnabled = false
        bare.gateway.channels = []
        bare.bridge.isEnabled = false
        bare.bridge.extraCells = []
        bare.courier.isEnabled = false
        bare.courier.trusted = []
        bare.nostr.relays = []
        bare.nostr.useBuiltInRelays = false
        return bare
    }
}
