import Basics
import Crypto
import Simulation
import Wire
import XCTest

@testable import Mesh

final class NoiseMeshTests: XCTestCase {
    private func message(_ text: String) throws -> NoisePayload {
        NoisePayload(
            type: .privateMessage, body: try XCTUnwrap(PrivateMessage(messageID: text, content: text).encoded()))
    }

    func testNeighboursTalkInPrivateAndProveTheirLink() throws {
        let mesh = SimulatedMesh.line(2)
        XCTAssertEqual(mesh.call(0) { try? $0.send(self.message("hello"), to: mesh.peer(1), at: $1) }, .queued)
        mesh.run(for: .seconds(2))
        XCTAssertEqual(mesh.nodes[1].privateTexts, ["hello"])
        for (node, other) in [(0, 1), (1, 0)] {
            let session = try XCTUnwrap(mesh.nodes[node].mesh.session(with: mesh.peer(other)))
            XCTAssertEqual(session.state, .established)
            XCTAssertEqual(session.fingerprint, mesh.nodes[other].identity.fingerprint)
            XCTAssertEqual(session.provenSigningKey, mesh.nodes[other].identity.signing.publicKey)
            XCTAssertTrue(mesh.nodes[node].mesh.isNoiseProven(mesh.peer(other)))
            let pins = mesh.nodes[node].events.compactMap {
                if case .identityLearned(let record) = $0.event { record.authenticatedSigningKey } else { nil }
            }
            XCTAssertEqual(pins, [mesh.nodes[other].identity.signing.publicKey])
        }
        XCTAssertEqual(mesh.call(1) { try? $0.send(self.message("back"), to: mesh.peer(0), at: $1) }, .sent)
        mesh.run(for: .seconds(1))
        XCTAssertEqual(mesh.nodes[0].privateTexts, ["back"])
    }
}

extension SimulatedNode {
    var privateMessages: [(from: PeerID, message: PrivateMessage)] {
        events.compactMap {
            guard case .noisePayload(let payload, let peer, _) = $0.event, payload.type == .privateMessage else {
                return nil
            }
            return PrivateMessage(body: payload.body).map { (peer, $0) }
        }
    }
    var privateTexts: [String] { privateMessages.map(\.message.content) }
    var undeliverable: Int { events.count { if case .undeliverable = $0.event { true } else { false } } }
    var sessionFailures: [NoiseSessionFailure] {
        events.compactMap { if case .sessionFailed(_, let reason) = $0.event { reason } else { nil } }
    }
    var sessionsEstablished: Int { events.count { if case .sessionEstablished = $0.event { true } else { false } } }
}
