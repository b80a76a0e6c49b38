import Basics
import Crypto
import Simulation
import Wire
import XCTest

@testable import Mesh

final class MessageTests: XCTestCase {
    private func link(_ mesh: SimulatedMesh, at node: Int, to peer: Int) throws -> LinkID {
        try XCTUnwrap(mesh.nodes[node].mesh.links.first { $0.peer == mesh.peer(peer) }).id
    }

    private func message(
        _ mesh: SimulatedMesh, by node: SimulatedNode, _ payload: [UInt8] = Array("hi".utf8),
        _ change: (inout Packet) -> Void = { _ in }
    ) throws -> [UInt8] {
        var packet = Packet(type: .message, timestamp: mesh.now.wall, senderID: node.id, payload: payload)
        change(&packet)
        try node.identity.sign(&packet)
        return try packet.encoded()
    }

    private func stranger() -> SimulatedNode {
        let mesh = SimulatedMesh(seed: 4_711)
        mesh.addNode()
        return mesh.nodes[0]
    }

    /// Chapter 03 D2.
    func testStableIDOfTheWorkedExample() throws {
        let id = StableMessageID.make(
            sender: PeerID(value: 0x0011_2233_4455_6677), timestamp: WallTime(milliseconds: 1_700_000_000_123),
            content: "hello mesh")
        XCTAssertEqual(id, "605e5efc78ee3489bebb8d68e41b9310")
    }

    func testDeliveredMessageCarriesNameTimeAndStableID() throws {
        let mesh = SimulatedMesh.line(2)
        let said = try XCTUnwrap(mesh.call(0) { $0.say("  hello  ", at: $1) })
        mesh.run(for: .seconds(1))
        let heard = try XCTUnwrap(mesh.nodes[1].heard.first)
        XCTAssertEqual(heard.sender, mesh.peer(0))
        XCTAssertEqual(heard.nickname, "node-0")
        XCTAssertEqual(heard.text, "  hello  ")
        XCTAssertEqual(heard.timestamp, said.timestamp)
        XCTAssertEqual(heard.stableID, said.stableID)
        XCTAssertFalse(heard.isReplay)
        XCTAssertEqual(
            heard.stableID, StableMessageID.make(sender: mesh.peer(0), timestamp: said.timestamp, content: "hello"))
    }

    func testEmptyAndOverlongTextIsNotSaid() {
        let mesh = SimulatedMesh.line(2)
        mesh.clearAir()
        XCTAssertNil(mesh.call(0) { $0.say("", at: $1) })
        XCTAssertNil(mesh.call(0) { $0.say(String(repeating: "a", count: 60_001), at: $1) })
        XCTAssertNil(mesh.call(0) { $0.say(String(repeating: "ä", count: 33_000), at: $1) }, "65,535 bytes")
        XCTAssertTrue(mesh.air(.message).isEmpty)
    }

    func testMessageWithABadSignatureIsNeitherDeliveredNorRelayed() throws {
        let mesh = SimulatedMesh.line(3)
        let link = try link(mesh, at: 1, to: 0)
        mesh.clearAir()
        var bytes = try message(mesh, by: mesh.nodes[0])
        bytes[bytes.count - 1] ^= 1
        mesh.inject(bytes, into: 1, on: link)
        mesh.run(for: .seconds(1))
        XCTAssertEqual(mesh.nodes[1].mesh.drops[.badSignature], 1)
        XCTAssertTrue(mesh.air(.message).isEmpty)
        mesh.inject(bytes, into: 1, on: link)
        XCTAssertEqual(mesh.nodes[1].mesh.drops[.knownForgery], 1, "not verified a second time")
        bytes[bytes.count - 1] ^= 1
        mesh.inject(bytes, into: 1, on: link)
        mesh.run(for: .seconds(1))
        XCTAssertEqual(mesh.nodes[1].texts, ["hi"])
        XCTAssertEqual(mesh.nodes[2].texts, ["hi"])
    }

    func testMessageOfAnUnknownAuthorIsRelayedOnceWithinABudgetAndDeliveredWhenTheAuthorBecomesKnown() throws {
        let mesh = SimulatedMesh.line(3)
        let link = try link(mesh, at: 1, to: 0)
        let author = stranger()
        let bytes = try message(mesh, by: author)
        mesh.clearAir()
        mesh.inject(bytes, into: 1, on: link)
        mesh.inject(bytes, into: 1, on: link)
        mesh.run(for: .seconds(1))
        XCTAssertEqual(mesh.air(.message).map { [$0.from, $0.to] }, [[1, 2]])
        XCTAssertEqual(mesh.nodes[1].texts, [])

        let announce = Announce(
            nickname: "author", noisePublicKey: author.identity.noise.publicKey.bytes,
            signingPublicKey: author.identity.signing.publicKey.bytes)
        var packet = Packet(
            type: .announce, ttl: 5, timestamp: mesh.now.wall, senderID: author.id,
            payload: try XCTUnwrap(announce.encoded()))
        try author.identity.sign(&packet)
        mesh.inject(try packet.encoded(), into: 1, on: link)
        mesh.inject(bytes, into: 1, on: link)
        mesh.run(for: .seconds(1))
        XCTAssertEqual(mesh.nodes[1].texts, ["hi"])
        XCTAssertEqual(mesh.air(.message).count, 1, "relayed before, not again")
    }

    func testUnknownAuthorsShareABudgetPerIngressLink() throws {
        let mesh = SimulatedMesh.line(3)
        let link = try link(mesh, at: 1, to: 0)
        mesh.clearAir()
        for index in 0..<200 {
            let packet = Packet(
                type: .message, timestamp: mesh.now.wall, senderID: PeerID(value: UInt64(index + 1)),
                payload: [UInt8(index)], signature: [UInt8](repeating: 1, count: 64))
            mesh.inject(try packet.encoded(), into: 1, on: link)
        }
        mesh.run(for: .seconds(1))
        XCTAssertEqual(mesh.air(.message).count, 60)
        XCTAssertEqual(mesh.nodes[1].mesh.drops[.unverifiedRelayBudget], 140)
    }

    func testLinkBudgetDropsBeforeAnySignatureIsCheckedAndRemembersNothing() throws {
        let mesh = SimulatedMesh.line(3)
        mesh.run(for: .seconds(10))
        let link = try link(mesh, at: 1, to: 0)
        var frames: [[UInt8]] = []
        for index in 0..<300 { frames.append(try message(mesh, by: mesh.nodes[0], [UInt8(index & 0x7f), 65])) }
        for index in 0..<300 where index >= 128 {
            frames[index] = try message(mesh, by: mesh.nodes[0], [66, 66, UInt8(index & 0x7f), UInt8(index / 128)])
        }
        for frame in frames { mesh.inject(frame, into: 1, on: link) }
        let dropped = mesh.nodes[1].mesh.drops[.linkBudget]
        XCTAssertTrue((55...65).contains(dropped), "\(dropped)")
        mesh.run(for: .seconds(2))
        for frame in frames.suffix(10) { mesh.inject(frame, into: 1, on: link) }
        XCTAssertEqual(mesh.nodes[1].mesh.drops[.linkBudget], dropped)
        XCTAssertEqual(mesh.nodes[1].texts.count, 300 - Int(dropped) + 10)
    }

    func testDirectedPublicMessageIsIgnored() throws {
        let mesh = SimulatedMesh.line(2)
        let link = try link(mesh, at: 0, to: 1)
        mesh.inject(try message(mesh, by: mesh.nodes[1]) { $0.recipientID = mesh.peer(0) }, into: 0, on: link)
        XCTAssertEqual(mesh.nodes[0].texts, [])
        mesh.inject(
            try message(mesh, by: mesh.nodes[1], Array("all".utf8)) { $0.recipientID = .broadcast }, into: 0, on: link)
        XCTAssertEqual(mesh.nodes[0].texts, ["all"], "Android's broadcast address")
    }

    func testTextThatIsNotUTF8IsNotDelivered() throws {
        let mesh = SimulatedMesh.line(2)
        let link = try link(mesh, at: 0, to: 1)
        mesh.inject(try message(mesh, by: mesh.nodes[1], [0xc3, 0x28]), into: 0, on: link)
        XCTAssertEqual(mesh.nodes[0].texts, [])
        XCTAssertEqual(mesh.nodes[0].mesh.drops[.malformedPayload], 1)
    }

    func testMessageOfARememberedIdentityIsDeliveredWithoutItsPresence() throws {
        let mesh = SimulatedMesh.line(2)
        let link = try link(mesh, at: 0, to: 1)
        let author = stranger()
        mesh.nodes[0].mesh.restore([
            IdentityRecord(
                noiseKey: author.identity.noise.publicKey, signingKey: author.identity.signing.publicKey,
                nickname: "old friend")
        ])
        mesh.inject(try message(mesh, by: author), into: 0, on: link)
        XCTAssertEqual(mesh.nodes[0].heard.first?.nickname, "old friend")
    }

    func testReplaysOlderThanSixHoursAreStaleAndYoungerOnesAreMarked() throws {
        let mesh = SimulatedMesh.line(2)
        let link = try link(mesh, at: 0, to: 1)
        for (age, text) in [(21_600_000, "young"), (21_600_001, "old")] as [(UInt64, String)] {
            mesh.nodes[0].mesh.gate.syncRequests.noteRequest(to: mesh.peer(1), at: mesh.now.monotonic)
            let bytes = try message(mesh, by: mesh.nodes[1], Array(text.utf8)) {
                $0.timestamp = WallTime(milliseconds: mesh.now.wall.milliseconds - age)
                $0.ttl = 0
                $0.isSyncResponse = true
            }
            mesh.inject(bytes, into: 0, on: link)
        }
        XCTAssertEqual(mesh.nodes[0].texts, ["young"])
        XCTAssertEqual(mesh.nodes[0].heard.first?.isReplay, true)
        XCTAssertEqual(mesh.nodes[0].mesh.drops[.stale], 1)
    }

    func testOwnMessageOfferedBackBySyncIsKeptButNoNews() throws {
        let mesh = SimulatedMesh.line(2)
        let link = try link(mesh, at: 0, to: 1)
        mesh.nodes[0].mesh.gate.syncRequests.noteRequest(to: mesh.peer(1), at: mesh.now.monotonic)
        let bytes = try message(mesh, by: mesh.nodes[0]) {
            $0.ttl = 0
            $0.isSyncResponse = true
        }
        mesh.inject(bytes, into: 0, on: link)
        XCTAssertEqual(mesh.nodes[0].texts, [])
        XCTAssertEqual(mesh.nodes[0].mesh.historyCount, 1)
    }

    // MARK: Files and voice (B5, B15)

    private func relayed(
        _ type: MessageType, signedBy signer: SimulatedNode?, _ change: (inout Packet) -> Void = { _ in }
    ) throws -> Int {
        let mesh = SimulatedMesh.line(3)
        let link = try link(mesh, at: 1, to: 0)
        var packet = Packet(
            version: type == .fileTransfer ? 2 : 1, type: type, timestamp: mesh.now.wall, senderID: mesh.peer(0),
            payload: [1, 2, 3])
        change(&packet)
        if let signer {
            packet.senderID = signer.index == 0 && signer.id != mesh.peer(0) ? signer.id : mesh.peer(0)
            try signer.identity.sign(&packet)
        }
        mesh.clearAir()
        mesh.inject(try packet.encoded(), into: 1, on: link)
        mesh.run(for: .seconds(1))
        return mesh.air(type).count
    }

    func testFilesAndVoiceAreRelayedOnlyWhenSignedByAKnownAuthor() throws {
        let mesh = SimulatedMesh.line(3)
        for type in [MessageType.fileTransfer, .voiceFrame] {
            XCTAssertEqual(try relayed(type, signedBy: mesh.nodes[0]), 1)
            XCTAssertEqual(try relayed(type, signedBy: nil), 0)
            XCTAssertEqual(try relayed(type, signedBy: stranger()), 0)
        }
    }

    func testVoiceIsForEverybodyAndNotOlderThanThirtySeconds() throws {
        let mesh = SimulatedMesh.line(3)
        func voice(_ change: (inout Packet) -> Void) throws -> Int {
            try relayed(.voiceFrame, signedBy: mesh.nodes[0], change)
        }
        XCTAssertEqual(try voice { $0.recipientID = mesh.peer(2) }, 0)
        XCTAssertEqual(try voice { $0.timestamp = WallTime(milliseconds: $0.timestamp.milliseconds - 30_001) }, 0)
        XCTAssertEqual(try voice { $0.timestamp = WallTime(milliseconds: $0.timestamp.milliseconds - 30_000) }, 1)
    }
}
