import Basics
import Crypto
import EventLoop
import Foundation
import TestSupport
import Vault
import XCTest

@testable import Station

/// A wipe and the system's helpers, which here are the scripts themselves, in a folder that stands for the machine.
final class WipeNoteTests: XCTestCase {
    private static let scripts = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("etc").path

    private var root = ""
    private var helpers: Process?
    private var restarts = 0
    private let loop = EmbeddedLoop(
        start: Now(monotonic: .zero, wall: WallTime(milliseconds: 1_800_000_000_000)))
    private let here = HostMarks(marks: [[UInt8](repeating: 1, count: 32), nil, nil])

    override func setUpWithError() throws {
        root = try makeFolder()
        for path in ["/run/bitgate-erase/ask", "/boot/firmware", "/etc/bitgate", "/run/bitgate"] {
            try FileManager.default.createDirectory(atPath: root + path, withIntermediateDirectories: true)
        }
        try startHelpers(#"for word in note forget clear; do [ ! -e $word ] || sh "$2/boot-note" "$1"; done"#)
    }

    /// In the place of the service manager.
    /// - Parameter noting: what starts the helper of the boot partition, when there is something for it to do.
    private func startHelpers(_ noting: String) throws {
        helpers?.terminate()
        helpers?.waitUntilExit()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c",
            """
            cd "$1/run/bitgate-erase/ask"
            while sleep 0.02; do
                [ ! -e now ] || sh "$2/erase" "$1"
                \(noting)
            done
            """, "helpers", root, WipeNoteTests.scripts,
        ]
        try process.run()
        helpers = process
    }

    override func tearDown() {
        helpers?.terminate()
        helpers?.waitUntilExit()
        try? FileManager.default.removeItem(atPath: root)
    }

    private var file: String { root + "/box.toml" }
    private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: root + path) }
    private func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: root + path) }
    private func put(_ path: String) {
        XCTAssertTrue(FileManager.default.createFile(atPath: root + path, contents: nil))
    }
    private func block(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: root + path + "/x", withIntermediateDirectories: true)
    }

    private var configuration: Configuration {
        var configuration = Configuration()
        configuration.stateDirectory = root + "/state"
        configuration.controlSocket = root + "/run/bitgate/control"
        configuration.radio.kind = .air
        configuration.air.room = root + "/room"
        configuration.nostr.relays = []
        configuration.panic.markerDirectory = root + "/nowhere"
        configuration.panic.helper = root + "/run/bitgate-erase"
        configuration.clock.trustSystem = true
        return configuration
    }

    private func start(_ configuration: Configuration? = nil) -> BoxStart {
        BoxStart(
            SalvagedConfiguration(whole: configuration ?? self.configuration), from: file, host: here, forgetKeys: {},
            loop: loop, clock: MachineClock(running: { [loop] in loop.now.monotonic }, isSynchronised: { false }),
            log: Log(level: .error, clock: { .zero }, write: { _ in }), restart: { [unowned self] in restarts += 1 })
    }

    private func prepare(_ configuration: Configuration? = nil) throws -> any Box {
        try start(configuration).prepare()
    }

    private func live(_ configuration: Configuration? = nil, _ body: (any Box) throws -> Void) throws {
        let box = try prepare(configuration)
        try box.start()
        try body(box)
        box.stop()
        loop.advance(by: .seconds(1))
    }

    private func ask(_ command: String, confirm: String? = nil) throws -> WipeReport {
        let connection = try UnixSocket.connect(.stream, to: root + "/run/bitgate/control")
        let line = ControlRequest(command: command, confirmation: confirm).line
        XCTAssertEqual(line.withUnsafeBytes { connection.send($0) }, .bytes(line.count))
        loop.pollDescriptors()
        var answer = [UInt8](repeating: 0, count: 65_536)
        guard case .bytes(let count) = answer.withUnsafeMutableBytes({ connection.read(into: $0) }),
            case .done(let json, _)? = ControlAnswer(Array(answer.prefix(count).dropLast()), to: command)
        else { throw POSIXError(.ECONNRESET) }
        return try WipeReport(json: json)
    }

    /// What only lasts as long as the power is gone, and the machine starts.
    private func cutThePower() throws {
        for folder in ["/run/bitgate", "/run/bitgate-erase"] {
            for name in try FileManager.default.contentsOfDirectory(atPath: root + folder) where name != "ask" {
                try remove(folder + "/" + name)
            }
        }
        let look = Process()
        look.executableURL = URL(fileURLWithPath: "/bin/sh")
        look.arguments = [WipeNoteTests.scripts + "/boot-note", root]
        try look.run()
        look.waitUntilExit()
    }

    /// The card takes no marker, and the file cannot be emptied.
    private func closeTheCard() throws {
        _ = try prepare()
        try "nickname = \"the-pub\"\n".write(toFile: file, atomically: true, encoding: .utf8)
        try block("/state/" + WipeMarkers.stateName + ".new")
        try block("/box.toml.new")
        chmod(root + "/state", 0o700)
    }

    func testAFailedWipeIsKnownAfterAPowerCutThoughTheCardTookNoMarker() throws {
        try closeTheCard()
        try live { _ in _ = try ask("wipe", confirm: "destroy") }
        XCTAssertEqual(restarts, 1)
        XCTAssertTrue(exists("/boot/firmware/bitgate-wiping"))
        try cutThePower()
        try live { box in
            XCTAssertTrue(box is SilentBox)
            let report = try ask("wipe_status")
            XCTAssertEqual(report.failures.map(\.step), ["removeTraces"])
        }
        try remove("/box.toml.new")
        let station = try XCTUnwrap(try prepare() as? Station)
        XCTAssertEqual(station.aftermath.notice, .panic)
        XCTAssertFalse(exists("/boot/firmware/bitgate-wiping"))
        XCTAssertFalse(exists("/run/bitgate-erase/pending"))
    }

    func testWhereAMarkerCanBeWrittenTheBootPartitionIsLeftAlone() throws {
        try closeTheCard()
        try remove("/state/" + WipeMarkers.stateName + ".new")
        try live { _ in _ = try ask("wipe", confirm: "destroy") }
        XCTAssertFalse(exists("/boot/firmware/bitgate-wiping"))
        XCTAssertTrue(try prepare() is SilentBox)
    }

    /// The package's helper serves every box of a machine, and its note names none.
    func testTheNoteOfThePackagesHelperIsThePackagedBoxsAlone() throws {
        XCTAssertTrue(Premises.keepsNote(Configuration()))
        var other = Configuration()
        other.stateDirectory = root + "/other"
        XCTAssertFalse(Premises.keepsNote(other))
        XCTAssertTrue(Premises.keepsNote(configuration))
        let folder = root + "/run/bitgate-erase"
        let pause = { () -> Int in
            usleep(1_000)
            return 1
        }
        let own = TraceHelper(folder: folder, pause: pause)
        let another = TraceHelper(folder: folder, keepsNote: false, pause: pause)
        XCTAssertThrowsError(try another.requestNote())
        XCTAssertFalse(exists("/boot/firmware/bitgate-wiping"))
        try own.requestNote()
        XCTAssertTrue(own.takesNote())
        XCTAssertEqual(own.note, .present)
        XCTAssertEqual(another.note, .absent)
        try another.forget()
        XCTAssertTrue(exists("/boot/firmware/bitgate-wiping"))
    }

    /// Four waits of a wipe may together be longer than the service manager waits for a sign of life, or for a start.
    func testAWipeAsksTheServiceManagerForTimeWhileItWaits() throws {
        let manager = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        defer { close(manager) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: (root + "/notify").utf8) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(manager, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        XCTAssertEqual(bound, 0)
        setenv("NOTIFY_SOCKET", root + "/notify", 1)
        defer { unsetenv("NOTIFY_SOCKET") }
        try live { _ in _ = try ask("wipe", confirm: "destroy") }
        var told: [String] = []
        var bytes = [UInt8](repeating: 0, count: 512)
        while case let count = recv(manager, &bytes, bytes.count, 0), count > 0 {
            told.append(String(decoding: bytes.prefix(count), as: UTF8.self))
        }
        XCTAssertTrue(told.contains("WATCHDOG=1\nEXTEND_TIMEOUT_USEC=60000000"), "\(told)")

        // As often as it has to be, and no oftener.
        var fed: [Int] = []
        var waited = 0
        let silent = TraceHelper(
            folder: root,
            pause: {
                waited += 30
                return 30
            }, alive: { fed.append(waited) })
        try FileManager.default.createDirectory(atPath: root + "/ask", withIntermediateDirectories: true)
        XCTAssertThrowsError(try silent.erase(settings: false))
        XCTAssertEqual(fed.first, 0)
        XCTAssertEqual(zip(fed, fed.dropFirst()).map { $1 - $0 }.max(), 1_020)
        XCTAssertGreaterThan(try XCTUnwrap(fed.last), TraceHelper.patience.erasing - 1_100)
    }

    /// What cannot be read might be a marker, and might be gone after a power cut.
    func testWhatStandsInTheMarkersPlaceAndCannotBeReadIsNoNote() throws {
        _ = try prepare()
        try block("/state/" + WipeMarkers.stateName)
        chmod(root + "/state", 0o700)
        try live { box in
            XCTAssertTrue(box is SilentBox)
            XCTAssertTrue(exists("/boot/firmware/bitgate-wiping"))
        }
    }

    /// Neither does it go on the air, nor is it told to be wiped, and no wipe of it is told to be complete.
    func testWhereTheBootPartitionCannotBeReadItIsNotKnownWhetherAWipeFailed() throws {
        let peer = try XCTUnwrap(try prepare() as? Station).mesh.me
        XCTAssertTrue(try prepare() is Station)
        try "LABEL=BITBOOT /boot/firmware vfat ro,nofail 0 2\n".write(
            toFile: root + "/etc/fstab", atomically: true, encoding: .utf8)
        try cutThePower()
        var fault: StationFault?
        XCTAssertThrowsError(try prepare()) { fault = $0 as? StationFault }
        XCTAssertTrue("\(try XCTUnwrap(fault))".contains("boot partition"))
        let silent = start().silent(try XCTUnwrap(fault))
        silent.start()
        XCTAssertEqual(try ask("wipe_status"), WipeReport(state: .unknown))
        XCTAssertThrowsError(try ask("status"))
        XCTAssertThrowsError(try ask("wipe_acknowledge"))
        _ = try ask("wipe", confirm: "destroy")
        let report = try ask("wipe_status")
        XCTAssertEqual(report.state, .incomplete)
        XCTAssertEqual(report.failures.map(\.step), ["unmarkConfiguration"])
        XCTAssertEqual(restarts, 0)
        silent.stop()
        loop.settle()
        // The next process neither, though all of it is destroyed.
        let next = start().silent(try XCTUnwrap(fault))
        XCTAssertEqual(next.report.state, .unknown)
        XCTAssertEqual(OperatorText.wipe(next.report).prefix(9), "NOT KNOWN")
        try remove("/etc/fstab")
        try cutThePower()
        let station = try XCTUnwrap(try prepare() as? Station)
        XCTAssertNotEqual(station.mesh.me, peer)
        XCTAssertEqual(station.wipeReport, WipeReport(state: .wiped, cause: .panic))
    }

    /// Whoever has confirmed may pull the plug while a helper takes its time.
    func testTheKeysAreGoneBeforeANoteIsWaitedFor() throws {
        try closeTheCard()
        try startHelpers(
            """
            [ ! -e clear ] || sh "$2/boot-note" "$1"
            [ ! -e note ] || [ -e "$1/state/master.key" ] || sh "$2/boot-note" "$1"
            """)
        XCTAssertTrue(exists("/state/master.key"))
        try live { _ in _ = try ask("wipe", confirm: "destroy") }
        XCTAssertTrue(exists("/boot/firmware/bitgate-wiping"))
    }

    func testABoxThatCanNoteItsFailedWipeNowhereSaysSo() throws {
        try closeTheCard()
        try remove("/boot")
        // Deeper than a wipe goes, so that it does not go with the rest.
        try block("/state/" + WipeMarkers.stateName + ".new" + String(repeating: "/x", count: 12))
        try live { _ in _ = try ask("wipe", confirm: "destroy") }
        try live { box in
            XCTAssertTrue(box is SilentBox)
            let note = try XCTUnwrap(try ask("wipe_status").failures.last)
            XCTAssertEqual(note.step, "note")
            XCTAssertTrue(note.reason.contains("destroy the card"), note.reason)
        }
    }

    func testAWipeTakesWhatLiesBesideTheConfigurationUnlessItIsToGoOn() throws {
        let leftovers = ["/etc/bitgate/bitgate.toml.dpkg-old", "/etc/bitgate/.bitgate.toml.swp"]
        for resume in [true, false] {
            var configuration = configuration
            configuration.panic.resume = resume
            for path in leftovers { put(path) }
            try live(configuration) { _ in _ = try ask("wipe", confirm: "destroy") }
            for path in leftovers { XCTAssertEqual(exists(path), resume, path) }
        }
    }
}
