import XCTest
@testable import Station
final class TT: XCTestCase { func testA() throws {
 print(ConfigurationText.defaults)
 do { _ = try Configuration(parsing: Array("a=1\n[air]\nmtux=3\nmtu=9\n[[radio]]\n[nostr]\nrelays=[1]".utf8), file: "f.toml") } catch { print(error) }
}}
