import Basics
import Wire
import XCTest

@testable import Mesh

final class LinkTableTests: XCTestCase {
    private let ann = PeerID(value: 1)
    private let bob = PeerID(value: 2)
    private let now = Instant.zero + .hours(1)

    private func id(_ value: UInt64) -> LinkID { LinkID(value: value) }

    /// Links 1, 2, … up one second apart, outgoing first.
    private func table(outgoing: Int = 0, incoming: Int = 0) -> LinkTable {
        let table = LinkTable()
        for value in 1...(outgoing + incoming) {
            let role: LinkRole = value <= outgoing ? .outgoing : .incoming
            XCTAssertTrue(
                table.add(id(UInt64(value)), role: role, frameLimit: 512, at: now + .seconds(value)))
        }
        return table
    }

    func testFrameLimitIsCappedAtWhatAnAttributeHolds() {
        let links = LinkTable()
        XCTAssertTrue(links.add(id(1), role: .incoming, frameLimit: 669, at: now))
        XCTAssertEqual(links[id(1)]?.frameLimit, 512)
        links.setFrameLimit(180, of: id(1))
        XCTAssertEqual(links[id(1)]?.frameLimit, 180)
        links.setFrameLimit(-5, of: id(1))
        XCTAssertEqual(links[id(1)]?.frameLimit, MeshLimits.frameLimitFloor)
        XCTAssertFalse(links.add(id(1), role: .incoming, frameLimit: 512, at: now))
    }

    func testTableIsBounded() {
        let links = LinkTable()
        for value in 0..<UInt64(MeshLimits.linkCapacity) {
            XCTAssertTrue(links.add(id(value), role: .incoming, frameLimit: 512, at: now))
        }
        XCTAssertFalse(links.add(id(99_999), role: .incoming, frameLimit: 512, at: now))
    }

    func testAnnounceBindsAnUnboundLinkButNeverRebinds() {
        let links = table(incoming: 1)
        XCTAssertTrue(links.bind(id(1), to: ann))
        XCTAssertFalse(links.bind(id(1), to: ann), "already bound")
        XCTAssertFalse(links.bind(id(1), to: bob))
        XCTAssertEqual(links[id(1)]?.peer, ann)
    }

    func testBoundOutgoingLinkIsPreferred() {
        let links = table(outgoing: 2)
        links.bind(id(1), to: ann)
        links.bind(id(2), to: ann)
        XCTAssertEqual(links.selection.preferredOutgoing[ann], id(2))
        links.bind(id(1), to: ann)
        XCTAssertEqual(links.selection.preferredOutgoing[ann], id(1))
    }

    func testVerifiedRebindMovesTheLinkAndClearsTheFormerPeer() {
        let links = table(outgoing: 2, incoming: 2)
        for value: UInt64 in 1...4 { links.bind(id(value), to: ann) }
        XCTAssertTrue(links.prove(id(1), as: ann))
        let rebind = links.rebind(id(1), to: bob, at: now)
        XCTAssertEqual(rebind, LinkTable.Rebind(formerPeer: ann, closed: [id(2)]))
        XCTAssertEqual(links[id(1)]?.peer, bob)
        XCTAssertNil(links[id(1)]?.provenPeer)
        XCTAssertNil(links[id(2)])
        XCTAssertNotNil(links[id(3)])
        XCTAssertNil(links[id(3)]?.peer)
        XCTAssertNil(links[id(4)]?.peer)
        XCTAssertFalse(links.hasDirectLink(to: ann))
        XCTAssertEqual(links.selection.preferredOutgoing, [bob: id(1)])
    }

    /// A replayed announce binds the attacker's link to its author; his own announce on it must not throw the author
    /// out.
    func testLinksProvenByTheFormerPeerOutliveARebind() {
        let links = table(outgoing: 2, incoming: 2)
        for value: UInt64 in 1...4 { links.bind(id(value), to: ann) }
        for value: UInt64 in [2, 3] { XCTAssertTrue(links.prove(id(value), as: ann)) }
        let rebind = links.rebind(id(4), to: bob, at: now)
        XCTAssertEqual(rebind, LinkTable.Rebind(formerPeer: ann, closed: [id(1)]))
        XCTAssertEqual(links.all.map(\.id), [id(2), id(3), id(4)])
        XCTAssertEqual(links.all.map(\.peer), [ann, ann, bob])
        XCTAssertEqual(links.all.map(\.provenPeer), [ann, ann, nil])
        XCTAssertEqual(links.selection.preferredOutgoing[ann], id(2))
        XCTAssertTrue(links.hasDirectLink(to: ann))
    }

    /// A replayed announce of somebody who is here cannot take over another's link (chapter 03 A11.2 rule 1).
    func testRebindIsRefusedWhileTheAnnouncerHasALink() {
        let links = table(incoming: 2)
        links.bind(id(1), to: ann)
        links.bind(id(2), to: bob)
        XCTAssertNil(links.rebind(id(1), to: bob, at: now))
        XCTAssertEqual(links[id(1)]?.peer, ann)
    }

    func testOneRebindALinkAMinute() {
        let links = table(incoming: 1)
        links.bind(id(1), to: ann)
        XCTAssertNotNil(links.rebind(id(1), to: bob, at: now))
        XCTAssertNil(links.rebind(id(1), to: ann, at: now + .milliseconds(59_999)))
        XCTAssertNotNil(links.rebind(id(1), to: ann, at: now + .seconds(60)))
    }

    func testNewestOfOurRedundantLinksSurvives() {
        let links = table(outgoing: 3, incoming: 1)
        for value: UInt64 in 1...4 { links.bind(id(value), to: ann) }
        XCTAssertEqual(links.retireRedundant(of: ann, ingress: id(1), at: now), [id(1), id(2)])
        XCTAssertEqual(links.selection.preferredOutgoing[ann], id(3))
        XCTAssertNotNil(links[id(4)], "theirs is not ours to close")
        XCTAssertEqual(links.retireRedundant(of: ann, ingress: id(3), at: now), [])
    }

    func testTiesGoToTheIngressLinkThenToThePreferredOneThenToTheSmallest() {
        func tied(preferred: UInt64?) -> LinkTable {
            let links = LinkTable()
            for value: UInt64 in 1...3 { _ = links.add(id(value), role: .outgoing, frameLimit: 512, at: now) }
            for value: UInt64 in [1, 2, 3] + (preferred.map { [$0] } ?? []) { links.bind(id(value), to: ann) }
            return links
        }
        XCTAssertEqual(tied(preferred: nil).retireRedundant(of: ann, ingress: id(2), at: now), [id(1), id(3)])
        XCTAssertEqual(tied(preferred: 2).retireRedundant(of: ann, ingress: id(9), at: now), [id(1), id(3)])
    }

    func testOneRetirementRoundAPeerAMinute() {
        let links = table(outgoing: 3)
        links.bind(id(1), to: ann)
        links.bind(id(2), to: ann)
        XCTAssertEqual(links.retireRedundant(of: ann, ingress: id(2), at: now), [id(1)])
        links.bind(id(3), to: ann)
        XCTAssertEqual(links.retireRedundant(of: ann, ingress: id(3), at: now + .seconds(59)), [])
        XCTAssertEqual(links.retireRedundant(of: ann, ingress: id(3), at: now + .seconds(61)), [id(2)])
    }

    func testProofNeedsTheBindingAndDiesWithLeave() {
        let links = table(incoming: 1)
        XCTAssertFalse(links.prove(id(1), as: ann))
        links.bind(id(1), to: ann)
        XCTAssertFalse(links.prove(id(1), as: bob))
        XCTAssertTrue(links.prove(id(1), as: ann))
        links.retireProofs(of: ann)
        XCTAssertNil(links[id(1)]?.provenPeer)
        XCTAssertEqual(links[id(1)]?.peer, ann)
    }

    func testLostPreferredLinkIsReplacedByASurvivor() {
        let links = table(outgoing: 2)
        links.bind(id(1), to: ann)
        links.bind(id(2), to: ann)
        links.remove(id(2))
        XCTAssertEqual(links.selection.preferredOutgoing[ann], id(1))
        links.remove(id(1))
        XCTAssertTrue(links.selection.preferredOutgoing.isEmpty)
    }

    func testSplitHorizonBlocksEveryLinkOfTheIngressPeer() {
        let links = table(outgoing: 1, incoming: 2)
        links.bind(id(1), to: ann)
        links.bind(id(2), to: ann)
        XCTAssertEqual(links.blocked(heardOn: [id(1)], from: nil), [id(1), id(2)])
        XCTAssertEqual(Set(links.blocked(heardOn: [id(3)], from: ann)), [id(1), id(2), id(3)])
        XCTAssertEqual(links.blocked(heardOn: [], from: nil), [])
    }

    /// Chapter 03 C8.
    func testLinkBudgetIsABurstOf240AndSixtyASecond() {
        let links = table(incoming: 2)
        let admitted = (0..<1_000).filter { _ in links.admitPacket(on: id(1), at: now) }.count
        XCTAssertEqual(admitted, 240)
        let later = (0..<1_000).filter { _ in links.admitPacket(on: id(1), at: now + .seconds(1)) }.count
        XCTAssertEqual(later, 60)
        XCTAssertTrue(links.admitPacket(on: id(2), at: now), "another link's budget is its own")
        XCTAssertFalse(links.admitPacket(on: id(9), at: now))
    }
}
