import Basics
import Crypto
import Wire
import XCTest

@testable import Messenger

final class ConversationTests: XCTestCase {
    private let table = Table()

    func testAMessageWaitsForTheSessionAndReportsEachStep() throws {
        let (anna, bob) = (try table.seat("anna", 1), try table.seat("bob", 2))
        try table.does { try anna.messenger.say("hello", to: bob.peer, at: $0) }
        XCTAssertEqual(
            anna.news(),
            [
                .outgoing(number: 1, to: bob.peer, text: "hello"), .delivery(number: 1, to: bob.peer, .sending),
                .delivery(number: 1, to: bob.peer, .sent), .delivery(number: 1, to: bob.peer, .delivered),
                .delivery(number: 1, to: bob.peer, .read),
            ])
        XCTAssertEqual(bob.news(), [.message(from: anna.peer, isVerified: false, text: "hello")])
        XCTAssertEqual(anna.messenger.undelivered, 0)
    }

    func testNobodyIsWrittenToWhoWasNeverMet() throws {
        let (anna, bob) = (try table.seat("anna", 1), try table.seat("bob", 2))
        table.separate(anna, bob)
        XCTAssertThrowsError(try anna.messenger.say("hello", to: bob.peer, at: table.now)) {
            XCTAssertEqual($0 as? MessengerRefusal, .unknownPeer)
        }
    }

    func testAMessageLostWithItsSessionIsSentAgainInTheNextOnce() throws {
        let (anna, bob) = (try table.seat("anna", 1), try table.seat("bob", 2))
        table.losing = [.privateMessage]
        try table.does { try anna.messenger.say("hello", to: bob.peer, at: $0) }
        XCTAssertEqual(states(anna.news()), [.sending, .sent])
        XCTAssertEqual(anna.messenger.undelivered, 1)
        table.losing = []
        table.renew(anna, bob)
        XCTAssertEqual(states(anna.news()), [.delivered, .read])
        XCTAssertEqual(texts(bob.news()), ["hello"])
        table.renew(anna, bob)
        XCTAssertEqual(bob.news(), [])
    }

    func testARepeatedMessageIsAcknowledgedAgainAndShownOnce() throws {
        let (anna, bob) = (try table.seat("anna", 1), try table.seat("bob", 2))
        table.losing = [.delivered, .readReceipt]
        try table.does { try anna.messenger.say("hello", to: bob.peer, at: $0) }
        table.losing = []
        table.renew(anna, bob)
        XCTAssertEqual(texts(bob.news()), ["hello"])
        XCTAssertEqual(states(anna.news()), [.sending, .sent, .delivered])
        XCTAssertEqual(bob.messenger.drops[.repeated], 1)
    }

    func testAMessageIsGivenUpAfterEightSessionsOrADay() throws {
        let (anna, bob) = (try table.seat("anna", 1), try table.seat("bob", 2))
        table.losing = [.privateMessage]
        try table.does { try anna.messenger.say("hello", to: bob.peer, at: $0) }
        for _ in 0..<7 { table.renew(anna, bob) }
        XCTAssertEqual(states(anna.news()), [.sending, .sent])
        table.renew(anna, bob)
        XCTAssertEqual(states(anna.news()), [.failed(.unanswered)])
        try table.does { try anna.messenger.say("again", to: bob.peer, at: $0) }
        table.pass(.hours(24))
        table.pass(.seconds(120))
        XCTAssertEqual(states(anna.news()), [.sent, .failed(.expired)])
        XCTAssertEqual(anna.messenger.undelivered, 0)
        XCTAssertNil(anna.messenger.nextDeadline)
    }

    func testThePersonIsToldOnceThatMessagesWait() throws {
        let (anna, bob) = (try table.seat("anna", 1), try table.seat("bob", 2))
        table.renew(anna, bob)
        anna.messenger.lost(bob.peer)
        anna.messenger.sessionLost(with: bob.peer, at: table.now)
        XCTAssertEqual(anna.news(), [])
        anna.messenger.met(bob.acquaintance, at: table.now)
        table.separate(anna, bob)
        anna.messenger.met(bob.acquaintance, at: table.now)
        try table.does { try anna.messenger.say("one", to: bob.peer, at: $0) }
        try table.does { try anna.messenger.say("two", to: bob.peer, at: $0) }
        XCTAssertEqual(anna.news().filter { $0 == .waiting(for: bob.peer) }.count, 1)
        XCTAssertEqual(anna.messenger.undelivered, 2)
        table.join(anna, bob)
        XCTAssertEqual(states(anna.news()), [.sent, .sent, .delivered, .read, .delivered, .read])
        XCTAssertEqual(texts(bob.news()), ["one", "two"])
    }

    func testWhatComesBackUnsentIsSentAgainAndCostsNoAttempt() throws {
        let (anna, bob) = (try table.seat("anna", 1), try table.seat("bob", 2))
        for _ in 0..<20 {
            // The session ended, and only its other end knows.
            anna.messenger.sessionEstablished(with: bob.peer, fingerprint: bob.identity.fingerprint, at: table.now)
            if anna.messenger.undelivered == 0 {
                try table.does { try anna.messenger.say("hello", to: bob.peer, at: $0) }
            }
            table.settle()
        }
        XCTAssertEqual(anna.messenger.undelivered, 1)
        table.renew(anna, bob)
        XCTAssertEqual(states(anna.news()), [.sent, .delivered, .read])
        XCTAssertEqual(texts(bob.news()), ["hello"])
    }

    func testReceiptsOfOthersAndForNothingChangeNothing() throws {
        let (anna, bob, eve) = (try table.seat("anna", 1), try table.seat("bob", 2), try table.seat("eve", 3))
        table.losing = [.delivered, .readReceipt]
        try table.does { try anna.messenger.say("hello", to: bob.peer, at: $0) }
        let body = try XCTUnwrap(PrivateMessage(body: XCTUnwrap(anna.sent.last).payload.body))
        _ = anna.news()
        for payload in [NoisePayload.delivered(messageID: body.messageID), .readReceipt(messageID: body.messageID)] {
            table.does {
                anna.messenger.take(payload, from: eve.peer, fingerprint: eve.identity.fingerprint, at: $0)
            }
        }
        table.does {
            anna.messenger.take(
                .delivered(messageID: "other"), from: bob.peer, fingerprint: bob.identity.fingerprint, at: $0)
        }
        XCTAssertEqual(anna.news(), [])
        XCTAssertEqual(anna.messenger.drops[.unknownReceipt], 3)
    }

    func testADeliveredReceiptAfterTheReadOneIsStale() throws {
        let (anna, bob) = (try table.seat("anna", 1), try table.seat("bob", 2))
        table.losing = [.delivered]
        try table.does { try anna.messenger.say("hello", to: bob.peer, at: $0) }
        XCTAssertEqual(states(anna.news()), [.sending, .sent, .read])
        table.losing = []
        table.renew(anna, bob)
        XCTAssertEqual(states(anna.news()), [])
    }

    func testALongTextGoesAsSeveralMessagesCutBetweenCharacters() throws {
        let (anna, bob) = (try table.seat("anna", 1), try table.seat("bob", 2))
        let text = String(repeating: "é", count: 200) + String(repeating: "👨‍👩‍👧", count: 30)
        try table.does { try anna.messenger.say(text, to: bob.peer, at: $0) }
        let heard = texts(bob.news())
        XCTAssertEqual(heard.joined(), text)
        XCTAssertTrue(heard.allSatisfy { $0.utf8.count <= 255 })
        XCTAssertEqual(heard.count, 4)
        XCTAssertThrowsError(
            try anna.messenger.say(String(repeating: "x", count: 255 * 16 + 1), to: bob.peer, at: table.now)
        ) { XCTAssertEqual($0 as? MessengerRefusal, .tooLong) }
        // One character that no message holds.
        let zalgo = "a" + String(repeating: "\u{301}", count: 200)
        XCTAssertEqual(MessageText.pieces(zalgo).joined(), zalgo)
        XCTAssertTrue(MessageText.pieces(zalgo).allSatisfy { $0.utf8.count <= 255 })
    }

    func testAHundredMessagesWaitForOnePeerAndTheOldestGivesWay() throws {
        let (anna, bob) = (try table.seat("anna", 1), try table.seat("bob", 2))
        table.losing = [.privateMessage]
        for number in 1...101 { try table.does { try anna.messenger.say("\(number)", to: bob.peer, at: $0) } }
        XCTAssertEqual(
            anna.news().filter { $0 == .delivery(number: 1, to: bob.peer, .failed(.displaced)) }.count, 1)
        XCTAssertEqual(anna.messenger.undelivered, 100)
    }

    func testTheWholeOutboxIsBounded() throws {
        var outbox = Outbox()
        for number in 0..<(20 * 100) {
            let entry = Outbox.Entry(
                messageID: "\(number)", content: "x", number: number, created: .zero, writtenAt: Samples.time,
                recipient: nil)
            _ = outbox.add(entry, for: PeerID(value: UInt64(number % 20)))
        }
        XCTAssertEqual(outbox.count, MessengerLimits.outboxTotal)
    }

    func testMessageIDsAreRandomUUIDsInUpperCase() {
        var random = SeededRandom(seed: 1)
        let id = MessageText.messageID(using: &random)
        XCTAssertEqual(id.count, 36)
        XCTAssertEqual(id, id.uppercased())
        XCTAssertEqual(Array(id)[14], "4")
        XCTAssertTrue("89AB".contains(Array(id)[19]))
        XCTAssertNotEqual(MessageText.messageID(using: &random), id)
    }

    func testCertaintyOnlyGrows() {
        let rising: [DeliveryState] = [.sending, .sent, .carried, .delivered, .read]
        for (index, state) in rising.enumerated() {
            for (other, next) in rising.enumerated() { XCTAssertEqual(state.mayBecome(next), other > index) }
            XCTAssertEqual(state.mayBecome(.failed(.expired)), index < 3)
            XCTAssertTrue(DeliveryState.failed(.expired).mayBecome(state))
        }
        XCTAssertFalse(DeliveryState.failed(.expired).mayBecome(.failed(.unanswered)))
    }

    // MARK: What else comes

    private func file(_ name: String?, _ type: String?, _ content: [UInt8]) throws -> NoisePayload {
        let body = try XCTUnwrap(FileTransfer(fileName: name, mimeType: type, content: content).encoded())
        return NoisePayload(type: .privateFile, body: body)
    }

    func testAFileIsToldOfAndNeitherKeptNorAcknowledged() throws {
        let (anna, bob) = (try table.seat("anna", 1), try table.seat("bob", 2))
        table.renew(anna, bob)
        func send(_ payload: NoisePayload) {
            table.does {
                bob.messenger.take(payload, from: anna.peer, fingerprint: anna.identity.fingerprint, at: $0)
            }
        }
        let png: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1]
        send(try file("img_1.png", "image/png", png))
        send(try file("../../etc/passwd", "IMAGE/PNG", [1, 2, 3]))
        send(try file("x", "text/html", [1]))
        send(NoisePayload(type: .privateFile, body: [1, 2, 3]))
        let notices = bob.news().compactMap { event -> FileNotice? in
            if case .file(anna.peer, false, let notice) = event { notice } else { nil }
        }
        XCTAssertEqual(notices.map(\.name), ["img_1.png", "passwd"])
        XCTAssertEqual(notices.map(\.size), [9, 3])
        XCTAssertEqual(notices.map(\.isWhatItSays), [true, false])
        XCTAssertEqual(bob.messenger.drops[.refusedFile], 2)
        XCTAssertTrue(bob.sent.isEmpty)
    }

    func testMalformedAndForeignPayloadsAreCountedAndAnswerNothing() throws {
        let (anna, bob) = (try table.seat("anna", 1), try table.seat("bob", 2))
        for type in NoisePayloadType.allCases {
            for body in [[], [0xff], [0x01, 0xff, 0x00]] as [[UInt8]] {
                table.does {
                    bob.messenger.take(
                        NoisePayload(type: type, body: body), from: anna.peer,
                        fingerprint: anna.identity.fingerprint, at: $0)
                }
            }
        }
        XCTAssertEqual(bob.news(), [])
        XCTAssertTrue(bob.sent.isEmpty)
        XCTAssertGreaterThan(bob.messenger.drops[.malformed], 6)
    }
}
