import Basics
import Crypto
import EventLoop
import Foundation
import Glibc
import Mesh
import Nostr
import TestSupport
import Vault
import XCTest

@testable import Station

/// What a station tells whoever runs it, and how that agrees with the documentation.
final class OperatorAdviceTests: XCTestCase {
    private var folder = ""
    private let loop = EmbeddedLoop(
        start: Now(monotonic: .zero, wall: WallTime(milliseconds: 1_800_000_000_000)))

    override func setUpWithError() throws { folder = try makeFolder() }
    override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

    private var configuration: Configuration {
        var configuration = Configuration()
        configuration.stateDirectory = folder + "/state"
        configuration.controlSocket = folder + "/control"
        configuration.radio.kind = .air
        configuration.air.room = folder + "/room"
        configuration.panic.markerDirectory = folder
        return configuration
    }

    private func withStation(
        _ wanted: Configuration? = nil, isSynchronised: Bool = false, _ body: (Station) throws -> Void
    ) throws {
        let box = try BoxStart(
            SalvagedConfiguration(whole: wanted ?? configuration), from: nil,
            host: HostMarks(marks: [[UInt8](repeating: 1, count: 32), nil, nil]), forgetKeys: {}, loop: loop,
            clock: MachineClock(running: { [loop] in loop.now.monotonic }, isSynchronised: { isSynchronised }),
            log: Log(level: .error, clock: { .zero }, write: { _ in }), restart: {}
        ).prepare()
        let station = try XCTUnwrap(box as? Station)
        try station.start()
        try body(station)
        station.stop()
        loop.advance(by: .seconds(1))
    }

    // MARK: Configuration

    func testAConfigurationThatWasNotTakenIsToldUntilAGoodOneIs() throws {
        try withStation { station in
            func codes() -> [String] { station.attention.map(\.code) }
            XCTAssertFalse(codes().contains("configuration_refused"))
            station.refusedToReload(from: "/etc/x.toml")
            let item = try XCTUnwrap(station.attention.first { $0.code == "configuration_refused" })
            XCTAssertTrue(item.remedy.hasPrefix("bitgate config check /etc/x.toml "), item.remedy)
            station.reload(configuration)
            XCTAssertFalse(codes().contains("configuration_refused"))
        }
    }

    func testAFileIsNamedSoThatItIsFoundFromAnywhere() {
        XCTAssertEqual(Configuration.absolutePath("/a/b.toml"), "/a/b.toml")
        let path = Configuration.absolutePath("b.toml")
        XCTAssertTrue(path.hasPrefix("/") && path.hasSuffix("/b.toml"), path)
    }

    func testSettingsThatCannotComeTrueAreRemarked() throws {
        func remarks(_ text: String) throws -> [String] {
            try Configuration(parsing: Array(text.utf8), file: "x").remarks
        }
        XCTAssertEqual(try remarks(""), [])
        XCTAssertEqual(try remarks("radio.links = 6"), [])
        XCTAssertEqual(try remarks("radio.links = 5").count, 1)
        let relays = "nostr.relays = [\"ws://127.0.0.1:7\", \"ws://abc.onion\", \"wss://relay.example.com\"]\n"
        XCTAssertEqual(try remarks(relays).map { $0.hasPrefix("nostr.relays: ws://127.0.0.1:7 is never") }, [true])
        XCTAssertEqual(try remarks(relays + "network.tor = \"off\""), [])
    }

    func testAMissingFileOfTorsIsNotSaidToBeMadeByBitgate() {
        for (isOwn, read) in [
            (false, { _ = try Configuration.text(of: self.folder + "/nope") }),
            (true, { _ = try Configuration(contentsOf: self.folder + "/nope") }),
        ] as [(Bool, () throws -> Void)] {
            XCTAssertThrowsError(try read()) { XCTAssertEqual("\($0)".contains("bitgate config"), isOwn, "\($0)") }
        }
    }

    // MARK: Requests

    func testWhatIsWrongWithARequestIsWrongUsage() throws {
        XCTAssertEqual(ControlClientError.refused(ControlError(code: "malformed", message: "")).exitStatus, 64)
        XCTAssertEqual(ControlClientError.refused(ControlError(code: "refused", message: "")).exitStatus, 76)
        try withStation { station in
            for (argument, blamed) in [
                ("u4pruy abc", "ID"), ("u4pruy", "ID"), ("u4pruy a b", "ID"), ("U4 abc", "geohash"), ("", "geohash"),
            ] {
                XCTAssertThrowsError(try station.deleteNote(argument)) { error in
                    XCTAssertEqual((error as? ControlError)?.code, "malformed")
                    XCTAssertTrue((error as? ControlError)?.message.contains(blamed) ?? false, "\(argument): \(error)")
                }
            }
        }
    }

    func testAReloadDialsRelaysThatHadBeenGivenUp() throws {
        var direct = configuration
        direct.network.tor = .off
        try withStation(direct, isSynchronised: true) { station in
            loop.advance(by: .minutes(1))
            let relays = station.uplink.client.defaultRelays
            XCTAssertEqual(relays.count, 4)
            func dialled() -> UInt64 { station.uplink.client.activity[.dialled] }
            let before = dialled()
            XCTAssertGreaterThan(before, 0, "there is no network to reach them by")
            station.reload(direct)
            XCTAssertEqual(dialled() - before, 4)
        }
    }

    func testANoteThatIsDeletedBeforeARelayHasItIsNotPublished() throws {
        var direct = configuration
        direct.network.tor = .off
        try withStation(direct, isSynchronised: true) { station in
            loop.advance(by: .seconds(1))
            _ = try station.lookAtNotes("u4pruydq")
            _ = try station.postNote("u4pruydq 24 plain hello")
            let publications = station.uplink.durable.publications
            XCTAssertEqual(publications.waiting, 1)
            let note = try XCTUnwrap(station.switchboard.notes?.notes.first?.id)
            _ = try station.deleteNote("u4pruydq \(note.hex)")
            XCTAssertFalse(publications.isWaiting(PublicationKey(hashing: note.bytes)))
            XCTAssertEqual(publications.waiting, 1, "the deletion")
        }
    }

    func testAPeerIsForgottenByItsIDAndByNothingElse() throws {
        try withStation { station in
            for (argument, code) in [
                (nil, "malformed"), ("", "malformed"), ("gate-1234", "malformed"), ("0011", "malformed"),
                ("0011223344556677", "refused"), (station.mesh.me.hex, "refused"),
            ] {
                XCTAssertThrowsError(try station.forgetPeer(argument)) {
                    XCTAssertEqual(($0 as? ControlError)?.code, code, argument ?? "nothing")
                }
            }
            var random = SeededRandom(seed: 8)
            let phone = StationIdentity.generate(using: &random).node
            let archive = MeshArchive(station.vault)
            let known = IdentityRecord(
                noiseKey: phone.noise.publicKey, signingKey: phone.signing.publicKey, nickname: "phone")
            archive.keep(known, at: loop.now.monotonic)
            station.switchboard.perform { archive.restore(into: station.mesh, at: $0) }
            XCTAssertEqual(try station.forgetPeer(phone.peerID.hex), [])
            XCTAssertThrowsError(try station.forgetPeer(phone.peerID.hex))
            station.switchboard.perform { archive.restore(into: station.mesh, at: $0) }
            XCTAssertThrowsError(try station.forgetPeer(phone.peerID.hex), "nor known after a restart")
        }
    }

    func testEveryNameOfALimitIsExplained() throws {
        try withStation { station in
            let reports = station.limitReports
            XCTAssertFalse(reports.contains { $0.limit == 0 })
            for report in reports {
                XCTAssertEqual(
                    LimitGuide.entries.count { $0.explains(report) }, 1, "\(report.part) \(report.name)")
            }
            for entry in LimitGuide.entries {
                XCTAssertTrue(reports.contains { entry.explains($0) }, "\(entry.names) explains nothing")
            }
        }
        for line in LimitGuide.text.split(separator: "\n") { XCTAssertLessThanOrEqual(line.count, 80, "\(line)") }
    }

    // MARK: Documentation

    /// The table of docs/privacy.md names everything that is kept.
    func testNothingIsKeptThatThePrivacyPageDoesNotName() throws {
        let page = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("docs/privacy.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("|") }
        for store in BoxStores.all {
            let name = "`\(Station.stableName(store.name))`"
            XCTAssertEqual(rows.count { $0.contains(name) }, 1, name)
        }
        for store in BoxStores.chat {
            XCTAssertTrue(text.contains("(`\(Station.stableName(store.name))`"), store.name)
        }
    }

    // MARK: Process

    func testAProcessIsCalledWhatItSays() throws {
        func name() throws -> String {
            try XCTUnwrap(SystemFiles.line("/proc/self/comm"))
        }
        let before = try name()
        ProcessName.set("bitgated")
        XCTAssertEqual(try name(), "bitgated")
        ProcessName.set(before)
    }
}
