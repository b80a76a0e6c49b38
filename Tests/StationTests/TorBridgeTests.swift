import XCTest

@testable import Station

final class TorBridgeTests: XCTestCase {
    private let fingerprint = "0123456789ABCDEF0123456789ABCDEF01234567"

    private func problem(_ line: String) -> String? {
        do throws(TorBridgeLine.Problem) {
            _ = try TorBridgeLine(Substring(line))
            return nil
        } catch {
            return error.message
        }
    }

    func testBridgesOfEveryKindAreTaken() {
        for line in [
            "192.0.2.7:443", "192.0.2.7:443 \(fingerprint)", "[2001:db8::7]:443 $\(fingerprint)",
            "obfs4 192.0.2.7:443 \(fingerprint) cert=AAA+/= iat-mode=0",
            "snowflake 192.0.2.3:80 \(fingerprint) url=https://example.org/ fronts=a,b ice=stun:example.org:3478",
            "webtunnel [2001:db8::7]:443 \(fingerprint) url=https://example.org/path",
        ] { XCTAssertNil(problem(line), line) }
    }

    func testMistakesAreNamed() {
        for (line, message) in [
            ("", "is empty"), ("obfs5 192.0.2.7:443", "must begin with"), ("UseBridges 1", "must begin with"),
            ("obfs4", "needs an address"), ("obfs4 192.0.2.7", "needs an address"),
            ("obfs4 bridge.example.com:443", "needs an address"), ("192.0.2.7:0", "needs an address"),
            ("192.0.2.7:70000", "needs an address"), ("192.0.2.7:443 0123", "not 40 hex digits"),
            ("obfs4 192.0.2.7:443 \(fingerprint) cert=A", "lacks iat-mode="),
            ("obfs4 192.0.2.7:443 \(fingerprint) cert= iat-mode=0", "no name=value"),
            ("192.0.2.7:443 cert=A", "names no transport"),
            ("192.0.2.7:443\nExecute 1", "not printable ASCII"), ("192.0.2.7:443 é", "not printable ASCII"),
            ("192.0.2.7:443 " + String(repeating: "x", count: 2_048), "is longer than 2048 bytes"),
        ] {
            XCTAssertTrue(problem(line)?.contains(message) ?? false, "\(line.prefix(60)): \(problem(line) ?? "taken")")
        }
    }

    private func check(_ text: String) -> TorBridgeCheck {
        TorBridgeCheck(text, file: "t.conf", isProgram: { $0 == "/usr/bin/obfs4proxy" })
    }

    func testAWholeFileIsCheckedAndBridgesAreNeverPrinted() {
        let good = check(
            """
            # comment
            UseBridges 1
            ClientTransportPlugin obfs4,meek_lite exec /usr/bin/obfs4proxy
            bridge obfs4 192.0.2.7:443 \(fingerprint) cert=A iat-mode=0
            """)
        XCTAssertEqual(good.problems, [])
        XCTAssertEqual(good.bridges, 1)
        let bad = check(
            """
            UseBridges yes
            ClientTransportPlugin snowflake exec /none
            Bridge obfs4 192.0.2.7:443 \(fingerprint) cert=A iat-mode=0
            Bridge nonsense
            """)
        XCTAssertEqual(
            bad.problems,
            [
                "t.conf:1: UseBridges takes 0 or 1", "t.conf:2: there is no program /none: install it",
                "t.conf:4: the bridge must begin with an address or one of obfs4, snowflake, webtunnel, meek_lite",
                "t.conf:3: no ClientTransportPlugin line offers obfs4",
                "t.conf:3: bridges are only used with UseBridges 1",
            ])
        XCTAssertFalse(bad.problems.joined().contains("192.0.2.7"))
        XCTAssertEqual(
            check("UseBridges 1").problems, ["t.conf: UseBridges is 1, and there is no usable Bridge line"])
        XCTAssertEqual(check("SocksPort 9050\n\nUseBridges 0").problems, [])
    }

    func testTheShippedDropInIsGoodAsItIsAndWithItsBridgesSwitchedOn() throws {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("etc/tor/bitgate.conf")
        let text = try String(contentsOf: path, encoding: .utf8)
        XCTAssertEqual(TorBridgeCheck(text, file: "t").problems, [])
        for keyword in ["UseBridges", "ClientTransportPlugin", "Bridge"] {
            XCTAssertTrue(text.contains("#\(keyword) "))
        }
        let enabled = text.replacingOccurrences(of: "#UseBridges", with: "UseBridges")
            .replacingOccurrences(of: "#ClientT", with: "ClientT").replacingOccurrences(of: "#Bridge", with: "Bridge")
        let check = TorBridgeCheck(enabled, file: "t", isProgram: { _ in true })
        XCTAssertEqual(check.problems, [])
        XCTAssertEqual(check.bridges, 2)
    }
}
