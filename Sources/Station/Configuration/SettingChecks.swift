import Basics
import Crypto
import Gateway
import Mesh
import Nostr
import Radio
import Uplink
import Wire

extension SettingRule where Value == String {
    static var nickname: SettingRule {
        .text(
            "\(Nickname.lengths.lowerBound) to \(Nickname.lengths.upperBound) visible characters",
            parse: { Nickname.announceable($0) }, write: { $0 })
    }

    static var documentURL: SettingRule {
        .text(
            "an https:// address, or empty",
            parse: { text in
                guard !text.isEmpty else { return text }
                guard text.hasPrefix("https://") || text.hasPrefix("http://"), let url = NostrRelayURL(text),
                    SettingLimits.relayPolicy.permits(url)
                else { return nil }
                return text
            }, write: { $0 })
    }
}

extension SettingRule where Value == RendezvousCell {
    /// Upper case is refused instead of repaired, since receivers compare exactly; a finer geohash is cut (chapter 06
    /// §4.4).
    static var cell: SettingRule {
        .text(
            "a lower-case geohash of \(SettingLimits.cellLength) to \(Geohash.maximumLength) characters",
            parse: { RendezvousCell($0) }, write: { $0.geohash })
    }
}

extension SettingRule where Value == ClosedRange<Interval> {
    /// How long received frames are held back, in the spelling of virtual air's link options.
    static var delay: SettingRule {
        .text(
            "a time such as \"20ms\" or a range such as \"20ms..80ms\", up to 60s",
            parse: { text in
                text.contains(" ") ? nil : (try? Impairment(parsing: "delay=" + text))?.delay
            },
            write: { range in
                let low = "\(range.lowerBound.milliseconds)ms"
                return range.lowerBound == range.upperBound ? low : "\(low)..\(range.upperBound.milliseconds)ms"
            })
    }
}

extension SettingRule where Value == [String] {
    static func geohashes(atMost limit: Int) -> SettingRule {
        .list(
            atMost: limit, of: "geohashes",
            element: { text in
                Geohash.isCanonical(text)
                    ? .success(text)
                    : .failure("is no lower-case geohash of 1 to \(Geohash.maximumLength) characters")
            }, write: { $0 })
    }
}

extension SettingRule where Value == [RendezvousCell] {
    static func cells(atMost limit: Int) -> SettingRule {
        .list(
            atMost: limit, of: "cells",
            element: { text in
                RendezvousCell(text).map { .success($0) }
                    ?? .failure("is no lower-case geohash of at least \(SettingLimits.cellLength) characters")
            }, write: { $0.geohash })
    }
}

extension SettingRule where Value == [Fingerprint] {
    /// Digits as people copy them from a screen, in groups or not.
    static var fingerprints: SettingRule {
        .list(
            atMost: SettingLimits.trusted, of: "fingerprints",
            element: { text in
                Fingerprint(hex: text.filter { $0 != " " }.lowercased()).map { .success($0) }
                    ?? .failure("is no fingerprint of 64 hex digits")
            }, write: { $0.hex })
    }
}

extension SettingRule where Value == [NostrRelayURL] {
    /// Added relays, normalised (chapter 05 §4.1, §4.2).
    static var relays: SettingRule {
        .list(
            atMost: RelaySet.maximumCustom, of: "relay addresses",
            element: { text in
                guard let url = NostrRelayURL(text, defaultScheme: "wss") else {
                    return .failure("is no relay address such as wss://relay.example.com")
                }
                guard !url.hasUserInfo else { return .failure("must not hold a user name") }
                guard SettingLimits.relayPolicy.permits(url) else {
                    return .failure("must be wss://: ws:// is for this machine and .onion names only")
                }
                return .success(url)
            }, write: { $0.text })
    }
}

extension SettingRule where Value == [AdapterChoice] {
    static var adapters: SettingRule {
        .list(
            atMost: SettingLimits.adapters, of: "adapters",
            element: { text in
                AdapterChoice(text).map { .success($0) }
                    ?? .failure("is neither an adapter such as hci0 nor an address such as 00:1A:7D:DA:71:13")
            }, write: { $0.text })
    }
}

extension SettingRule where Value == LocalEndpoint {
    static var localEndpoint: SettingRule {
        .text(
            "a socket's path, or an address of this machine such as \"127.0.0.1:9050\"",
            parse: { LocalEndpoint($0) }, write: { $0.description })
    }
}

extension SettingRule where Value == LocalEndpoint? {
    static var portOrSocket: SettingRule {
        .text(
            "a socket's path, an address of this machine such as \"127.0.0.1:9051\", or \"none\"",
            parse: { $0 == "none" ? .some(nil) : LocalEndpoint($0).map { .some($0) } },
            write: { $0?.description ?? "none" })
    }
}

enum SettingLimits {
    /// Bluetooth controllers of one box.
    static let adapters = 16
    /// Links of a controller: none has more than 32 in firmware people own.
    static let links = 1...32
    static let outgoingLinks = 0...32

    /// People the operator trusts with more room for mail.
    static let trusted = 100

    /// On a narrower link not even a fragment fits, and the box would be mute: 3 bytes of ATT header, 43 of a directed
    /// fragment and the smallest slice (chapter 01 §9.9).
    static let airMTU = 3 + 43 + MeshLimits.smallestFragmentChunk...517

    /// Milliseconds: less than a contact bounces is no use, and a tap is shorter than more.
    static let debounce = 5...200

    /// Fewest characters of a rendezvous cell (chapter 06 §4.4).
    static let cellLength = 6

    /// Clear text may go to this machine: that is where a Tor onion service or a demo's relay listens.
    static let relayPolicy = RelayURLPolicy(allowsLoopback: true)
}
