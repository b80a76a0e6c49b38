import XCTest

@testable import Station

/// Every row of the configuration table, with a value other than its default.
final class ConfigurationKeyTests: XCTestCase {
    /// Values of every kind, for the rows that neither name their choices nor show an example.
    private static let values = [
        "true", "false", "0.25", "1", "2", "3", "7", "185", #""/elsewhere""#, #""20ms..80ms""#, #"["hci1"]"#,
        #"["u4pruy"]"#, #"["wss://relay.example.com"]"#, #"["\#(String(repeating: "ab", count: 32))"]"#,
        #""https://example.com/list.csv""#, #""127.0.0.1:9151""#,
    ]

    /// A coordinate needs the other one.
    private static let company = [
        "location.latitude": ("location.longitude", "10.40744"),
        "location.longitude": ("location.latitude", "57.64911"),
    ]

    private func read(_ text: String) -> Configuration? {
        try? Configuration(parsing: Array(text.utf8), file: "b.toml")
    }

    private func candidates(for setting: Setting) -> [String] {
        let quoted = setting.allowed.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
            .filter { !$0.offset.isMultiple(of: 2) }.map { "\"\($0.element)\"" }
        return [setting.example].compactMap { $0 } + quoted + Self.values
    }

    func testNoKeyStandsTwice() {
        let keys = ConfigurationTable.settings.map(\.key)
        XCTAssertEqual(Set(keys).count, keys.count)
    }

    func testEveryKeyIsReadIntoItsOwnPlaceAndNoOther() {
        let standard = Configuration()
        for setting in ConfigurationTable.settings {
            let company = Self.company[setting.key]
            let beside = company.map { "\($0.0) = \($0.1)\n" } ?? ""
            let first = candidates(for: setting).lazy.compactMap { value -> Configuration? in
                guard let configuration = self.read(beside + "\(setting.key) = \(value)"),
                    setting.differs(configuration, standard), setting.text(configuration) == value
                else { return nil }
                return configuration
            }.first
            guard let found = first else {
                XCTFail("\(setting.key) takes no value but its default and writes it back: \(setting.allowed)")
                continue
            }
            let changed = ConfigurationTable.settings.filter { $0.differs(found, standard) }.map(\.key)
            XCTAssertEqual(Set(changed), Set([setting.key, company?.0].compactMap { $0 }), setting.key)
        }
    }
}
