import Basics
import EventLoop
import XCTest

@testable import Uplink

final class RelayCheckTests: XCTestCase {
    private let loop = EmbeddedLoop()
    private let dialer = ScriptedDialer()
    private var lines: [String] = []
    private var verdicts: [Bool] = []
    private var check: RelayCheck?

    private func start(_ url: String = "wss://relay.example") throws {
        check = RelayCheck(
            loop: loop, address: try WebSocketAddress(parsing: url), dialer: dialer, isolation: .test,
            random: SeededRandom(seed: 1), report: { [unowned self] in self.lines.append($0) },
            completion: { [unowned self] in self.verdicts.append($0) })
        loop.settle()
    }

    private func serve(_ text: String) {
        dialer.stream.incoming += Array(text.utf8)
        dialer.stream.pump(loop)
    }

    /// - Parameter date: of the answer, one second after the question.
    private func upgrade(date: String) {
        dialer.stream.delegate?.streamOpened()
        dialer.stream.pump(loop)
        let key = String(decoding: dialer.stream.written, as: UTF8.self).components(separatedBy: "\r\n")
            .first { $0.hasPrefix("Sec-WebSocket-Key: ") }?.dropFirst(19)
        loop.advance(by: .seconds(1))
        serve(
            "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nDate: \(date)\r\nSec-WebSocket-Accept: "
                + UpgradeHandshake.accept(forKey: String(key ?? "")) + "\r\n\r\n")
    }

    private func say(_ text: String) {
        dialer.stream.incoming += ServerFrame.text(text).bytes()
        dialer.stream.pump(loop)
    }

    func testStepsOfAGoodRelayAreToldAsTheyAreMade() throws {
        try start()
        // The loop's clock starts at 1750000000.
        upgrade(date: "Sun, 15 Jun 2025 15:06:40 GMT")
        XCTAssertEqual(lines, ["its clock and this machine's agree", "connected after 1.00 s, certificate good"])
        loop.advance(by: .milliseconds(50))
        say(#"["AUTH","x"]"#)
        say(#"["EOSE","check"]"#)
        XCTAssertEqual(
            lines.suffix(2),
            [
                "it wants clients to authenticate; the box does so with a key made for the occasion",
                "answered a request after 0.05 s",
            ])
        XCTAssertEqual(verdicts, [true])
    }

    func testClockThatDiffersIsSaid() throws {
        try start("ws://abc.onion")
        upgrade(date: "Sun, 15 Jun 2025 16:06:41 GMT")
        XCTAssertEqual(lines, ["its clock is 3600 s ahead of this machine's", "connected after 1.00 s"])
    }

    func testReasonOfARelayThatCannotBeUsedIsTheLastLine() throws {
        try start()
        dialer.stream.delegate?.streamFailed(.tlsFailed(.selfSigned))
        XCTAssertEqual(lines, ["its certificate is self-signed, so anybody may have made it"])
        XCTAssertEqual(verdicts, [false])
    }

    func testRelayThatRefusesOrKeepsSilentCannotBeUsed() throws {
        try start()
        upgrade(date: "x")
        say(#"["CLOSED", "check", "auth-required: \u001b[31m"]"#)
        XCTAssertEqual(lines.last, "it refused a request for public messages")
        XCTAssertEqual(verdicts, [false])
    }

    func testRelayThatKeepsSilentIsGivenUpAfter15Seconds() throws {
        try start()
        upgrade(date: "x")
        loop.advance(by: .seconds(15))
        XCTAssertEqual(lines.last, "it does not answer a request for public messages")
        XCTAssertEqual(verdicts, [false])
    }
}
