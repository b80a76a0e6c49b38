import Basics
import Nostr
import Wire

extension SettingRule where Value == String {
    static var nickname: SettingRule {
        .text(
            "\(Nickname.lengths.lowerBound) to \(Nickname.lengths.upperBound) visible characters",
            parse: { Nickname.normalized($0) }, write: { $0 })
    }

    /// A rendezvous cell. Upper case is refused instead of repaired, since receivers compare exactly; a finer geohash is
    /// cut (chapter 06 §4.4).
    static var cell: SettingRule {
        .text(
            "a lower-case geohash of \(SettingLimits.cellLength) to \(Geohash.maximumLength) characters",
            parse: { SettingLimits.cell($0) }, write: { $0 })
    }
}

extension SettingRule where Value == [String] {
    static func geohashes(atMost limit: Int) -> SettingRule {
        .list(atMost: limit, of: "geohashes") { text in
            Geohash.isCanonical(text)
                ? .success(text)
                : .failure(
                    ElementProblem(message: "is no lower-case geohash of 1 to \(Geohash.maximumLength) characters"))
        }
    }

    static func cells(atMost limit: Int) -> SettingRule {
        .list(atMost: limit, of: "cells") { text in
            SettingLimits.cell(text).map { .success($0) }
                ?? .failure(
                    ElementProblem(
                        message: "is no lower-case geohash of at least \(SettingLimits.cellLength) characters"))
        }
    }

    static var relays: SettingRule { .list(atMost: 8, of: "relay addresses") { .success($0) } }
}

enum SettingLimits {
    /// Characters of a rendezvous cell (chapter 06 §4.4).
    static let cellLength = 6

    static func cell(_ text: String) -> String? {
        Geohash.isCanonical(text) && text.utf8.count >= cellLength ? String(text.prefix(cellLength)) : nil
    }
}
