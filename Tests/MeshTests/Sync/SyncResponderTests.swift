import Basics
import Crypto
import Wire
import XCTest

@testable import Mesh

/// Chapter 04 §7.2, §7.3, §15 and traps T1, T5, T18, T19.
final class SyncResponderTests: XCTestCase {
    private let author = ScriptedPeer(seed: 7, capabilities: ScriptedPeer.iPhone)
    private let asker = ScriptedPeer(seed: 8, capabilities: ScriptedPeer.iPhone)

    /// A node that heard `count` messages `age` ms ago, and then met the asker.
    private func storied(
        _ count: Int, age: Int64 = 10_000, text: String = "message", frameLimit: Int = 512
    ) throws -> (node: NodeHarness, link: LinkID, frames: [Frame]) {
        let node = NodeHarness()
        let authorLink = try node.meet(author)
        var frames: [Frame] = []
        for number in 0..<count {
            if number % 100 == 99 { node.advance(by: .seconds(3)) }
            frames.append(
                try author.message("\(text) \(number)", at: node.now, age: min(age, 119_000) + Int64(number)))
            node.receive(frames[number], on: authorLink)
        }
        XCTAssertEqual(node.node.historyCount, count)
        node.advance(by: .seconds(4))
        node.receive(try author.announce(at: node.now), on: authorLink)
        let link = try node.meet(asker, frameLimit: frameLimit)
        node.advance(by: .seconds(3))
        node.clearSent()
        return (node, link, frames)
    }

    private func answered(_ node: NodeHarness, _ type: MessageType = .message) -> [Frame] {
        node.answers.filter { $0.frame.type == type }.map(\.frame)
    }

    func testAnswersAreTheReceivedFramesFlaggedWithTTLZeroOnTheAskersLinkOnly() throws {
        let (node, link, frames) = try storied(5)
        node.receive(try asker.request(to: node.me, at: node.now), on: link)
        node.advance(by: .seconds(2))
        XCTAssertTrue(node.answers.allSatisfy { $0.link == link && $0.frame.ttl == 0 && $0.priority == .low })
        let served = answered(node)
        XCTAssertEqual(served.map(\.id), frames.map(\.id))
        for (sent, received) in zip(served, frames) {
            XCTAssertEqual(sent.bytes.indices.filter { sent.bytes[$0] != received.bytes[$0] }, [2, 11])
            XCTAssertNil(sent.recipientID, "addressed by the link alone")
            XCTAssertNotNil(VerifiedFrame(verifying: sent, under: author.identity.signing.publicKey))
        }
        let announces = node.answers.filter { $0.frame.type == .announce }.map(\.frame.senderID)
        XCTAssertTrue(announces.contains(author.id))
        XCTAssertTrue(announces.contains(node.me), "our own is among them")
        XCTAssertEqual(node.answers.first?.frame.type, .announce, "keys come before what they verify")
    }

    func testOwnMessagesAreServedToo() throws {
        let (node, link, _) = try storied(0)
        node.call { $0.say("hello from the gate", at: $1) }
        node.receive(try asker.request(.message, to: node.me, at: node.now), on: link)
        node.advance(by: .seconds(1))
        XCTAssertEqual(answered(node).map(\.senderID), [node.me])
    }

    func testWhatTheFilterNamesIsNotSent() throws {
        let (node, link, frames) = try storied(6)
        node.receive(
            try asker.request(.message, to: node.me, at: node.now, holding: Array(frames.prefix(4))), on: link)
        node.advance(by: .seconds(2))
        XCTAssertEqual(answered(node).map(\.id), frames.suffix(2).map(\.id))
    }

    func testPacketIsNotEchoedToWhomItWasJustHeardFrom() throws {
        let (node, link, _) = try storied(0)
        node.receive(try author.message("through the asker", at: node.now, ttl: 6), on: link)
        node.receive(try asker.request(.message, to: node.me, at: node.now), on: link)
        node.advance(by: .seconds(2))
        XCTAssertTrue(answered(node).isEmpty)
        node.advance(by: .seconds(2))
        node.receive(try asker.request(.message, to: node.me, at: node.now), on: link)
        node.advance(by: .seconds(1))
        XCTAssertEqual(answered(node).count, 1)
    }

    // MARK: Android

    func testRequesterWithoutTypesGetsAnnouncesAndTheMessagesTheyExplain() throws {
        let (node, link, frames) = try storied(3)
        node.receive(try asker.request(nil, to: nil, at: node.now), on: link)
        node.advance(by: .seconds(2))
        XCTAssertEqual(answered(node).map(\.id), frames.map(\.id))
        XCTAssertFalse(answered(node, .announce).isEmpty)

        // The author goes silent: a phone that is told of nobody would drop what it said.
        node.advance(by: .seconds(61))
        node.receive(try asker.announce(at: node.now), on: link)
        node.clearSent()
        node.receive(try asker.request(nil, to: nil, at: node.now), on: link)
        node.advance(by: .seconds(2))
        XCTAssertTrue(answered(node).isEmpty)
        node.receive(try asker.request([.announce, .message], to: nil, at: node.now), on: link)
        node.advance(by: .seconds(2))
        XCTAssertEqual(answered(node).count, 3, "who names types keeps what authors said who have left")
        XCTAssertFalse(answered(node, .announce).contains { $0.senderID == author.id })
    }

    // MARK: Pacing

    func testFramesLeaveOneEveryTwentyMilliseconds() throws {
        let (node, link, _) = try storied(50)
        node.receive(try asker.request(.message, to: node.me, at: node.now), on: link)
        let asked = node.now.monotonic
        node.advance(by: .seconds(5))
        let times = node.answers.map { ($0.at - asked).milliseconds }
        XCTAssertEqual(times.count, 50)
        for (a, b) in zip(times, times.dropFirst()) { XCTAssertTrue((20...30).contains(b - a), "\(b - a)") }
    }

    func testAnswerMakesRoomForLiveTraffic() throws {
        let (node, link, _) = try storied(20)
        node.receive(try asker.request(.message, to: node.me, at: node.now), on: link)
        let asked = node.now.monotonic
        node.advance(by: .milliseconds(110))
        node.call { $0.say("live", at: $1) }
        node.advance(by: .seconds(2))
        let times = node.answers.map { ($0.at - asked).milliseconds }
        XCTAssertEqual(times.prefix(8), [0, 20, 40, 60, 80, 100, 130, 150])
    }

    func testAnswerStopsThirtySecondsAfterTheRequest() throws {
        let (node, link, _) = try storied(0)
        for number in 0..<900 {
            let payload = GossipSamples.numbered(number) + [UInt8](repeating: 3, count: 10)
            node.call { mesh, _ in
                guard let frame = try? self.author.frame(.message, payload, at: node.now, age: Int64(number)) else {
                    return
                }
                mesh.tellFeatures(.publishable(frame, heardFrom: nil))
            }
        }
        XCTAssertEqual(node.node.historyCount, 900)
        node.receive(try asker.request(.message, to: node.me, at: node.now), on: link)
        let asked = node.now.monotonic
        // A loop that is held up sends one frame when it comes back, not those it missed.
        for _ in 0..<700 {
            node.stall(.milliseconds(49))
            node.advance(by: .milliseconds(1))
        }
        let last = try XCTUnwrap(node.answers.last)
        XCTAssertLessThanOrEqual(last.at - asked, .seconds(30))
        XCTAssertLessThan(node.answers.count, 900)
        XCTAssertGreaterThan(node.answers.count, 100)
    }

    func testAnswerEndsWithItsLink() throws {
        let (node, link, _) = try storied(50)
        node.receive(try asker.request(.message, to: node.me, at: node.now), on: link)
        node.advance(by: .milliseconds(100))
        node.call { $0.linkDown(link, at: $1) }
        node.clearSent()
        node.advance(by: .seconds(2))
        XCTAssertTrue(node.answers.isEmpty)
    }

    // MARK: Repetition

    func testSamePacketIsServedAgainOnlyAfterGrowingPauses() throws {
        let (node, link, _) = try storied(1)
        var served: [Int64] = []
        let begin = node.now.monotonic
        for second in 0..<1_900 {
            if second % 10 == 0 {
                node.receive(try asker.announce(at: node.now), on: link)
                node.receive(try asker.request(.message, to: node.me, at: node.now), on: link)
            }
            node.advance(by: .seconds(1))
            served += answered(node).map { _ in (node.now.monotonic - begin).milliseconds / 1_000 }
            node.clearSent()
        }
        XCTAssertEqual(served, [1, 31, 151, 751, 1_351])
    }

    func testMessagesOfAnAuthorWhoIsBackAreServedAgainAtOnce() throws {
        let node = NodeHarness()
        let author = ScriptedPeer(seed: 21)
        let newcomer = ScriptedPeer(seed: 22, capabilities: ScriptedPeer.iPhone)
        let authorLink = try node.meet(author)
        node.receive(try author.message("before you came", at: node.now), on: authorLink)
        node.call { $0.linkDown(authorLink, at: $1) }
        node.advance(by: .minutes(3))
        XCTAssertNil(node.node.peer(author.id, at: node.now))
        let link = try node.meet(newcomer)
        func served() throws -> Int {
            node.clearSent()
            node.receive(try newcomer.announce(at: node.now), on: link)
            node.receive(try newcomer.request(to: node.me, at: node.now), on: link)
            node.advance(by: .seconds(30))
            return node.answers.filter { $0.frame.type == .message }.count
        }
        // It cannot verify the message and so never names it: after two times the pauses grow.
        XCTAssertEqual(try (0..<4).map { _ in try served() }, [1, 1, 0, 0])
        node.receive(try author.announce(at: node.now, ttl: 5), on: link)
        XCTAssertEqual(try served(), 1)
        for _ in 0..<3 {
            node.receive(try author.announce(at: node.now, ttl: 5), on: link)
            XCTAssertEqual(try served(), 0, "but once for each time it comes back")
        }
    }

    func testAnnouncesAreExemptFromPauses() throws {
        let (node, link, _) = try storied(0)
        for _ in 0..<3 {
            node.clearSent()
            node.receive(try asker.request(.announce, to: node.me, at: node.now), on: link)
            node.advance(by: .seconds(2))
            XCTAssertTrue(answered(node, .announce).contains { $0.senderID == node.me })
        }
    }

    // MARK: Packets longer than a frame (T5)

    private let long = String(repeating: "a long story, told at the gate; ", count: 3)

    private func inner(_ fragments: [Frame]) throws -> Frame {
        var assembler = FragmentAssembler()
        for fragment in fragments {
            let outcome = try fragment.withView { view in
                try view.withPayload { payload in
                    let header = try XCTUnwrap(FragmentHeader(payload: payload))
                    return assembler.add(
                        header, slice: FragmentHeader.slice(of: payload), sender: fragment.senderID,
                        link: LinkID(value: 1), at: .zero)
                }
            }
            if case .complete(let bytes)? = outcome { return try Frame(bytes) }
        }
        throw FrameRejection.allCases[0]
    }

    func testLongAnswerIsCutForTheAskerWithTheFlagOnEveryFragment() throws {
        let (node, link, frames) = try storied(1, text: long, frameLimit: 150)
        node.receive(try asker.request(.message, to: node.me, at: node.now), on: link)
        node.advance(by: .seconds(2))
        let fragments = answered(node, .fragment)
        XCTAssertGreaterThan(fragments.count, 1)
        for fragment in fragments {
            XCTAssertEqual(fragment.senderID, author.id)
            XCTAssertEqual(fragment.timestamp, frames[0].timestamp)
            XCTAssertEqual(fragment.recipientID, asker.id)
            XCTAssertEqual(fragment.ttl, 0)
            XCTAssertTrue(fragment.isSyncResponse)
            XCTAssertLessThanOrEqual(fragment.bytes.count, 150)
        }
        let young = try inner(fragments)
        XCTAssertFalse(young.isSyncResponse, "a phone would judge the flag by the author")
        XCTAssertEqual(young.ttl, 0)
        XCTAssertEqual(young.id, frames[0].id)
        XCTAssertNotNil(VerifiedFrame(verifying: young, under: author.identity.signing.publicKey))
    }

    func testOldLongAnswerCarriesTheFlagInsideAndIsTriedRarely() throws {
        let (node, link, frames) = try storied(1, age: 119_000, text: long, frameLimit: 150)
        func ask() throws -> [Frame] {
            node.clearSent()
            node.receive(try asker.announce(at: node.now), on: link)
            node.receive(try asker.request(.message, to: node.me, at: node.now), on: link)
            node.advance(by: .seconds(2))
            return answered(node, .fragment)
        }
        let old = try inner(ask())
        XCTAssertTrue(old.isSyncResponse)
        XCTAssertEqual(old.id, frames[0].id)
        node.advance(by: .seconds(40))
        XCTAssertTrue(try ask().isEmpty)
        for _ in 0..<14 {
            node.advance(by: .seconds(40))
            node.receive(try asker.announce(at: node.now), on: link)
        }
        XCTAssertFalse(try ask().isEmpty)
    }

    func testLinkTooSmallForFragmentsGetsNothingAndHoldsNothingUp() throws {
        let (node, link, _) = try storied(3, frameLimit: 90)
        node.receive(try asker.request(.message, to: node.me, at: node.now), on: link)
        node.advance(by: .seconds(2))
        XCTAssertTrue(node.answers.isEmpty)
        XCTAssertEqual(node.drops(.frameTooLong) >= 3, true)
    }

    func testStoredFragmentsGoAsTheyAre() throws {
        let (node, link, _) = try storied(0)
        let fragment = try author.frame(
            .fragment, GossipSamples.fragment(stream: 5), at: node.now, ttl: 4, isSigned: false)
        node.receive(fragment, on: try node.meet(author))
        node.advance(by: .seconds(4))
        node.receive(try asker.request(.fragment, to: node.me, at: node.now), on: link)
        node.advance(by: .seconds(1))
        let served = try XCTUnwrap(answered(node, .fragment).first)
        XCTAssertEqual(served.bytes.indices.filter { served.bytes[$0] != fragment.bytes[$0] }, [2, 11])
    }
}
