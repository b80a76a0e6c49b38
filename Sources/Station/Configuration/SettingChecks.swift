import Basics
import Nostr
import Wire

extension SettingRule where Value == String {
    static var nickname: SettingRule { .text("1 to 50 visible characters", parse: { $0 }, write: { $0 }) }
    static var cell: SettingRule { .text("geohash", parse: { $0 }, write: { $0 }) }
}
extension SettingRule where Value == [String] {
    static func geohashes(atMost limit: Int) -> SettingRule { .list(atMost: limit, of: "geohashes") { .success($0) } }
    static func cells(atMost limit: Int) -> SettingRule { .list(atMost: limit, of: "cells") { .success($0) } }
    static var relays: SettingRule { .list(atMost: 8, of: "relay addresses") { .success($0) } }
}
