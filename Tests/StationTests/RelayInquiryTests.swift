import EventLoop
import XCTest

@testable import Station

final class RelayInquiryTests: XCTestCase {
    private func ask(_ url: String, tor: Configuration.Network.Tor) throws -> (isUsable: Bool, lines: [String]) {
        var configuration = Configuration()
        configuration.network.tor = tor
        var lines: [String] = []
        let isUsable = try RelayInquiry.run(url, configuration, loop: try LibeventLoop()) { lines.append($0) }
        return (isUsable, lines)
    }

    func testRouteAndReasonAreSaid() throws {
        let refused = try ask("ws://127.0.0.1:1", tor: .off)
        XCTAssertFalse(refused.isUsable)
        XCTAssertEqual(
            refused.lines,
            [
                "ws://127.0.0.1:1 directly: it sees the address of this machine",
                "127.0.0.1:1: connect: Connection refused",
            ])
        let onion = try ask("ws://abc.onion", tor: .off)
        XCTAssertEqual(onion.lines.last, "onion services are reached through Tor only, and Tor is off")
        let here = try ask("ws://127.0.0.1:1", tor: .required)
        XCTAssertTrue(here.lines.first?.contains(" through Tor at ") ?? false)
        XCTAssertEqual(here.lines.last, "an address of this machine itself, which is not reached while Tor is required")
    }

    func testWhatIsNoAddressIsSaidSo() {
        for text in ["", "ftp://h", "wss://user@h", "a b"] {
            XCTAssertThrowsError(try ask(text, tor: .off)) {
                guard case .usage? = $0 as? StationFault else { return XCTFail("\($0)") }
            }
        }
    }
}
