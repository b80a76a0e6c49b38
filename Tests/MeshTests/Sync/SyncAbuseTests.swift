import Basics
import Crypto
import Wire
import XCTest

@testable import Mesh

/// Hostile requests draw no byte; hostile answers change nothing (chapter 04 §7.1, §8.2, traps T10, T12, T18).
final class SyncAbuseTests: XCTestCase {
    private let attacker = ScriptedPeer(seed: 66, capabilities: ScriptedPeer.iPhone)
    private let author = ScriptedPeer(seed: 7, capabilities: ScriptedPeer.iPhone)

    /// A node with 50 messages, met by author and attacker, and quiet.
    private func storied() throws -> (node: NodeHarness, link: LinkID, authorLink: LinkID) {
        let node = NodeHarness()
        let authorLink = try node.meet(author)
        for number in 0..<50 { node.receive(try author.message("number \(number)", at: node.now), on: authorLink) }
        XCTAssertEqual(node.node.historyCount, 50)
        let link = try node.meet(attacker)
        node.advance(by: .seconds(5))
        node.clearSent()
        return (node, link, authorLink)
    }

    private func settle(_ node: NodeHarness) -> Int {
        node.advance(by: .seconds(20))
        return node.answers.reduce(0) { $0 + $1.frame.bytes.count }
    }

    func testGenuineRequestIsAnswered() throws {
        let (node, link, _) = try storied()
        node.receive(try attacker.request(to: node.me, at: node.now), on: link)
        XCTAssertGreaterThan(settle(node), 5_000)
    }

    func testUnsignedRequestDrawsNothing() throws {
        let (node, link, _) = try storied()
        node.receive(try attacker.request(to: node.me, at: node.now, isSigned: false), on: link)
        XCTAssertEqual(settle(node), 0)
        XCTAssertEqual(node.drops(.badSignature), 1)
    }

    func testForgedRequestDrawsNothingAndDoesNotShadowTheGenuineOne() throws {
        let (node, link, _) = try storied()
        let genuine = try attacker.request(to: node.me, at: node.now)
        var bytes = genuine.bytes
        bytes[bytes.count - 1] ^= 1
        node.receive(bytes, on: link)
        XCTAssertEqual(settle(node), 0)
        node.receive(genuine, on: link)
        XCTAssertGreaterThan(settle(node), 0)
    }

    func testRequestWithAnyOtherTTLDrawsNothingAndGoesNowhere() throws {
        let (node, link, _) = try storied()
        for ttl: UInt8 in [1, 2, 7, 255] {
            node.receive(try attacker.request(to: node.me, at: node.now, age: Int64(ttl), ttl: ttl), on: link)
        }
        XCTAssertEqual(settle(node), 0)
        XCTAssertTrue(node.frames(.requestSync).allSatisfy { $0.frame.senderID == node.me }, "never relayed")
    }

    func testRequestOnAnUnboundLinkDrawsNothing() throws {
        let (node, _, _) = try storied()
        let unbound = node.addLink()
        node.receive(try attacker.request(to: node.me, at: node.now), on: unbound)
        XCTAssertEqual(settle(node), 0)
        XCTAssertEqual(node.drops(.syncRequestRefused), 1)
    }

    func testRequestInAnothersNameDrawsNothing() throws {
        let (node, link, _) = try storied()
        node.receive(try author.request(to: node.me, at: node.now), on: link)
        XCTAssertEqual(settle(node), 0)
        XCTAssertEqual(node.drops(.senderMismatch), 1)
    }

    func testRequestToSomebodyElseIsIgnoredAndOneToEverybodyIsNot() throws {
        let (node, link, _) = try storied()
        node.receive(try attacker.request(to: author.id, at: node.now), on: link)
        XCTAssertEqual(settle(node), 0)
        XCTAssertTrue(node.frames(.requestSync).allSatisfy { $0.frame.senderID == node.me }, "never passed on")
        node.receive(try attacker.request(to: nil, at: node.now), on: link)
        XCTAssertGreaterThan(settle(node), 0)
    }

    func testRequestOfAPeerNobodyAnnouncedDrawsNothing() throws {
        let (node, _, _) = try storied()
        let stranger = ScriptedPeer(seed: 99)
        let link = node.addLink()
        var announce = try stranger.announce(at: node.now).bytes
        announce[announce.count - 1] ^= 1
        node.receive(announce, on: link)
        node.receive(try stranger.request(to: node.me, at: node.now), on: link)
        XCTAssertEqual(settle(node), 0)
        XCTAssertEqual(node.drops(.syncRequestRefused), 1, "an announce that does not verify binds no link")
    }

    func testReplayedRequestDrawsNothing() throws {
        let (node, link, _) = try storied()
        let request = try attacker.request(to: node.me, at: node.now)
        node.receive(request, on: link)
        XCTAssertGreaterThan(settle(node), 0)
        node.clearSent()
        node.receive(request, on: link)
        node.advance(by: .seconds(60))
        node.clearSent()
        node.receive(request, on: link)
        XCTAssertEqual(settle(node), 0)
        // Once the duplicate filter has forgotten it, the clock refuses it.
        node.advance(by: .seconds(400))
        node.receive(try attacker.announce(at: node.now), on: link)
        node.clearSent()
        node.receive(request, on: link)
        XCTAssertEqual(settle(node), 0)
    }

    func testRequestOffTheClockDrawsNothing() throws {
        let (node, link, _) = try storied()
        for age: Int64 in [120_001, -120_001] {
            node.receive(try attacker.request(to: node.me, at: node.now, age: age), on: link)
        }
        XCTAssertEqual(settle(node), 0)
    }

    func testOnlyEightRequestsInThirtySecondsCount() throws {
        let (node, link, _) = try storied()
        for number in 0..<12 {
            node.receive(try attacker.request(.message, to: node.me, at: node.now, age: Int64(number)), on: link)
        }
        XCTAssertEqual(node.node.counts[.syncRequestsAnswered], 8)
        XCTAssertEqual(node.drops(.syncRequestLimit), 4)
        _ = settle(node)
        XCTAssertEqual(node.answers.count, 50, "and each packet went out once")
    }

    func testUndecodableRequestDrawsNothing() throws {
        let (node, link, _) = try storied()
        for payload in [[], [1, 0, 1, 7], [1, 0, 1, 0, 2, 0, 4, 0, 0, 0, 1, 3, 0, 0], [3, 0xff, 0xff]] as [[UInt8]] {
            node.receive(
                try attacker.frame(.requestSync, payload, at: node.now, ttl: 0, recipient: node.me), on: link)
        }
        XCTAssertEqual(settle(node), 0)
        XCTAssertEqual(node.drops(.malformedPayload), 4)
    }

    func testRequestMarkedAsAnAnswerIsNone() throws {
        let (node, link, _) = try storied()
        var request = try attacker.request(to: node.me, at: node.now)
        request.setSyncResponse(true)
        node.receive(request, on: link)
        XCTAssertEqual(settle(node), 0)
        XCTAssertEqual(node.drops(.syncAnswerRefused), 1)
    }

    func testOldRequestIsNoLegacyAnswer() throws {
        let (node, link, _) = try storied()
        // We have asked the attacker, so TTL 0 alone might look like an answer of Android's.
        XCTAssertFalse(node.node.gate.syncRequests.open(for: attacker.id, at: node.now.monotonic).isEmpty)
        node.receive(try attacker.request(to: node.me, at: node.now, age: 3_600_000), on: link)
        XCTAssertEqual(settle(node), 0)
        XCTAssertEqual(node.drops(.clockSkew), 1)
    }

    // MARK: Answers

    private let hour: Int64 = 3_600_000

    func testUnsolicitedAnswerChangesNothing() throws {
        let node = NodeHarness()
        let link = node.addLink()
        node.receive(try author.announce(at: node.now), on: link)
        // The initial request goes out after a second; before it, nobody was asked.
        node.receive(try author.message("old", at: node.now, age: hour, ttl: 0, isAnswer: true), on: link)
        XCTAssertEqual(node.node.historyCount, 0)
        XCTAssertTrue(node.heard.isEmpty)
        XCTAssertEqual(node.drops(.unaskedSyncAnswer), 1)
        node.advance(by: .milliseconds(1_100))
        node.receive(try author.message("old", at: node.now, age: hour, ttl: 0, isAnswer: true), on: link)
        XCTAssertEqual(node.heard.map(\.text), ["old"])
        XCTAssertEqual(node.heard.map(\.isReplay), [true])
    }

    func testLateAnswerChangesNothing() throws {
        let (node, link, _) = try storied()
        node.call { mesh, _ in mesh.gate.syncRequests.removeAll() }
        node.receive(try author.message("old", at: node.now, age: hour, ttl: 0, isAnswer: true), on: link)
        XCTAssertEqual(node.drops(.unaskedSyncAnswer), 1)
        XCTAssertEqual(node.node.historyCount, 50)
    }

    func testAnswerOfATypeNotAskedForChangesNothing() throws {
        let (node, link, _) = try storied()
        node.call { mesh, now in
            mesh.gate.syncRequests.removeAll()
            mesh.gate.syncRequests.noteRequest(to: self.attacker.id, types: .fragment, at: now.monotonic)
        }
        node.receive(try author.message("old", at: node.now, age: hour, ttl: 0, isAnswer: true), on: link)
        XCTAssertEqual(node.drops(.unaskedSyncAnswer), 1)
    }

    func testAnswerOnAnUnboundLinkChangesNothing() throws {
        let (node, _, _) = try storied()
        let unbound = node.addLink()
        node.receive(try author.message("old", at: node.now, age: hour, ttl: 0, isAnswer: true), on: unbound)
        XCTAssertEqual(node.drops(.unaskedSyncAnswer), 1)
        XCTAssertEqual(node.node.historyCount, 50)
    }

    func testReplayedGoodbyeMarkedAsAnAnswerEvictsNobody() throws {
        let (node, link, authorLink) = try storied()
        for (age, from) in [(hour, link), (hour, authorLink), (Int64(1_000), link)] {
            node.receive(
                try author.frame(.leave, [], at: node.now, age: age, ttl: 0, isAnswer: true), on: from)
        }
        XCTAssertEqual(node.drops(.syncAnswerRefused), 3)
        XCTAssertNotNil(node.node.peer(author.id, at: node.now))
        XCTAssertEqual(node.node.historyCount, 50)
    }

    func testForgedAnswerIsNeitherHeardNorStoredNorServed() throws {
        let (node, link, _) = try storied()
        var bytes = try author.message("lies", at: node.now, age: hour, ttl: 0, isAnswer: true).bytes
        bytes[bytes.count - 1] ^= 1
        node.receive(bytes, on: link)
        let unsigned = try author.frame(
            .message, Array("lies".utf8), at: node.now, age: hour, ttl: 0, isAnswer: true, isSigned: false)
        node.receive(unsigned, on: link)
        let stranger = ScriptedPeer(seed: 1_234)
        node.receive(try stranger.message("who", at: node.now, age: hour, ttl: 0, isAnswer: true), on: link)
        XCTAssertTrue(node.heard.allSatisfy { $0.text.hasPrefix("number") })
        XCTAssertEqual(node.node.historyCount, 50)
    }

    func testAnswerFromTheFutureChangesNothing() throws {
        let (node, link, _) = try storied()
        node.receive(try author.message("soon", at: node.now, age: -365 * 24 * hour, ttl: 0, isAnswer: true), on: link)
        XCTAssertEqual(node.node.historyCount, 50)
    }

    func testAnswersAreNeverRelayed() throws {
        let (node, link, _) = try storied()
        node.receive(try author.message("old", at: node.now, age: hour, ttl: 0, isAnswer: true), on: link)
        XCTAssertEqual(node.heard.last?.text, "old")
        node.advance(by: .seconds(2))
        XCTAssertTrue(node.frames(.message).isEmpty)
    }

    func testOwnMessageOfferedBackIsKeptButNoNews() throws {
        let (node, link, _) = try storied()
        let own = ScriptedPeerOf(node)
        node.receive(try own.message("mine", at: node.now, age: hour), on: link)
        XCTAssertEqual(node.node.historyCount, 51)
        XCTAssertFalse(node.heard.contains { $0.text == "mine" })
        var bytes = try own.message("not mine", at: node.now, age: hour).bytes
        bytes[bytes.count - 1] ^= 1
        node.receive(bytes, on: link)
        XCTAssertEqual(node.node.historyCount, 51)
        node.advance(by: .seconds(2))
        XCTAssertTrue(node.frames(.message).isEmpty, "and nothing to relay")
    }

    func testMessageIsHeardOnceHoweverOftenItIsOffered() throws {
        let (node, link, authorLink) = try storied()
        let old = try author.message("old", at: node.now, age: hour, ttl: 0, isAnswer: true)
        for _ in 0..<20 {
            node.receive(old, on: link)
            node.advance(by: .seconds(30))
            // Both stay around.
            node.receive(try attacker.announce(at: node.now), on: link)
            node.receive(try author.announce(at: node.now), on: authorLink)
        }
        XCTAssertEqual(node.heard.filter { $0.text == "old" }.count, 1)
    }
}

/// Signs as the node under test does, as a neighbour would offer its packets back.
private struct ScriptedPeerOf {
    let identity: NodeIdentity

    init(_ harness: NodeHarness) { identity = harness.identity }

    func message(_ text: String, at now: Now, age: Int64) throws -> Frame {
        var packet = Packet(
            type: .message, timestamp: WallTime(milliseconds: now.wall.milliseconds - UInt64(age)),
            senderID: identity.peerID, payload: Array(text.utf8))
        try identity.sign(&packet)
        packet.ttl = 0
        packet.isSyncResponse = true
        return try Frame(packet.encoded())
    }
}
