import Basics
import Crypto
import Mesh
import Wire
import XCTest

@testable import Simulation

/// Each check told of one broken promise, and of the same kept.
final class CheckTests: XCTestCase {
    private let mesh = SimulatedMesh(seed: 1)

    override func setUp() {
        for _ in 0..<2 { mesh.addNode() }
    }

    private func link() -> LinkID { mesh.connect(0, 1).a }

    private func message(_ text: String, by node: Int, at milliseconds: UInt64 = 1_700_000_000_000) -> PublicMessage {
        let sender = mesh.nodes[node].id
        let time = WallTime(milliseconds: milliseconds)
        return PublicMessage(
            sender: sender, nickname: "", text: text, timestamp: time,
            stableID: StableMessageID.make(sender: sender, timestamp: time, content: text), isReplay: false)
    }

    private func transmission(_ bytes: [UInt8], on link: LinkID, from: Int = 0, after: Interval = .zero)
        -> SimulatedMesh.Transmission
    {
        SimulatedMesh.Transmission(
            at: mesh.now.monotonic + after, from: from, to: 1 - from, link: link, bytes: bytes,
            hash: FrameHash.of(bytes))
    }

    private func frame(_ type: MessageType, by node: Int, ttl: UInt8 = 7, payload: [UInt8] = [1]) -> [UInt8] {
        var packet = Packet(
            type: type, timestamp: mesh.now.wall, senderID: mesh.nodes[node].id, payload: payload)
        packet.ttl = ttl
        return PacketForge.bytes(packet, signedBy: mesh.nodes[node].identity)
    }

    private func expect(_ rule: String?, _ detail: String = "", file: StaticString = #filePath, line: UInt = #line) {
        XCTAssertEqual(mesh.violation?.rule, rule, file: file, line: line)
        if let found = mesh.violation {
            XCTAssertTrue(detail.isEmpty || found.detail.contains(detail), found.detail, file: file, line: line)
        }
    }

    // MARK: Deliveries

    private func said(_ text: String, proven: Bool = true) -> (DeliveryLog, PublicMessage) {
        let log = DeliveryLog()
        let message = message(text, by: 0)
        log.said(message, by: 0, in: mesh)
        let packet = Packet(
            type: .message, timestamp: message.timestamp, senderID: message.sender, payload: Array(text.utf8))
        let signer = mesh.nodes[proven ? 0 : 1].identity
        log.transmitted(transmission(PacketForge.bytes(packet, signedBy: signer), on: LinkID(value: 1)), in: mesh)
        return (log, message)
    }

    func testMessageHeardOnceIsFine() {
        let (log, message) = said("hello")
        log.happened(.publicMessage(message), at: 1, in: mesh)
        expect(nil)
    }

    func testMessageHeardTwiceIsFound() {
        let (log, message) = said("hello")
        for _ in 0..<2 { log.happened(.publicMessage(message), at: 1, in: mesh) }
        expect("delivery", "twice")
    }

    func testMessageThatNobodySaidIsFound() {
        let (log, _) = said("hello")
        log.happened(.publicMessage(message("goodbye", by: 0)), at: 1, in: mesh)
        expect("delivery", "nobody said")
    }

    func testAlteredMessageIsFound() {
        let (log, original) = said("hello")
        let altered = PublicMessage(
            sender: original.sender, nickname: "", text: "hullo", timestamp: original.timestamp,
            stableID: original.stableID, isReplay: false)
        log.happened(.publicMessage(altered), at: 1, in: mesh)
        expect("delivery", "altered")
    }

    func testOwnMessageHeardIsFound() {
        let (log, message) = said("hello")
        log.happened(.publicMessage(message), at: 0, in: mesh)
        expect("delivery", "its own")
    }

    func testMessageWithoutItsAuthorsSignatureIsFound() {
        let (log, message) = said("hello", proven: false)
        log.happened(.publicMessage(message), at: 1, in: mesh)
        expect("signature")
    }

    // MARK: Flood

    func testPacketTwiceOnOneLinkIsFound() {
        let check = FloodCheck()
        let link = link()
        let bytes = frame(.message, by: 0)
        check.transmitted(transmission(bytes, on: link), in: mesh)
        expect(nil)
        check.transmitted(transmission(bytes, on: link), in: mesh)
        expect("flood", "twice over one link")
    }

    func testPacketOnTwoLinksIsFine() {
        let check = FloodCheck()
        let bytes = frame(.message, by: 0)
        check.transmitted(transmission(bytes, on: link()), in: mesh)
        check.transmitted(transmission(bytes, on: link()), in: mesh)
        expect(nil)
    }

    func testRelayWithUndiminishedTTLIsFound() {
        FloodCheck().transmitted(transmission(frame(.message, by: 1), on: link(), from: 0), in: mesh)
        expect("flood", "TTL 7")
    }

    // MARK: Budgets

    private func budget() -> BudgetCheck {
        let check = BudgetCheck()
        for node in 0..<2 { check.added(node: node, to: mesh) }
        return check
    }

    func testAnnouncesInQuickSuccessionAreFound() {
        let check = budget()
        check.transmitted(transmission(frame(.announce, by: 0), on: link()), in: mesh)
        check.transmitted(transmission(frame(.announce, by: 0), on: link(), after: .milliseconds(150)), in: mesh)
        expect(nil)
        check.transmitted(transmission(frame(.announce, by: 0), on: link(), after: .milliseconds(299)), in: mesh)
        expect("budget", "announced")
    }

    func testSyncRequestPassedOnIsFound() {
        budget().transmitted(transmission(frame(.requestSync, by: 1, ttl: 0), on: link(), from: 0), in: mesh)
        expect("budget", "passed a sync request on")
    }

    func testTooManySyncRequestsAreFound() {
        let check = budget()
        let link = link()
        for number in 0..<8 {
            check.transmitted(
                transmission(frame(.requestSync, by: 0, ttl: 0), on: link, after: .seconds(number)), in: mesh)
        }
        expect(nil)
        check.transmitted(transmission(frame(.requestSync, by: 0, ttl: 0), on: link, after: .seconds(9)), in: mesh)
        expect("budget", "sync requests")
    }

    func testTooManyPongsAreFound() {
        let check = budget()
        let link = link()
        for number in 0..<6 {
            check.transmitted(transmission(frame(.pong, by: 0), on: link, after: .seconds(number)), in: mesh)
        }
        expect("budget", "answered 6 pings")
    }

    func testTooManyPacketsOfStrangersAreFound() {
        let check = budget()
        check.linkUp(link(), a: -1, b: 0, in: mesh)
        var random = SeededRandom(seed: 9)
        for number in 0..<300 {
            let packet = Packet(
                type: .noiseEncrypted, timestamp: mesh.now.wall, senderID: PeerID(value: UInt64(number + 1)),
                recipientID: PeerID(value: 5), payload: random.bytes(20))
            check.transmitted(transmission(PacketForge.bytes(packet), on: LinkID(value: 2)), in: mesh)
        }
        expect("budget", "strangers")
    }

    // MARK: Bounds

    func testTableBeyondItsBoundIsFound() {
        let check = BoundsCheck()
        _ = link()
        mesh.run(for: .seconds(2))
        check.settled(node: 0, in: mesh)
        expect(nil)
        check.tightness = .max
        check.settled(node: 0, in: mesh)
        expect("bounds")
    }

    // MARK: The reference mesh

    func testHearingWhatCouldNotGetThereIsFound() {
        let (log, message) = said("hello")
        let check = ReferenceCheck(log: log)
        for node in 0..<2 { check.added(node: node, to: mesh) }
        check.said(message, by: 0, in: mesh)
        check.happened(.publicMessage(message), at: 1, in: mesh)
        expect("reference mesh", "could not get there")
    }

    func testNotHearingWhatMustGetThereIsFound() {
        let (log, message) = said("hello")
        let check = ReferenceCheck(log: log)
        for node in 0..<2 { check.added(node: node, to: mesh) }
        check.linkUp(link(), a: 0, b: 1, in: mesh)
        check.begin(in: mesh)
        mesh.run(for: .seconds(210))
        check.said(message, by: 0, in: mesh)
        mesh.run(for: .seconds(80))
        check.ended(mesh)
        expect(nil)
        mesh.run(for: .seconds(200))
        check.ended(mesh)
        expect("reference mesh", "never heard message 0")
    }
}
