import Basics
import Copenssl
import XCTest

@testable import Uplink

/// What a server may do once its certificate is accepted.
final class TLSTrafficTests: XCTestCase {
    private let tls12 = TLSServer.Settings(newest: TLS1_2_VERSION)

    func testMuchDataCrossesBothWaysUnderBackPressure() throws {
        for settings in [tls12, TLSServer.Settings()] {
            let dial = try TLSDial.open(settings)
            let data = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
            dial.log.toSend = data
            dial.stream?.interest = [.read, .write]
            for start in stride(from: 0, to: data.count, by: 10_000) {
                dial.server.send(Array(data[start..<start + 10_000]))
            }
            for _ in 0..<400 {
                dial.transport.room = 1_000
                dial.pump()
            }
            XCTAssertTrue(dial.server.received == data)
            XCTAssertTrue(dial.log.received == data)
            XCTAssertTrue(dial.loop.isIdle)
        }
    }

    /// The library may hold decrypted bytes that no readiness of the transport would ever announce.
    func testReaderThatTakesLittleIsCalledUntilNothingIsLeft() throws {
        let dial = try TLSDial.open()
        dial.server.send([UInt8](repeating: 1, count: 16_000))
        dial.server.send([UInt8](repeating: 2, count: 16_000))
        dial.stream?.interest = []
        dial.pump()
        XCTAssertEqual(dial.log.received, [])
        var buffer = [UInt8](repeating: 0, count: 100)
        dial.stream?.interest = .read
        dial.loop.settle()
        XCTAssertEqual(dial.log.received.count, 0, "nothing before the transport is ready")
        dial.transport.readGrain = 40_000
        XCTAssertEqual(buffer.withUnsafeMutableBytes { dial.stream?.read(into: $0) }, .bytes(100))
        dial.loop.settle()
        XCTAssertEqual(dial.log.received.count, 31_900)
    }

    func testReaderAtRestTakesNothingFromTheTransport() throws {
        let dial = try TLSDial.open()
        dial.stream?.interest = []
        dial.server.send([UInt8](repeating: 0, count: 10_000))
        dial.pump()
        XCTAssertGreaterThan(dial.transport.incoming.count, 10_000)
        dial.stream?.interest = .read
        dial.pump()
        XCTAssertEqual(dial.log.received.count, 10_000)
    }

    /// Records of one byte are the most work for the fewest bytes.
    func testWorkInOneTurnIsBounded() throws {
        let dial = try TLSDial.open()
        let records = 30_000
        for _ in 0..<records { dial.server.send([7]) }
        dial.pump()
        XCTAssertEqual(dial.log.received.count, records)
        let recordBytes = 5 + 1 + 1 + 16
        let most = (UplinkLimits.tlsBytesPerTurn + UplinkLimits.readChunk) / recordBytes
        XCTAssertGreaterThan(dial.log.busiestTurn, most / 2, "the test sends enough to be held up")
        XCTAssertLessThanOrEqual(dial.log.busiestTurn, most)
    }

    func testServerThatAsksForAnswersAndReadsNoneIsNotReadFrom() throws {
        let dial = try TLSDial.open()
        dial.transport.room = 0
        for _ in 0..<10_000 {
            dial.server.askForKeyUpdate()
            dial.server.send([1])
        }
        dial.pump()
        let read = dial.log.received.count
        XCTAssertGreaterThan(read, 500)
        XCTAssertLessThan(read, 5_000)
        XCTAssertGreaterThan(dial.transport.incoming.count, 100_000)
        dial.transport.room = .max
        dial.pump()
        XCTAssertEqual(dial.log.received.count, 10_000)
        XCTAssertEqual(dial.log.events, [.opened])
    }

    func testRenegotiationIsRefused() throws {
        let dial = try TLSDial.open(tls12)
        let before = dial.served
        dial.server.renegotiate()
        dial.pump()
        // This server gives up then, with a handshake_failure.
        XCTAssertEqual(dial.log.events, [.opened, .broken(.tlsFailed(.refusedByServer(alert: 40)))])
        XCTAssertLessThan(dial.served - before, 100)
    }

    /// A session taken up again would show the server that two circuits lead to one client.
    func testNoConnectionTakesUpTheSessionOfAnother() throws {
        let trust = try Certificates.trust()
        for settings in [tls12, TLSServer.Settings()] {
            for _ in 0..<2 {
                let dial = try TLSDial("good", settings, trust: trust)
                dial.transport.delegate?.streamOpened()
                let hello = dial.transport.written
                // Extension 35 asks for a ticket, 41 shows one (RFC 5077, RFC 8446 §4.2).
                let kinds = try XCTUnwrap(ClientHello.extensions(in: hello))
                XCTAssertFalse(kinds.contains(35), "\(kinds)")
                XCTAssertFalse(kinds.contains(41), "\(kinds)")
                XCTAssertEqual(ClientHello.sessionLength(in: hello), settings.newest == TLS1_2_VERSION ? 32 : 32)
                dial.pump()
                XCTAssertEqual(dial.log.events, [.opened])
            }
        }
    }

    func testGarbageAfterTheHandshakeEndsTheConnection() throws {
        let dial = try TLSDial.open()
        dial.transport.incoming += [0x17, 3, 3, 0, 32] + [UInt8](repeating: 9, count: 32)
        dial.pump()
        XCTAssertEqual(dial.log.events, [.opened, .broken(.tlsFailed(.protocolError))])
    }
}

/// Reads what the tests ask of a first message (RFC 8446 §4.1.2).
private enum ClientHello {
    static func sessionLength(in bytes: [UInt8]) -> Int? { bytes.count > 43 ? Int(bytes[43]) : nil }

    static func extensions(in bytes: [UInt8]) -> [Int]? {
        guard let session = sessionLength(in: bytes) else { return nil }
        return bytes.withUnsafeBytes { buffer in
            var reader = ByteReader(buffer)
            guard reader.readBytes(44 + session) != nil, let ciphers = reader.readUInt16(),
                reader.readBytes(Int(ciphers)) != nil, let compressions = reader.readUInt8(),
                reader.readBytes(Int(compressions)) != nil, reader.readUInt16() != nil
            else { return nil }
            var kinds: [Int] = []
            while let kind = reader.readUInt16(), let length = reader.readUInt16(), reader.readBytes(Int(length)) != nil
            {
                kinds.append(Int(kind))
            }
            return kinds
        }
    }
}
