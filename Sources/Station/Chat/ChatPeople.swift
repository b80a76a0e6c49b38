import Wire

/// Who is in reach and what they are called here: namesakes are told apart by the first digits of their peer IDs, and
/// nobody passes for this person (chapter 03 B11).
struct ChatPeople {
    /// Whom a typed name means.
    enum Match: Equatable {
        /// The peer, and what was typed after the name.
        case one(PeerID, rest: String)
        /// Several bear it; the names that tell them apart.
        case several([String])
        case nobody
    }

    private static let digits = 4

    var ownName: String
    /// Bounded by the mesh's registry.
    private var nicknames: [PeerID: String] = [:]
    private var shown: [PeerID: String] = [:]

    init(ownName: String) { self.ownName = ownName }

    /// - Parameter isImpostor: somebody else whom the person trusts is called so.
    /// - Returns: the name to show.
    func name(of peer: PeerID, calledBy nickname: String, isImpostor: Bool) -> String {
        let name = PeerName.shown(nickname)
        let isShared =
            isImpostor || name == ownName || nicknames.contains { $0.key != peer && $0.value == name }
        return isShared || name == PeerName.anonymous ? ChatPeople.distinct(name, peer) : name
    }

    private static func distinct(_ name: String, _ peer: PeerID) -> String { "\(name)#\(peer.hex.prefix(digits))" }

    /// Whether they were in reach and are not forgotten.
    func knows(_ peer: PeerID) -> Bool { shown[peer] != nil }

    /// The name as last shown; the first digits of the ID for somebody never met.
    func name(of peer: PeerID) -> String { shown[peer] ?? ChatPeople.distinct(PeerName.anonymous, peer) }

    /// - Returns: the name to show and the one shown before.
    mutating func meet(_ peer: PeerID, nickname: String, isImpostor: Bool) -> (name: String, before: String?) {
        nicknames[peer] = PeerName.shown(nickname)
        let name = name(of: peer, calledBy: nickname, isImpostor: isImpostor)
        return (name, shown.updateValue(name, forKey: peer))
    }

    /// - Returns: the name shown before.
    mutating func lose(_ peer: PeerID) -> String? {
        nicknames[peer] = nil
        return shown.removeValue(forKey: peer)
    }

    /// Reads the name a text begins with: a nickname, one with `#` and first digits of the peer ID, or a whole peer ID.
    /// Names may have spaces, so the longest that fits counts.
    ///
    /// - Parameter absent: people who are not in reach, meant only if nobody here is.
    func find(_ text: String, absent: [(peer: PeerID, nickname: String)] = []) -> Match {
        let typed = text.hasPrefix("@") ? String(text.dropFirst()) : text
        let match = best(in: typed, nicknames.map { ($0.key, $0.value) })
        if match != .nobody { return match }
        return best(in: typed, absent.map { ($0.peer, PeerName.shown($0.nickname)) })
    }

    private func best(in typed: String, _ people: [(peer: PeerID, name: String)]) -> Match {
        var length = 0
        var peers: [PeerID] = []
        for (peer, name) in people {
            for spelling in [name, ChatPeople.distinct(name, peer), peer.hex]
            where ChatPeople.starts(typed, with: spelling) && spelling.utf8.count >= length {
                if spelling.utf8.count > length { peers = [] }
                length = spelling.utf8.count
                peers.append(peer)
            }
        }
        guard let peer = peers.first else { return .nobody }
        guard peers.count == 1 else {
            let names = people.filter { peers.contains($0.peer) }.map { ChatPeople.distinct($0.name, $0.peer) }
            return .several(names.sorted())
        }
        return .one(peer, rest: TextTrimming.trim(String(decoding: typed.utf8.dropFirst(length), as: UTF8.self)))
    }

    /// Whether the first word or words of `typed` are `name`.
    private static func starts(_ typed: String, with name: String) -> Bool {
        guard typed.utf8.starts(with: name.utf8) else { return false }
        let rest = typed.utf8.dropFirst(name.utf8.count)
        return rest.isEmpty || rest.first == UInt8(ascii: " ")
    }

    /// Names to complete a typed beginning with.
    var names: [String] { shown.values.sorted() }
}
