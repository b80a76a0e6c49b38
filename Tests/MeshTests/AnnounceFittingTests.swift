import Basics
import Simulation
import Wire
import XCTest

@testable import Mesh

/// An announce binds a link only in one piece (chapter 03 A11.1, B12), so it must fit.
final class AnnounceFittingTests: XCTestCase {
    /// Header, sender and signature, then nickname `gate`, two keys and one byte of capabilities.
    private let least = 14 + 8 + 64 + (2 + 4) + 2 * (2 + 32) + (2 + 1)

    /// A node with so many neighbours on links of 512 bytes, and a link of its own size with nobody on it yet.
    private func node(
        neighbours: Int, limit: Int, capabilities: Capabilities = .gateway, cell: String? = nil
    ) throws -> (node: NodeHarness, wide: [LinkID], narrow: LinkID) {
        let node = NodeHarness()
        node.call { $0.setAdvertisement(capabilities: capabilities, bridgeCell: cell, at: $1) }
        let wide = try (0..<neighbours).map { try node.meet(ScriptedPeer(seed: 100 + UInt64($0))) }
        let narrow = node.addLink(frameLimit: limit)
        node.advance(by: .seconds(2))
        return (node, wide, narrow)
    }

    /// What the node said itself; it also passes on what it heard.
    private func own(_ type: MessageType, _ node: NodeHarness) -> [NodeHarness.Sent] {
        node.frames(type).filter { $0.frame.senderID == node.me }
    }

    private func announces(_ node: NodeHarness, on link: LinkID) throws -> [(frame: Frame, announce: Announce)] {
        try own(.announce, node).filter { $0.link == link }.map {
            ($0.frame, try XCTUnwrap($0.frame.payload().flatMap { Announce(payload: $0) }))
        }
    }

    func testAnnounceComesInOnePieceOnEveryLinkThatCarriesTheKeys() throws {
        for limit in 20...512 {
            let (node, wide, narrow) = try node(neighbours: 4, limit: limit)
            for link in wide {
                let last = try XCTUnwrap(announces(node, on: link).last)
                XCTAssertEqual(last.frame.ttl, 7)
                XCTAssertEqual(last.announce.capabilities, .gateway)
                let room = limit < least ? 512 : limit
                let named = room < least + 2 + 8 ? 0 : min(4, (room - least - 2) / 8)
                XCTAssertEqual(last.announce.directNeighbors?.count ?? 0, named, "limit \(limit)")
            }
            let whole = try announces(node, on: narrow)
            let pieces = own(.fragment, node).filter { $0.link == narrow }
            XCTAssertEqual(whole.isEmpty, limit < least, "limit \(limit)")
            XCTAssertTrue(whole.allSatisfy { $0.frame.bytes.count <= limit && $0.frame.ttl == 7 })
            XCTAssertTrue(pieces.allSatisfy { $0.frame.bytes.count <= limit })
            let isCut = limit < least && limit >= 35 + MeshLimits.smallestFragmentChunk
            XCTAssertEqual(!pieces.isEmpty, isCut, "limit \(limit)")
            XCTAssertTrue(own(.fragment, node).allSatisfy { $0.link == narrow }, "nobody else gets pieces")
        }
    }

    func testCapabilitiesAndCellAreNeverLeftOut() throws {
        let both: Capabilities = [.gateway, .bridge]
        for limit in [170, 173, 174, 182, 200] {
            let (node, wide, narrow) = try node(neighbours: 3, limit: limit, capabilities: both, cell: "u33dc")
            for link in wide + (limit < least + 7 ? [] : [narrow]) {
                let last = try XCTUnwrap(announces(node, on: link).last).announce
                XCTAssertEqual(last.capabilities, both)
                XCTAssertEqual(last.bridgeGeohash, "u33dc")
            }
        }
    }

    func testALinkThatWidensIsToldAllNeighbours() throws {
        let (node, _, narrow) = try node(neighbours: 4, limit: least)
        XCTAssertNil(try XCTUnwrap(announces(node, on: narrow).last).announce.directNeighbors)
        node.call { $0.linkChanged(narrow, frameLimit: 512, at: $1) }
        node.advance(by: .seconds(30))
        XCTAssertEqual(try XCTUnwrap(announces(node, on: narrow).last).announce.directNeighbors?.count, 4)
    }

    func testBothEndsOfAnOrdinaryPhoneLinkAreBoundWhateverTheirNeighbours() throws {
        let mesh = SimulatedMesh(seed: 5)
        for _ in 0..<6 { mesh.addNode() }
        // ATT MTU 185, as phones negotiate among themselves.
        for other in 1..<6 { mesh.connect(0, other, SimulatedMesh.Conditions(frameLimit: 182)) }
        mesh.run(for: .seconds(40))
        for other in 1..<6 {
            XCTAssertEqual(mesh.nodes[other].mesh.links.map(\.peer), [mesh.peer(0)])
            XCTAssertTrue(mesh.nodes[other].mesh.peer(mesh.peer(0), at: mesh.now)?.isConnected ?? false)
        }
        XCTAssertTrue(mesh.air(.fragment).isEmpty)
    }
}
