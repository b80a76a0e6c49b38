import Basics
import Copenssl
import EventLoop
import XCTest

@testable import Uplink

/// A client of TLS in virtual time, over a transport whose other end is a TLS server in memory.
final class TLSDial {
    let loop = EmbeddedLoop()
    let transport = ScriptedStream()
    let log: StreamLog
    let server: TLSServer
    private(set) var stream: TLSStream?
    /// What the server still has to say; the rest of it is lost after this many bytes.
    var cut = Int.max
    private(set) var served = 0

    init(
        _ kind: String = "good", _ settings: TLSServer.Settings = .init(), host: String = "relay.test",
        trust: TLSTrust? = nil, time: WallTime = TLSDial.today
    ) throws {
        server = try TLSServer(kind, settings)
        let trust = try trust ?? Certificates.trust()
        let stream = TLSStream(loop: loop, transport: transport, host: host, trust: trust, time: { time })
        self.stream = stream
        log = StreamLog(stream)
        stream.open()
        loop.settle()
    }

    static var today: WallTime { SystemClock.wall }
    static func days(_ days: Int) -> WallTime {
        WallTime(milliseconds: UInt64(Int(today.milliseconds) + days * 86_400_000))
    }

    func forget() { stream = nil }

    func connect() {
        transport.delegate?.streamOpened()
        pump()
    }

    /// Passes bytes both ways until neither side has more.
    func pump() {
        for _ in 0..<200_000 {
            transport.pump(loop)
            let sent = transport.written
            transport.written = []
            server.feed(sent)
            var output = server.takeOutput()
            output = Array(output.prefix(cut - served))
            served += output.count
            transport.incoming += output
            if sent.isEmpty, output.isEmpty { return }
        }
        XCTFail("the two never end")
    }

    static func open(_ settings: TLSServer.Settings = .init()) throws -> TLSDial {
        let dial = try TLSDial("good", settings)
        dial.connect()
        XCTAssertEqual(dial.log.events, [.opened])
        return dial
    }
}

final class TLSTests: XCTestCase {
    private let tls12 = TLSServer.Settings(newest: TLS1_2_VERSION)

    func testGoodServersAreAcceptedInBothVersions() throws {
        for kind in ["good", "rsa"] {
            for (settings, version) in [(tls12, "TLSv1.2"), (TLSServer.Settings(), "TLSv1.3")] {
                let dial = try TLSDial(kind, settings)
                dial.log.toSend = Array("ping".utf8)
                dial.connect()
                XCTAssertEqual(dial.log.events, [.opened], kind)
                XCTAssertEqual(dial.server.received, Array("ping".utf8))
                XCTAssertEqual(dial.server.version, version)
                XCTAssertEqual(dial.server.serverName, "relay.test")
                dial.server.send(Array("pong".utf8))
                dial.pump()
                XCTAssertEqual(dial.log.received, Array("pong".utf8))
                XCTAssertTrue(dial.loop.isIdle)
            }
        }
    }

    func testHostNamesAreComparedAsTheyMustBe() throws {
        for host in ["relay.test", "a.relay.test", "localhost", "127.0.0.1"] {
            let dial = try TLSDial(host: host)
            dial.connect()
            XCTAssertEqual(dial.log.events, [.opened], host)
            // An address is no server name.
            XCTAssertEqual(dial.server.serverName, host == "127.0.0.1" ? nil : host)
        }
        for host in ["elay.test", "a.b.relay.test", "relay.test.example", "127.0.0.2", "::1", "localhost.localdomain"] {
            let dial = try TLSDial(host: host)
            dial.connect()
            let names = ["relay.test", "*.relay.test", "localhost"]
            XCTAssertEqual(dial.log.events, [.failed(.tlsFailed(.wrongHost(names: names)))], host)
        }
    }

    func testEachBadCertificateIsRefusedForItsReasonBeforeAnythingIsSent() throws {
        let cases: [(String, (TLSFailure) -> Bool)] = [
            ("nochain", { $0 == .unknownIssuer }), ("otherca", { $0 == .unknownIssuer }),
            ("selfsigned", { $0 == .selfSigned }), ("usage", { $0 == .unsuitablePurpose }),
            ("wronghost", { $0 == .wrongHost(names: ["other.example"]) }), ("cnonly", { $0 == .wrongHost(names: []) }),
            ("expired", { if case .expired = $0 { true } else { false } }),
            ("future", { if case .notYetValid = $0 { true } else { false } }), ("weak", { $0 == .tooWeak }),
        ]
        for (kind, isExpected) in cases {
            for newest in [TLS1_2_VERSION, TLS1_3_VERSION] {
                let dial = try TLSDial(kind, TLSServer.Settings(newest: newest, isWeak: kind == "weak"))
                dial.log.toSend = Array("secret".utf8)
                dial.connect()
                guard case .failed(.tlsFailed(let failure))? = dial.log.events.first else {
                    return XCTFail("\(kind): \(dial.log.events)")
                }
                XCTAssertTrue(isExpected(failure), "\(kind): \(failure)")
                XCTAssertFalse(StreamFailure.tlsFailed(failure).isPermanent)
                XCTAssertEqual(dial.server.received, [])
                XCTAssertTrue(dial.transport.isClosed)
                XCTAssertTrue(dial.loop.isIdle)
                // The server is told by an alert, so its operator can find out too.
                dial.server.feed(dial.transport.written)
                XCTAssertNotEqual(dial.server.failureReason, 0)
            }
        }
    }

    func testValidityIsJudgedByTheTimeGivenAndBothTimesAreSaid() throws {
        func verdict(_ kind: String, _ days: Int) throws -> StreamLog.Event? {
            let dial = try TLSDial(kind, time: TLSDial.days(days))
            dial.connect()
            return dial.log.events.first
        }
        XCTAssertEqual(try verdict("good", 0), .opened)
        XCTAssertEqual(try verdict("good", 80), .opened)
        XCTAssertEqual(try verdict("expired", -10), .opened)
        XCTAssertEqual(try verdict("future", 10), .opened)
        guard case .failed(.tlsFailed(.expired(let end, let checked)))? = try verdict("good", 365) else {
            return XCTFail("not expired in a year")
        }
        XCTAssertLessThan(end.distance(to: TLSDial.days(90)), 120_000)
        XCTAssertLessThan(checked.distance(to: TLSDial.days(365)), 120_000)
        guard case .failed(.tlsFailed(.notYetValid(let start, _)))? = try verdict("good", -20) else {
            return XCTFail("valid before it began")
        }
        XCTAssertLessThan(start.distance(to: TLSDial.days(-1)), 120_000)
        XCTAssertEqual(
            TLSFailure.expired(
                WallTime(milliseconds: 1_700_000_000_000), checked: WallTime(milliseconds: 1_800_000_000_000)
            ).description,
            "its certificate expired on 2023-11-14 22:13 UTC; it is 2027-01-15 08:00 UTC here")
    }

    func testNothingIsTrustedThatIsNotInTheFileGiven() throws {
        let folder = try Certificates.folder()
        let dial = try TLSDial(trust: try TLSTrust(.file(folder + "/selfsigned.pem")))
        dial.connect()
        XCTAssertEqual(dial.log.events, [.failed(.tlsFailed(.unknownIssuer))])
        let beside = try TLSDial(trust: try TLSTrust(.systemAnd(file: folder + "/ca.pem")))
        beside.connect()
        XCTAssertEqual(beside.log.events, [.opened])
        let system = try TLSDial(trust: try TLSTrust(.system))
        system.connect()
        XCTAssertEqual(system.log.events, [.failed(.tlsFailed(.unknownIssuer))])
        for path in ["/nonexistent", folder + "/good.key"] {
            XCTAssertThrowsError(try TLSTrust(.file(path))) { XCTAssertTrue("\($0)".contains(path)) }
        }
    }

    func testOldVersionsAndWeakCiphersAreNotSpoken() throws {
        let settings = [
            TLSServer.Settings(oldest: TLS1_VERSION, newest: TLS1_1_VERSION, isWeak: true),
            TLSServer.Settings(newest: TLS1_2_VERSION, ciphers: "DHE+AESGCM"),
            TLSServer.Settings(newest: TLS1_2_VERSION, ciphers: "ECDHE+AES128+SHA256:!AESGCM"),
            TLSServer.Settings(newest: TLS1_2_VERSION, ciphers: "kRSA+AESGCM"),
        ]
        for setting in settings {
            let dial = try TLSDial("rsa", setting)
            dial.connect()
            XCTAssertEqual(dial.log.events, [.failed(.tlsFailed(.noCommonVersion))], "\(setting)")
        }
    }

    func testEveryByteMayComeAndGoAlone() throws {
        for settings in [tls12, TLSServer.Settings()] {
            let dial = try TLSDial("good", settings)
            dial.transport.readGrain = 1
            dial.log.readGrain = 3
            dial.log.toSend = [UInt8](repeating: 0x61, count: 2_000)
            dial.transport.room = 0
            dial.connect()
            for _ in 0..<6_000 where dial.server.received.count < 2_000 {
                dial.transport.room = 1
                dial.pump()
            }
            XCTAssertEqual(dial.server.received.count, 2_000)
            dial.server.send(Array("hello, world".utf8))
            dial.pump()
            XCTAssertEqual(dial.log.received, Array("hello, world".utf8))
        }
    }

    func testHandshakeCutAtAnyByteFailsAndNeverHangs() throws {
        for settings in [tls12, TLSServer.Settings()] {
            let whole = try TLSDial.open(settings)
            let length = whole.served
            let trust = try Certificates.trust()
            for cut in stride(from: 0, to: length, by: 7) {
                let dial = try TLSDial("good", settings, trust: trust)
                dial.cut = cut
                dial.connect()
                dial.transport.hangsUp = true
                dial.pump()
                // With TLS 1.3 the server's last bytes, its tickets, come when the handshake is over for us.
                let isExpected =
                    dial.log.events == [.failed(.tlsFailed(.hungUp))]
                    || dial.log.events == [.opened, .broken(.tlsFailed(.truncated))]
                XCTAssertTrue(isExpected, "\(cut) of \(length): \(dial.log.events)")
            }
        }
    }

    func testEndIsToldFromTruncation() throws {
        for settings in [tls12, TLSServer.Settings()] {
            let proper = try TLSDial.open(settings)
            proper.server.send(Array("bye".utf8))
            proper.server.sayGoodbye()
            proper.pump()
            XCTAssertEqual(proper.log.received, Array("bye".utf8))
            XCTAssertEqual(proper.log.events, [.opened, .end])

            let cut = try TLSDial.open(settings)
            cut.server.send(Array("bye".utf8))
            cut.transport.incoming = cut.server.takeOutput()
            cut.transport.hangsUp = true
            cut.pump()
            XCTAssertEqual(cut.log.received, Array("bye".utf8))
            XCTAssertEqual(cut.log.events, [.opened, .broken(.tlsFailed(.truncated))])

            let broken = try TLSDial.open(settings)
            broken.transport.readFailure = .failed("reset")
            broken.pump()
            XCTAssertEqual(broken.log.events, [.opened, .broken(.failed("reset"))])
        }
    }

    func testGoodbyeIsSaidBeforeWritingEnds() throws {
        let dial = try TLSDial.open()
        dial.transport.room = 0
        dial.stream?.finishWriting()
        dial.pump()
        XCTAssertFalse(dial.transport.hasFinishedWriting)
        dial.transport.room = .max
        dial.pump()
        XCTAssertTrue(dial.transport.hasFinishedWriting)
        XCTAssertTrue(dial.server.hasSeenGoodbye)
        let closed = try TLSDial.open()
        closed.stream?.close()
        closed.server.feed(closed.transport.written)
        XCTAssertTrue(closed.server.hasSeenGoodbye)
    }

    func testWhatIsNoTLSIsToldFromTLS() throws {
        for text in [
            "HTTP/1.1 400 Bad Request\r\n\r\n", "SSH-2.0-x\r\n", "\0\0\0\0\0\0\0\0\0\0", "\u{16}\u{3}\u{3}\0\0",
        ] {
            let dial = try TLSDial()
            dial.cut = 0
            dial.connect()
            dial.transport.incoming = Array(text.utf8)
            dial.pump()
            guard case .failed(.tlsFailed(let failure))? = dial.log.events.first else {
                XCTAssertEqual(dial.log.events, [], text)
                continue
            }
            XCTAssertEqual(failure, .protocolError, text)
        }
    }

    func testHandshakeHas30Seconds() throws {
        let dial = try TLSDial()
        dial.cut = 50
        dial.connect()
        dial.loop.advance(by: .milliseconds(29_999))
        XCTAssertEqual(dial.log.events, [])
        dial.loop.advance(by: .milliseconds(1))
        XCTAssertEqual(dial.log.events, [.failed(.timedOut("no TLS handshake within 30 s"))])
        XCTAssertTrue(dial.transport.isClosed)
        XCTAssertTrue(dial.loop.isIdle)
    }

    func testReleasedStreamClosesWithoutAWord() throws {
        for stage in 0..<3 {
            let dial = try TLSDial()
            if stage == 1 { dial.cut = 100 }
            if stage > 0 { dial.connect() }
            let before = dial.log.events
            dial.forget()
            dial.loop.advance(by: .seconds(100))
            XCTAssertEqual(dial.log.events, before)
            XCTAssertTrue(dial.transport.isClosed)
            XCTAssertTrue(dial.loop.isIdle)
        }
    }
}
