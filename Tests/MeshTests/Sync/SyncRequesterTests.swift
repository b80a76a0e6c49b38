import Basics
import Crypto
import Wire
import XCTest

@testable import Mesh

/// Chapter 04 §6.1, §6.4, §6.5, decision of §15, traps T12 and T14.
final class SyncRequesterTests: XCTestCase {
    private let iPhone = ScriptedPeer(seed: 7, capabilities: ScriptedPeer.iPhone)
    private let android = ScriptedPeer(seed: 8)
    private let history: SyncTypes = [.announce, .message, .groupMessage]

    /// Keeps peers present, as their own announces would.
    private func run(
        _ node: NodeHarness, for span: Interval, _ present: [(ScriptedPeer, LinkID)]
    ) throws {
        var left = span.nanoseconds
        while left > 0 {
            let step = min(left, Interval.seconds(10).nanoseconds)
            node.advance(by: Interval(nanoseconds: step))
            left -= step
            for (peer, link) in present { node.receive(try peer.announce(at: node.now), on: link) }
        }
    }

    func testFirstRequestComesASecondAfterTheMeetingAndAsksForEverything() throws {
        let node = NodeHarness()
        node.advance(by: .seconds(3))
        let met = node.now.monotonic
        _ = try node.meet(iPhone)
        node.advance(by: .milliseconds(999))
        XCTAssertTrue(try node.requests().isEmpty)
        node.advance(by: .milliseconds(1))
        let sent = try node.requests()
        XCTAssertEqual(sent.count, 1)
        XCTAssertEqual(sent[0].at, met + .seconds(1))
        XCTAssertEqual(sent[0].request.types?.wire, [0x23, 0x07], "all but files, which are not carried")
    }

    func testRequestIsSignedUnicastAndHasTTLZero() throws {
        let node = NodeHarness()
        _ = try node.meet(iPhone)
        node.advance(by: .seconds(2))
        let frame = try XCTUnwrap(node.frames(.requestSync).first?.frame)
        XCTAssertEqual(frame.ttl, 0)
        XCTAssertEqual(frame.version, 1)
        XCTAssertEqual(frame.recipientID, iPhone.id)
        XCTAssertFalse(frame.isSyncResponse)
        XCTAssertNotNil(VerifiedFrame(verifying: frame, under: node.identity.signing.publicKey))
        XCTAssertEqual(frame.timestamp.milliseconds, node.now.wall.milliseconds - 1_000)
    }

    func testPhoneThatShowsItUnderstandsTypesIsAskedInEveryRound() throws {
        let node = NodeHarness()
        let link = try node.meet(iPhone)
        try run(node, for: .seconds(100), [(iPhone, link)])
        let rounds = try node.requests().dropFirst().map {
            ($0.at - node.now.monotonic + .seconds(100), $0.request.types)
        }
        XCTAssertEqual(
            rounds.map { $0.0.milliseconds },
            [30_000, 33_000, 36_000, 39_000, 60_000, 63_000, 90_000, 93_000, 96_000, 99_000])
        XCTAssertEqual(
            rounds.map(\.1),
            [
                history, .fragment, .prekeyBundle, .boardPost, history, .fragment, history, .fragment, .prekeyBundle,
                .boardPost,
            ])
    }

    func testPhoneThatMayIgnoreTypesIsAskedForAnnouncesAndMessagesOnly() throws {
        let node = NodeHarness()
        let link = try node.meet(android)
        try run(node, for: .seconds(100), [(android, link)])
        let asked = try node.requests().map(\.request.types)
        XCTAssertEqual(asked, [[.announce, .message], history, history, history])
    }

    func testCapabilitiesThatShowNothingDoNotCount() throws {
        for capabilities in [Capabilities.gateway, [.board, .bridge], []] {
            let node = NodeHarness()
            let peer = ScriptedPeer(seed: 9, capabilities: capabilities)
            let link = try node.meet(peer)
            try run(node, for: .seconds(40), [(peer, link)])
            XCTAssertEqual(try node.requests().map(\.request.types), [[.announce, .message], history])
        }
    }

    func testPeerWhoseOwnRequestNamesTypesIsAskedLikeAnIPhone() throws {
        let node = NodeHarness()
        let box = ScriptedPeer(seed: 9, capabilities: .gateway)
        let link = try node.meet(box)
        node.advance(by: .seconds(2))
        node.receive(try box.request(nil, to: node.me, at: node.now), on: link)
        try run(node, for: .seconds(38), [(box, link)])
        XCTAssertEqual(try node.requests().count, 2, "a request without types shows nothing")
        node.receive(try box.request(.fragment, to: node.me, at: node.now), on: link)
        node.clearSent()
        try run(node, for: .seconds(60), [(box, link)])
        XCTAssertTrue(try node.requests().contains { $0.request.types == .fragment })
    }

    func testNeverMoreThanSixRequestsAPeerInThirtySeconds() throws {
        let node = NodeHarness()
        let link = try node.meet(iPhone)
        // Trains that never end keep the targeted requests coming, and reconnecting the initial ones.
        var stream: UInt64 = 1
        for _ in 0..<60 {
            node.receive(
                try iPhone.frame(
                    .fragment, GossipSamples.fragment(stream: stream), at: node.now, isSigned: false), on: link)
            stream += 1
            node.call { mesh, _ in mesh.tellFeatures(.stalled([FragmentStreamID(value: stream)])) }
            try run(node, for: .seconds(7), [(iPhone, link)])
        }
        let times = try node.requests().map(\.at)
        XCTAssertGreaterThan(times.count, 50)
        for (index, time) in times.enumerated() {
            let within = times[index...].prefix { $0 - time <= .seconds(30) }
            XCTAssertLessThanOrEqual(within.count, 6)
        }
        XCTAssertGreaterThan(node.drops(.syncRequestBudget), 0)
    }

    func testNobodyIsAskedWithoutADirectLink() throws {
        let node = NodeHarness()
        let link = try node.meet(iPhone)
        let far = ScriptedPeer(seed: 12, capabilities: ScriptedPeer.iPhone)
        node.receive(try far.announce(at: node.now, ttl: 5), on: link)
        node.advance(by: .seconds(40))
        XCTAssertTrue(try node.requests(to: far.id).isEmpty)
        XCTAssertTrue(try node.requests().allSatisfy { $0.packet.recipientID != nil })
        node.call { $0.linkDown(link, at: $1) }
        node.clearSent()
        node.advance(by: .seconds(60))
        XCTAssertTrue(try node.requests().isEmpty)
    }

    func testReconnectingPeerIsAskedAnewForEverything() throws {
        let node = NodeHarness()
        let link = try node.meet(iPhone)
        node.advance(by: .seconds(5))
        node.call { $0.linkDown(link, at: $1) }
        node.advance(by: .seconds(5))
        node.clearSent()
        _ = try node.meet(iPhone)
        node.advance(by: .seconds(2))
        XCTAssertEqual(try node.requests().map(\.request.types?.wire), [[0x23, 0x07]])
    }

    func testStalledTrainIsAskedForByName() throws {
        let node = NodeHarness()
        let link = try node.meet(iPhone)
        let other = try node.meet(android)
        node.advance(by: .seconds(9))
        let fragment = try iPhone.frame(
            .fragment, GossipSamples.fragment(stream: 0x0011_2233_4455_66aa), at: node.now, isSigned: false)
        node.receive(fragment, on: link)
        node.clearSent()
        node.advance(by: .seconds(7))
        let asked = try node.requests().filter { $0.request.fragmentFilterText != nil }
        XCTAssertEqual(asked.map(\.request.fragmentFilterText), ["00112233445566aa"])
        XCTAssertEqual(asked.map(\.request.types), [.fragment])
        XCTAssertEqual(asked.map(\.packet.recipientID), [iPhone.id])
        XCTAssertTrue(asked[0].request.filter.members().contains(try XCTUnwrap(fragment.id)))
        _ = other
    }

    func testRequestTooLongForTheLinkGoesInFragments() throws {
        let node = NodeHarness()
        let link = try node.meet(iPhone, frameLimit: 182)
        for number in 0..<400 {
            if number % 100 == 0 { node.advance(by: .seconds(5)) }
            node.receive(try iPhone.message("\(number)", at: node.now, age: Int64(number)), on: link)
        }
        node.clearSent()
        try run(node, for: .seconds(40), [(iPhone, link)])
        let fragments = node.frames(.fragment).filter { $0.frame.recipientID == iPhone.id }
        XCTAssertGreaterThanOrEqual(fragments.count, 2)
        XCTAssertTrue(fragments.allSatisfy { $0.frame.bytes.count <= 182 && $0.frame.ttl == 0 })
    }

    // MARK: Clock (T14)

    func testNothingIsAskedAnsweredOrKeptBeforeTheClockIsRight() throws {
        let node = NodeHarness(isClockTrusted: false)
        let link = try node.meet(iPhone)
        node.receive(try iPhone.message("hello", at: node.now), on: link)
        node.advance(by: .seconds(1))
        node.receive(try iPhone.request(to: node.me, at: node.now), on: link)
        try run(node, for: .seconds(60), [(iPhone, link)])
        XCTAssertTrue(node.frames(.requestSync).isEmpty)
        XCTAssertTrue(node.answers.isEmpty)
        XCTAssertEqual(node.node.historyCount, 0)
        node.call { $0.setClockTrusted(true, at: $1) }
        try run(node, for: .seconds(31), [(iPhone, link)])
        XCTAssertFalse(node.frames(.requestSync).isEmpty)
    }

    func testClockThatWasSetForgetsWhomWeAsked() throws {
        let node = NodeHarness()
        let link = try node.meet(iPhone)
        try run(node, for: .seconds(85), [(iPhone, link)])
        XCTAssertFalse(node.node.gate.syncRequests.open(for: iPhone.id, at: node.now.monotonic).isEmpty)
        node.setWall(WallTime(milliseconds: node.now.wall.milliseconds + 3_600_000))
        node.call { mesh, _ in mesh.gate.syncRequests.noteRequest(to: self.android.id, at: node.now.monotonic) }
        node.advance(by: .seconds(5))
        XCTAssertTrue(node.node.gate.syncRequests.open(for: android.id, at: node.now.monotonic).isEmpty)
    }
}
