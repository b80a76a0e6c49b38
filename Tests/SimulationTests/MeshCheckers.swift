import Basics
import Crypto
import Simulation
import Wire
import XCTest

@testable import Mesh

/// What must hold in every run, whatever the weather. Each failure names the seed that replays it.
struct MeshCheckers {
    let mesh: SimulatedMesh

    private var seed: String { "seed \(mesh.seed)" }

    func all(file: StaticString = #filePath, line: UInt = #line) {
        nobodyHearsAMessageTwice(file: file, line: line)
        signaturesVerify(file: file, line: line)
        nothingCrossesALinkTwice(file: file, line: line)
        tablesAreBounded(file: file, line: line)
        nobodyIsOverdue(file: file, line: line)
    }

    func nobodyHearsAMessageTwice(file: StaticString = #filePath, line: UInt = #line) {
        for node in mesh.nodes {
            let ids = node.heard.map(\.stableID)
            XCTAssertEqual(
                ids.count, Set(ids).count, "\(seed): node \(node.index) heard something twice", file: file, line: line)
        }
    }

    /// Whatever travels under a node's name was signed by it: nothing was altered or made up on the way.
    func signaturesVerify(file: StaticString = #filePath, line: UInt = #line) {
        var keys: [PeerID: SigningPublicKey] = [:]
        for node in mesh.nodes { keys[node.id] = node.identity.signing.publicKey }
        var checked: Set<[UInt8]> = []
        for type in [MessageType.announce, .message, .leave] {
            for transmission in mesh.air(type) {
                guard let frame = try? Frame(transmission.bytes), let key = keys[frame.senderID] else {
                    XCTFail("\(seed): stray frame on the air", file: file, line: line)
                    continue
                }
                // The TTL is outside the signature; every other byte is the same at each hop.
                var fixed = frame.bytes
                fixed[2] = 0
                guard checked.insert(fixed).inserted else { continue }
                XCTAssertNotNil(
                    VerifiedFrame(verifying: frame, under: key), "\(seed): bad signature on the air", file: file,
                    line: line)
            }
        }
    }

    /// Deliveries are bound by links × packets, each way.
    func nothingCrossesALinkTwice(file: StaticString = #filePath, line: UInt = #line) {
        for type in [MessageType.message, .nostrCarrier, .fragment] {
            var crossings: Set<[UInt8]> = []
            for transmission in mesh.air(type) {
                var crossing = transmission.bytes
                crossing[2] = 0
                crossing.append(bigEndian: transmission.link.value)
                XCTAssertTrue(
                    crossings.insert(crossing).inserted,
                    "\(seed): one packet twice on \(transmission.link)", file: file,
                    line: line)
            }
        }
    }

    func tablesAreBounded(file: StaticString = #filePath, line: UInt = #line) {
        for node in mesh.nodes.map(\.mesh) {
            let filters = node.configuration.duplicateCapacity + MeshLimits.fragmentDuplicateCapacity
            for (value, bound) in [
                (node.gate.remembered, filters), (node.relays.count, MeshLimits.pendingRelayCapacity),
                (node.spool.count, MeshLimits.spoolTotal), (node.trains.count, MeshLimits.fragmentTrains),
                (node.registry.count, mesh.nodes.count), (node.identities.count, mesh.nodes.count),
                (node.degree, mesh.nodes.count - 1),
            ] {
                XCTAssertLessThanOrEqual(value, bound, seed, file: file, line: line)
            }
        }
    }

    /// A node that asks to be woken in the past would spin its loop.
    func nobodyIsOverdue(file: StaticString = #filePath, line: UInt = #line) {
        for node in mesh.nodes {
            guard let deadline = node.mesh.nextDeadline else { continue }
            XCTAssertGreaterThan(deadline, mesh.now.monotonic, "\(seed): node \(node.index)", file: file, line: line)
        }
    }

    /// Every node but its author heard the message exactly once.
    func everybodyHeard(_ message: PublicMessage, by author: Int, file: StaticString = #filePath, line: UInt = #line) {
        for node in mesh.nodes where node.index != author {
            let count = node.heard.filter { $0.stableID == message.stableID }.count
            XCTAssertEqual(
                count, 1, "\(seed): node \(node.index), message of node \(author)", file: file, line: line)
        }
    }
}
