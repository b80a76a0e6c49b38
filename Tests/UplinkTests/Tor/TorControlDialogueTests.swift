import Basics
import XCTest

@testable import Uplink

final class TorControlDialogueTests: XCTestCase {
    private let cookie = [UInt8](0..<32)
    private let nonce = [UInt8](repeating: 1, count: 32)
    private let serverNonce = [UInt8](repeating: 2, count: 32)
    private var read: [String] = []
    private let start = Instant.zero

    private func dialogue(cookiePath: String? = nil) -> TorControlDialogue {
        TorControlDialogue(cookiePath: cookiePath, nonce: nonce, at: start) { [self] path in
            read.append(path)
            return cookie
        }
    }

    private func say(_ text: String, to dialogue: inout TorControlDialogue) throws -> String {
        var bytes = Array(text.utf8)[...]
        let isDone = try dialogue.receive(&bytes, at: start)
        XCTAssertTrue(isDone)
        return String(decoding: dialogue.takeOutput(), as: UTF8.self)
    }

    private func observations(_ dialogue: inout TorControlDialogue) -> [TorObservation] {
        var out: [TorObservation] = []
        while let next = dialogue.takeObservation() { out.append(next) }
        return out
    }

    private let info = """
        250-PROTOCOLINFO 1\r
        250-AUTH METHODS=COOKIE,SAFECOOKIE COOKIEFILE="/run/tor/control.authcookie"\r
        250-VERSION Tor="0.4.9.11"\r
        250 OK\r

        """
    // Computed with another implementation of HMAC-SHA256 from the keys of control-spec §3.24.
    private let serverProof = "18bf4049ee4f5be22254e66ded2c3778d180b1eb268e8e41fcbdd10d64538030"
    private let clientProof = "e396c96ac795e44f88cc8bfdebd8517eadc1a9872cb9c6b01c244cf065abbcdb"

    private func readingDialogue() throws -> TorControlDialogue {
        var dialogue = dialogue()
        XCTAssertEqual(String(decoding: dialogue.takeOutput(), as: UTF8.self), "PROTOCOLINFO 1\r\n")
        XCTAssertEqual(
            try say(info, to: &dialogue), "AUTHCHALLENGE SAFECOOKIE " + String(repeating: "01", count: 32) + "\r\n")
        let challenge = "250 AUTHCHALLENGE SERVERHASH=\(serverProof) SERVERNONCE=\(Hex.encode(serverNonce))\r\n"
        XCTAssertEqual(try say(challenge, to: &dialogue), "AUTHENTICATE \(clientProof)\r\n")
        XCTAssertEqual(
            try say("250 OK\r\n", to: &dialogue), "SETEVENTS STATUS_CLIENT STATUS_GENERAL NETWORK_LIVENESS\r\n")
        XCTAssertEqual(
            try say("250 OK\r\n", to: &dialogue),
            "GETINFO status/bootstrap-phase status/circuit-established network-liveness\r\n")
        return dialogue
    }

    func testBothSidesProveTheCookieAndTheStateIsRead() throws {
        var dialogue = try readingDialogue()
        XCTAssertEqual(read, ["/run/tor/control.authcookie"])
        let answer = """
            250-status/bootstrap-phase=NOTICE BOOTSTRAP PROGRESS=100 TAG=done SUMMARY="Done"\r
            250-status/circuit-established=1\r
            250-network-liveness=up\r
            250 OK\r

            """
        XCTAssertEqual(try say(answer, to: &dialogue), "")
        XCTAssertEqual(
            observations(&dialogue),
            [
                .connected(version: "0.4.9.11"),
                .bootstrap(TorBootstrap(progress: 100, tag: "done", summary: "Done")),
                .circuits(isEstablished: true), .network(isUp: true),
            ])
        XCTAssertEqual(try say("650 STATUS_CLIENT NOTICE CIRCUIT_NOT_ESTABLISHED REASON=X\r\n", to: &dialogue), "")
        XCTAssertEqual(observations(&dialogue), [.circuits(isEstablished: false)])
    }

    func testAServerThatDoesNotKnowTheCookieLearnsNothing() throws {
        var dialogue = dialogue()
        _ = dialogue.takeOutput()
        _ = try say(info, to: &dialogue)
        let challenge = "250 AUTHCHALLENGE SERVERHASH=\(clientProof) SERVERNONCE=\(Hex.encode(serverNonce))\r\n"
        XCTAssertThrowsError(try say(challenge, to: &dialogue)) {
            XCTAssertEqual($0 as? TorControlFault, .refused("it does not know its own cookie"))
        }
        XCTAssertEqual(dialogue.takeOutput(), [])
    }

    func testACookieNamedByAStrangerIsNeverSaidInClear() throws {
        let clear = "250-AUTH METHODS=COOKIE COOKIEFILE=\"/etc/secret\"\r\n250 OK\r\n"
        var stranger = dialogue()
        _ = stranger.takeOutput()
        XCTAssertThrowsError(try say(clear, to: &stranger)) {
            XCTAssertEqual($0 as? TorControlFault, .noMethod("COOKIE"))
        }
        XCTAssertEqual(read, [])
        var named = dialogue(cookiePath: "/run/cookie")
        _ = named.takeOutput()
        XCTAssertEqual(try say(clear, to: &named), "AUTHENTICATE \(Hex.encode(cookie))\r\n")
        XCTAssertEqual(read, ["/run/cookie"])
    }

    func testATorWithoutAuthenticationIsTakenAndOneWithAPasswordIsNamed() throws {
        var open = dialogue()
        _ = open.takeOutput()
        XCTAssertEqual(try say("250-AUTH METHODS=NULL\r\n250 OK\r\n", to: &open), "AUTHENTICATE\r\n")
        var locked = dialogue()
        XCTAssertThrowsError(try say("250-AUTH METHODS=HASHEDPASSWORD\r\n250 OK\r\n", to: &locked)) {
            XCTAssertEqual($0 as? TorControlFault, .noMethod("HASHEDPASSWORD"))
        }
    }

    func testRefusalsAndUnaskedAnswersEndTheConversation() throws {
        var refused = dialogue()
        _ = try say(info, to: &refused)
        XCTAssertThrowsError(try say("515 Authentication failed\r\n", to: &refused)) {
            XCTAssertEqual($0 as? TorControlFault, .refused("515 Authentication failed"))
        }
        var unasked = try readingDialogue()
        _ = try say("250 OK\r\n", to: &unasked)
        XCTAssertThrowsError(try say("250 OK\r\n", to: &unasked))
        var stranger = dialogue()
        XCTAssertThrowsError(try say("HTTP/1.0 400 Bad\r\n", to: &stranger)) {
            XCTAssertEqual($0 as? TorControlFault, .malformed("a line is no reply"))
        }
    }

    func testEventsBeforeTheProofCountForNothing() throws {
        var dialogue = dialogue()
        _ = try say("650 STATUS_CLIENT NOTICE BOOTSTRAP PROGRESS=100 TAG=done SUMMARY=\"Done\"\r\n", to: &dialogue)
        XCTAssertEqual(observations(&dialogue), [])
    }

    func testASilentTorIsAskedAndThenGivenUp() throws {
        var dialogue = try readingDialogue()
        XCTAssertEqual(dialogue.nextDeadline, start + TorLimits.answerTimeout)
        XCTAssertThrowsError(try dialogue.timeout(at: start + TorLimits.answerTimeout)) {
            XCTAssertEqual($0 as? TorControlFault, .silent)
        }
        dialogue = try readingDialogue()
        _ = try say("250 OK\r\n", to: &dialogue)
        XCTAssertEqual(dialogue.nextDeadline, start + TorLimits.heartbeat)
        try dialogue.timeout(at: start + TorLimits.heartbeat)
        XCTAssertTrue(String(decoding: dialogue.takeOutput(), as: UTF8.self).hasPrefix("GETINFO"))
        XCTAssertEqual(dialogue.nextDeadline, start + TorLimits.heartbeat + TorLimits.answerTimeout)
    }

    func testAFloodOfEventsLeavesTheLoopBetweenTurns() throws {
        var dialogue = try readingDialogue()
        _ = try say("250 OK\r\n", to: &dialogue)
        let event = Array("650 STATUS_CLIENT NOTICE CIRCUIT_ESTABLISHED\r\n".utf8)
        var bytes = Array(repeatElement(event, count: TorLimits.repliesPerTurn + 1).joined())[...]
        XCTAssertFalse(try dialogue.receive(&bytes, at: start))
        XCTAssertEqual(bytes.count, event.count)
    }
}
