import Basics
import TestSupport
import Wire
import XCTest

@testable import Mesh

/// The recorded cases use one name in both roles; a link of ours never has that.
private struct RecordedLink: Hashable, Comparable, CustomStringConvertible {
    let name: String
    let isOutgoing: Bool

    var description: String { name }
    static func < (a: RecordedLink, b: RecordedLink) -> Bool { a.name < b.name }

    static func outgoing(_ names: [String]) -> [RecordedLink] { names.map { RecordedLink(name: $0, isOutgoing: true) } }
    static func incoming(_ names: [String]) -> [RecordedLink] {
        names.map { RecordedLink(name: $0, isOutgoing: false) }
    }
}

final class LinkSelectionTests: XCTestCase {
    private typealias Selection = LinkSelection<String>
    private typealias Recorded = LinkSelection<RecordedLink>

    func testLinksAreChosenAsTheReferenceDoes() throws {
        try Vectors("fanout.json").run { v in
            guard v.kind == "select" else { throw v.unknownKind }
            var peers: [RecordedLink: PeerID] = [:]
            for (key, isOutgoing) in [("peripheralBindings", true), ("centralBindings", false)] {
                for (name, peer) in try v.object(key).members {
                    let peer = try XCTUnwrap(peer as? String)
                    peers[RecordedLink(name: name, isOutgoing: isOutgoing)] = PeerID(hex: peer)
                }
            }
            var preferred: [PeerID: RecordedLink] = [:]
            for (peer, name) in try v.object("preferredPeripheral").members {
                let name = try XCTUnwrap(name as? String)
                preferred[try XCTUnwrap(PeerID(hex: peer))] = RecordedLink(name: name, isOutgoing: true)
            }
            let selection = Recorded(
                outgoing: RecordedLink.outgoing(try v.strings("peripheralLinks")),
                incoming: RecordedLink.incoming(try v.strings("centralLinks")), peers: peers,
                preferredOutgoing: preferred)
            let ingress = try v.optionalObject("ingressLink").map { [$0] } ?? []
            let blocked = try (v.objects("excludedLinks") + ingress).map {
                RecordedLink(name: try $0.string("id"), isOutgoing: try $0.string("role") == "peripheral")
            }
            let chosen = selection.select(
                Recorded.Request(
                    type: MessageType(rawValue: UInt8(try v.int("packetType"))),
                    hint: try v.optionalString("directedPeerHint").flatMap { PeerID(hex: $0) }, blocked: blocked,
                    isStrict: try v.bool("requireDirectPeerLink"), collapses: try v.bool("collapseDuplicatePeerLinks"),
                    seed: { (try? v.string("messageID")) ?? "" }))
            XCTAssertEqual(
                Set(chosen),
                Set(
                    RecordedLink.outgoing(try v.strings("peripherals"))
                        + RecordedLink.incoming(try v.strings("centrals"))), v.name)
            XCTAssertEqual(chosen.count, Set(chosen).count, v.name)
        }
    }

    /// Chapter 03 D3, first part.
    func testWorkedExampleTakesTheSubsetPerRole() {
        let selection = Selection(
            outgoing: ["p1", "p2", "p3", "p5", "p6", "p7", "p8"],
            incoming: ["c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"])
        let chosen = selection.select(Selection.Request(type: .message, seed: { "message-1" }))
        XCTAssertEqual(chosen, ["p5", "p8", "p3", "p2", "c6", "c3", "c8", "c5"])
    }

    /// Chapter 03 D3, second part, and D2's message ID.
    func testWorkedExampleWithOurOwnLinkNames() {
        let payload = Array("hello mesh".utf8)
        let seed = payload.withUnsafeBytes {
            messageIDText(
                sender: PeerID(value: 0x0011_2233_4455_6677), timestamp: WallTime(milliseconds: 1_700_000_000_123),
                type: .message, payload: $0)
        }
        XCTAssertEqual(seed, "0011223344556677-1700000000123-2-0d86592c")
        let links = (1...6).map { LinkID(value: $0) }
        XCTAssertEqual(
            LinkSelection.subset(of: links, seed: { seed }), [3, 1, 5, 2].map { LinkID(value: $0) })
    }

    func testSubsetSizes() {
        let expected = [
            (0, 0), (1, 1), (2, 2), (3, 3), (4, 3), (5, 4), (8, 4), (9, 5), (16, 5), (17, 6), (32, 6), (33, 7), (64, 7),
        ]
        for (count, size) in expected { XCTAssertEqual(Selection.subsetSize(count), size, "\(count)") }
    }

    private let ann = PeerID(value: 1)
    private let bob = PeerID(value: 2)

    private func select(_ selection: Selection, _ change: (inout Selection.Request) -> Void) -> [String] {
        var request = Selection.Request(type: .message, seed: { "seed" })
        change(&request)
        return selection.select(request)
    }

    func testDirectedPacketGoesToExactlyOneLinkOfItsPeer() {
        let selection = Selection(
            outgoing: ["o1", "o2"], incoming: ["i1", "i2"], peers: ["o1": ann, "o2": ann, "i1": ann, "i2": bob],
            preferredOutgoing: [ann: "o2"])
        XCTAssertEqual(select(selection) { $0.hint = ann }, ["o2"])
        XCTAssertEqual(
            select(selection) {
                $0.hint = ann
                $0.blocked = ["o2"]
            }, ["o1"])
        XCTAssertEqual(
            select(selection) {
                $0.hint = ann
                $0.blocked = ["o1", "o2"]
            }, ["i1"])
        XCTAssertEqual(select(selection) { $0.hint = bob }, ["i2"])
    }

    func testDirectedPacketWhoseOnlyWayIsWhereItCameFromGoesNowhere() {
        let selection = Selection(outgoing: ["o1"], incoming: ["i1"], peers: ["i1": ann])
        XCTAssertEqual(
            select(selection) {
                $0.hint = ann
                $0.blocked = ["i1"]
            }, [])
    }

    func testDirectedPacketToAStrangerFloodsUnthinned() {
        let outgoing = (1...9).map { "o\($0)" }
        XCTAssertEqual(select(Selection(outgoing: outgoing, incoming: [])) { $0.hint = ann }.count, 9)
        // Android's all-ff recipient is a hint that matches nobody: never thinned.
        XCTAssertEqual(select(Selection(outgoing: outgoing, incoming: [])) { $0.hint = .broadcast }.count, 9)
    }

    func testStrictSendNeverFallsBackToFlooding() {
        let selection = Selection(outgoing: ["o1"], incoming: ["i1"], peers: ["i1": bob])
        XCTAssertEqual(
            select(selection) {
                $0.hint = ann
                $0.isStrict = true
            }, [])
        XCTAssertEqual(
            select(selection) {
                $0.hint = bob
                $0.isStrict = true
            }, ["i1"])
    }

    func testBroadcastCollapsesToOneLinkAPeerButADirectAnnounceReachesEveryLink() {
        let selection = Selection(
            outgoing: ["o1", "o2"], incoming: ["i1", "i2", "i3"],
            peers: ["o1": ann, "o2": bob, "i1": ann, "i2": bob], preferredOutgoing: [ann: "o1", bob: "o2"])
        XCTAssertEqual(Set(select(selection) { _ in }), ["o1", "o2", "i3"])
        XCTAssertEqual(
            select(selection) {
                $0.type = .announce
                $0.collapses = false
            }.count, 5)
    }

    func testAnnouncesFragmentsAndSyncRequestsAreNeverThinned() {
        let selection = Selection(outgoing: (1...9).map { "o\($0)" }, incoming: [])
        for type in [MessageType.announce, .fragment, .requestSync] {
            XCTAssertEqual(select(selection) { $0.type = type }.count, 9)
        }
        XCTAssertEqual(select(selection) { _ in }.count, 5)
    }
}
