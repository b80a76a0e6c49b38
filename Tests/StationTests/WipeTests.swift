import Basics
import Crypto
import EventLoop
import Foundation
import TestSupport
import Vault
import XCTest

@testable import Station

final class WipeTests: XCTestCase {
    private var folder = ""
    private var second = ""
    private let loop = EmbeddedLoop(
        start: Now(monotonic: .zero, wall: WallTime(milliseconds: 1_800_000_000_000)))
    private var restarts = 0
    /// Of the system, to make a fresh process.
    private var refusal: SystemError?
    private var whileWiping = {}

    override func setUpWithError() throws { (folder, second) = (try makeFolder(), try makeFolder()) }
    override func tearDown() {
        for path in [folder, second] { try? FileManager.default.removeItem(atPath: path) }
    }

    private var configuration: Configuration {
        var configuration = Configuration()
        configuration.nickname = "the-pub"
        configuration.stateDirectory = folder + "/state"
        configuration.controlSocket = folder + "/control"
        configuration.radio.kind = .air
        configuration.air.room = folder + "/room"
        configuration.location.cell = .init("u4pruy")
        configuration.nostr.relays = []
        configuration.panic.markerDirectory = second
        configuration.clock.trustSystem = true
        return configuration
    }

    private let here = HostMarks(marks: [[UInt8](repeating: 1, count: 32), nil, nil])
    private let elsewhere = HostMarks(marks: [[UInt8](repeating: 2, count: 32), nil, nil])

    private func prepare(
        _ configuration: Configuration? = nil, from path: String? = nil, on host: HostMarks? = nil
    ) throws -> any Box {
        try BoxStart(
            SalvagedConfiguration(whole: configuration ?? self.configuration), from: path, host: host ?? here,
            forgetKeys: { [unowned self] in whileWiping() }, loop: loop,
            clock: MachineClock(running: { [loop] in loop.now.monotonic }, isSynchronised: { false }),
            log: Log(level: .error, clock: { .zero }, write: { _ in }),
            restart: { [unowned self] () throws(SystemError) in
                if let refusal { throw refusal }
                restarts += 1
            }
        ).prepare()
    }

    private func station(
        _ configuration: Configuration? = nil, from path: String? = nil, on host: HostMarks? = nil
    ) throws -> Station {
        try XCTUnwrap(try prepare(configuration, from: path, on: host) as? Station)
    }

    /// A station that is started, and gone with its lock afterwards.
    @discardableResult
    private func live<Result>(
        _ configuration: Configuration? = nil, from path: String? = nil, _ body: (Station) throws -> Result
    ) throws -> Result {
        let station = try station(configuration, from: path)
        try station.start()
        let result = try body(station)
        station.stop()
        loop.advance(by: .seconds(1))
        return result
    }

    private var markers: WipeMarkers { WipeMarkers(state: folder + "/state", second: second) }

    /// One request of the control socket, in virtual time.
    private func ask(_ command: String, confirm: String? = nil) throws -> ControlAnswer {
        let connection = try UnixSocket.connect(.stream, to: folder + "/control")
        let line = ControlRequest(command: command, confirmation: confirm).line
        XCTAssertEqual(line.withUnsafeBytes { connection.send($0) }, .bytes(line.count))
        loop.pollDescriptors()
        var answer = [UInt8](repeating: 0, count: 65_536)
        guard case .bytes(let count) = answer.withUnsafeMutableBytes({ connection.read(into: $0) }) else {
            throw POSIXError(.ECONNRESET)
        }
        return try XCTUnwrap(ControlAnswer(Array(answer.prefix(count).dropLast()), to: command))
    }

    private func report(_ answer: ControlAnswer) throws -> WipeReport {
        guard case .done(let json, _) = answer else { throw POSIXError(.EINVAL) }
        return try WipeReport(json: json)
    }

    func testAWipeNeedsItsWord() throws {
        let station = try station()
        try station.start()
        let peer = station.mesh.me
        for word in [nil, "", "Destroy", "yes"] {
            guard case .refused(let error) = try ask("wipe", confirm: word) else { return XCTFail() }
            XCTAssertEqual(error.code, "not_confirmed")
        }
        XCTAssertEqual(try report(try ask("wipe_status")).state, .none)
        XCTAssertEqual(restarts, 0)
        XCTAssertEqual(station.mesh.me, peer)
        station.stop()
        loop.advance(by: .seconds(1))
    }

    func testAWipeEndsInANewProcessWithANewIdentityAndNoPlace() throws {
        let peer = try live { station in
            loop.advance(by: .seconds(2))
            XCTAssertNotNil(try report(try ask("wipe", confirm: "destroy")))
            return station.mesh.me
        }
        XCTAssertEqual(restarts, 1)
        XCTAssertNil(markers.pending)

        let again = try live { second in
            XCTAssertNotEqual(second.mesh.me, peer)
            XCTAssertNil(second.configuration.cell)
            XCTAssertFalse(second.configuration.bridge.isEnabled)
            XCTAssertFalse(second.configuration.gateway.isEnabled)
            XCTAssertEqual(second.uplink.choice.defaults, [])
            let name = try XCTUnwrap(second.configuration.nickname)
            XCTAssertTrue(name.hasPrefix("anon") && name.count == 8, name)
            XCTAssertEqual(try report(try ask("wipe_status")), WipeReport(state: .wiped, cause: .panic))
            let codes = Set(second.statusReport.attention.map(\.code))
            XCTAssertTrue(codes.isSuperset(of: ["wiped", "unprovisioned"]), "\(codes)")
            second.reload(configuration)
            XCTAssertEqual(second.configuration.nickname, name, "the file does not count yet")
            XCTAssertEqual(try report(try ask("wipe_acknowledge")).state, .none)
            _ = try ask("provision")
            loop.advance(by: .seconds(1))
            return second.mesh.me
        }
        XCTAssertEqual(restarts, 2)
        try live { third in
            XCTAssertEqual(third.configuration.nickname, "the-pub")
            XCTAssertEqual(third.mesh.me, again)
        }
    }

    func testWithResumeTheConfigurationStays() throws {
        var configuration = configuration
        configuration.panic.resume = true
        let file = folder + "/c.toml"
        try "nickname = \"the-pub\"\n".write(toFile: file, atomically: true, encoding: .utf8)
        try live(configuration, from: file) { _ in _ = try ask("wipe", confirm: "destroy") }
        let next = try station(configuration, from: file)
        XCTAssertEqual(next.configuration.nickname, "the-pub")
        XCTAssertNotNil(next.configuration.cell)
        XCTAssertEqual(try String(contentsOfFile: file, encoding: .utf8), "nickname = \"the-pub\"\n")
    }

    func testWithoutResumeTheConfigurationFileTellsNothingAnyMore() throws {
        let file = folder + "/c.toml"
        try """
        # our pub in the harbour
        nickname = "the-pub"
        state_directory = "\(folder)/state"
        control_socket = "\(folder)/control"
        air.room = "\(folder)/room"
        air.mtu = 300
        panic.marker_directory = "\(second)"
        location.cell = "u4pruy"
        nostr.relays = ["ws://127.0.0.1:7777"]
        gateway.channels = ["u4pru"]
        bridge.extra_cells = ["gcpvj0"]
        courier.trusted = ["\(String(repeating: "c0ffee00", count: 8))"]
        """.write(toFile: file, atomically: true, encoding: .utf8)
        chmod(file, 0o640)
        try live(try Configuration(contentsOf: file), from: file) { _ in _ = try ask("wipe", confirm: "destroy") }
        let text = try String(contentsOfFile: file, encoding: .utf8)
        for word in ["pub", "harbour", "u4pru", "7777", "gcpvj0", "c0ffee"] {
            XCTAssertFalse(text.contains(word), text)
        }
        let left = try Configuration(contentsOf: file)
        XCTAssertEqual(left.air.mtu, 300)
        XCTAssertEqual(left.stateDirectory, folder + "/state")
        XCTAssertEqual(mode(file), 0o640)
    }

    func testEveryTellingKeyIsAKey() {
        let known = Set(ConfigurationTable.settings.map(\.key))
        XCTAssertEqual(ConfigurationRedaction.telling.subtracting(known), [])
    }

    /// A pending wipe is completed before anything else.
    func testPendingMarkerHandledBeforeTransportStart() throws {
        let peer = try station().mesh.me
        let state = folder + "/state"
        try Data("panic".utf8).write(
            to: URL(fileURLWithPath: second + "/bitgate-wiping-" + Hex.encode(SHA256.hash(Array(state.utf8)).prefix(4)))
        )
        chmod(second + "/" + (try FileManager.default.contentsOfDirectory(atPath: second)[0]), 0o600)
        let next = try station()
        XCTAssertNotEqual(next.mesh.me, peer)
        XCTAssertNil(markers.pending)
        XCTAssertEqual(next.aftermath.notice, .panic)
        XCTAssertFalse(FileManager.default.fileExists(atPath: folder + "/room"), "no radio was opened before that")
    }

    /// An incomplete wipe keeps the box off the air until it succeeds.
    func testKeychainFailureKeepsEverythingStopped() throws {
        do {
            let first = try station()
            withExtendedLifetime(first) {}
        }
        let state = folder + "/state"
        // A directory in the marker's place can neither be read nor removed as a marker.
        try FileManager.default.createDirectory(
            atPath: state + "/" + WipeMarkers.stateName + "/x", withIntermediateDirectories: true)
        let box = try prepare()
        XCTAssertTrue(box is SilentBox)
        try box.start()
        let status = try report(try ask("wipe_status"))
        XCTAssertEqual(status.state, .incomplete)
        XCTAssertEqual(status.failures.map(\.step), ["unmarkState"])
        guard case .refused(let error) = try ask("status") else { return XCTFail() }
        XCTAssertEqual(error.code, "wipe_incomplete")
        XCTAssertFalse(FileManager.default.fileExists(atPath: folder + "/room"), "no radio was opened")
        _ = try ask("wipe", confirm: "destroy")
        XCTAssertEqual(try report(try ask("wipe_status")).state, .incomplete)
        try FileManager.default.removeItem(atPath: state + "/" + WipeMarkers.stateName)
        _ = try ask("wipe", confirm: "destroy")
        XCTAssertEqual(restarts, 1)
        XCTAssertNil(markers.pending)
    }

    func testKeysThatCameFromAnotherMachineAreDestroyedBeforeTheRadioOpens() throws {
        var peer = try station().mesh.me
        XCTAssertEqual(try station().mesh.me, peer)
        let copy = try station(on: elsewhere)
        XCTAssertNotEqual(copy.mesh.me, peer)
        XCTAssertEqual(copy.aftermath, Aftermath(notice: .moved))
        XCTAssertNotNil(copy.configuration.cell, "a copy is still meant to be a gateway")
        peer = copy.mesh.me
        withExtendedLifetime(copy) {}
    }

    func testABoxThatWasWipedStaysUnprovisionedInAnotherMachine() throws {
        try live { _ in _ = try ask("wipe", confirm: "destroy") }
        let name = Aftermath(in: folder + "/state").unprovisionedName
        XCTAssertNotNil(name)
        let moved = try station(on: elsewhere)
        XCTAssertEqual(moved.aftermath.notice, .moved)
        XCTAssertNotNil(moved.aftermath.unprovisionedName)
        XCTAssertNil(moved.configuration.cell)
        XCTAssertFalse(moved.configuration.gateway.isEnabled)
    }

    func testAPanicIsCompletedAsOneWhateverTheOtherMarkerSays() throws {
        _ = try station().mesh.me
        let state = folder + "/state"
        let name = "bitgate-wiping-" + Hex.encode(SHA256.hash(Array(state.utf8)).prefix(4))
        try PrivateFile.replace(state + "/" + WipeMarkers.stateName, Array("moved".utf8))
        try PrivateFile.replace(second + "/" + name, Array("panic".utf8))
        XCTAssertEqual(markers.pending, .panic)
        let next = try station()
        XCTAssertEqual(next.aftermath.notice, .panic)
        XCTAssertNil(next.configuration.cell)
    }

    func testALatchThatCannotBeReadCounts() throws {
        try PrivateFile.replace(folder + "/" + Aftermath.latchFile, Array("anon1234".utf8))
        XCTAssertEqual(Aftermath(in: folder), Aftermath(unprovisionedName: "anon1234"))
        chmod(folder + "/" + Aftermath.latchFile, 0o644)
        XCTAssertEqual(Aftermath(in: folder), Aftermath(unprovisionedName: "anon"))
    }

    // MARK: The end of a wipe

    func testAProcessThatMayNotBeReplacedEndsAndTheNextOneTellsThatItWasWiped() throws {
        refusal = SystemError("execv", code: ENOENT)
        let peer = try live { station in
            _ = try ask("wipe", confirm: "destroy")
            XCTAssertThrowsError(try ask("wipe_status"), "it is gone")
            XCTAssertEqual(station.exitStatus, 0)
            return station.mesh.me
        }
        try live { next in
            XCTAssertNotEqual(next.mesh.me, peer)
            XCTAssertEqual(next.wipeReport.state, .wiped)
        }
    }

    func testAFailedWipeIsLeftToWhoeverIsStartedNextIfThatOneWillKnow() throws {
        refusal = SystemError("execv", code: ENOENT)
        let file = folder + "/c.toml"
        try "nickname = \"the-pub\"\n".write(toFile: file, atomically: true, encoding: .utf8)
        try FileManager.default.createDirectory(atPath: file + ".new/x", withIntermediateDirectories: true)
        try live(from: file) { station in
            _ = try ask("wipe", confirm: "destroy")
            XCTAssertThrowsError(try ask("wipe_status"), "it is gone")
            XCTAssertEqual(station.exitStatus, ExitStatus.wipeIncomplete)
        }
        XCTAssertTrue(try prepare(from: file) is SilentBox)
    }

    func testAFailedWipeThatNobodyElseWouldKnowOfStaysWithAProcessThatMayNotBeReplaced() throws {
        defer { unsetenv("BITGATE_WIPE_INCOMPLETE") }
        refusal = SystemError("execv", code: ENOENT)
        let (configuration, file, obstacles) = try boxThatTakesNoNote()
        try live(configuration, from: file) { station in
            let peer = station.mesh.me
            XCTAssertFalse(station.liveness.isEmpty)
            _ = try ask("wipe", confirm: "destroy")
            loop.advance(by: .minutes(30))
            let status = try report(try ask("wipe_status"))
            XCTAssertEqual(status.failures.map(\.step), ["deleteStores", "removeTraces", "note", "clearMemory"])
            XCTAssertTrue(status.failures.last?.reason.contains("execv") ?? false)
            guard case .refused(let error) = try ask("status") else { return XCTFail() }
            XCTAssertEqual(error.code, "wipe_incomplete")
            XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder + "/room"), [], "off the air")
            XCTAssertTrue(station.liveness.isEmpty, "no watchdog is to end it")
            XCTAssertTrue(station.summary.contains("incomplete"))
            XCTAssertEqual(station.exitStatus, ExitStatus.wipeIncomplete)
            refusal = nil
            for path in obstacles { try FileManager.default.removeItem(atPath: path) }
            _ = try ask("wipe", confirm: "destroy")
            XCTAssertEqual(restarts, 1)
            XCTAssertEqual(station.mesh.me, peer)
        }
        XCTAssertEqual(try station(configuration, from: file).aftermath.notice, .panic)
    }

    /// A service that is stopped meanwhile ends with the wipe, and no process that knows nothing of the stop follows.
    func testAStopThatComesDuringAWipeIsKnownAtItsEnd() throws {
        signal(SIGTERM, SIG_IGN)
        defer { signal(SIGTERM, SIG_DFL) }
        whileWiping = { pthread_kill(pthread_self(), SIGTERM) }
        let peer = try live { station in
            _ = try ask("wipe", confirm: "destroy")
            XCTAssertEqual(restarts, 0)
            XCTAssertThrowsError(try ask("wipe_status"), "it is gone")
            XCTAssertEqual(station.exitStatus, 0)
            return station.mesh.me
        }
        XCTAssertFalse(StopSignals.isAsked, "it was delivered")
        whileWiping = {}
        XCTAssertNotEqual(try station().mesh.me, peer)
    }

    func testAStopBeforeTheWipeThatWasBegunWaitsForItsEnd() throws {
        for isPart in [false, true] {
            let file = folder + "/c.toml"
            try "nickname = \"the-pub\"\n".write(toFile: file, atomically: true, encoding: .utf8)
            if isPart {
                try FileManager.default.createDirectory(atPath: file + ".new/x", withIntermediateDirectories: true)
            }
            var key: Data?
            try live(from: file) { station in
                key = FileManager.default.contents(atPath: folder + "/state/master.key")
                let connection = try UnixSocket.connect(.stream, to: folder + "/control")
                let line = ControlRequest(command: "wipe", confirmation: "destroy").line
                XCTAssertEqual(line.withUnsafeBytes { connection.send($0) }, .bytes(line.count))
                station.stop()
                loop.pollDescriptors()
                loop.advance(by: .seconds(2))
                XCTAssertEqual(restarts, 0)
                XCTAssertEqual(station.exitStatus, isPart ? ExitStatus.wipeIncomplete : 0)
            }
            XCTAssertNotNil(key)
            XCTAssertNotEqual(FileManager.default.contents(atPath: folder + "/state/master.key"), key)
            XCTAssertEqual(try prepare(from: file) is SilentBox, isPart)
        }
    }

    /// One whose wipe cannot be completed, nor be noted anywhere.
    private func boxThatTakesNoNote() throws -> (Configuration, file: String, obstacles: [String]) {
        let file = folder + "/c.toml"
        try "nickname = \"the-pub\"\n".write(toFile: file, atomically: true, encoding: .utf8)
        // Beside the control socket there would be a third.
        let passing = folder + "/bitgate-wiping-" + Hex.encode(SHA256.hash(Array((folder + "/state").utf8)).prefix(4))
        let obstacles = [file, folder + "/state/" + WipeMarkers.stateName, passing].map { $0 + ".new" }
        for path in obstacles {
            // Deeper than a wipe goes, so that the one in the state directory does not go with the rest.
            try FileManager.default.createDirectory(
                atPath: path + String(repeating: "/x", count: 12), withIntermediateDirectories: true)
        }
        chmod(folder + "/state", 0o700)
        var configuration = configuration
        configuration.panic.markerDirectory = folder + "/nowhere"
        return (configuration, file, obstacles)
    }

    /// A new process would know of no wipe, find no keys, and go on the air as a new box in the old place.
    func testAnIncompleteWipeThatLeftNoMarkerIsKnownToTheProcessThatTakesItsPlace() throws {
        defer { unsetenv("BITGATE_WIPE_INCOMPLETE") }
        let (configuration, file, obstacles) = try boxThatTakesNoNote()
        try live(configuration, from: file) { _ in _ = try ask("wipe", confirm: "destroy") }
        XCTAssertEqual(restarts, 1, "nothing of the memory of this one is to stay")
        do {
            let blocked = try XCTUnwrap(try prepare(configuration, from: file) as? SilentBox)
            blocked.start()
            XCTAssertEqual(
                try report(try ask("wipe_status")).failures.map(\.step), ["deleteStores", "removeTraces", "note"])
            for command in ["status", "mail", "clock", "limits"] {
                guard case .refused(let error) = try ask(command) else { return XCTFail(command) }
                XCTAssertEqual(error.code, "wipe_incomplete", command)
            }
            for path in obstacles { try FileManager.default.removeItem(atPath: path) }
            _ = try ask("wipe", confirm: "destroy")
            XCTAssertEqual(restarts, 2)
            blocked.stop()
        }
        XCTAssertEqual(try station(configuration, from: file).aftermath.notice, .panic)
    }

    func testABoxWhoseControllerDoesNotFallSilentIsNotToldToBeWiped() throws {
        _ = try station().mesh.me
        var orders: [Int] = []
        var isObeyed = false
        let panel = PanelDesk(configuration.panel.configuration, loop: loop)
        var premises = Premises(
            state: try StateDirectory(folder + "/state"), configuration: configuration, configurationPath: nil,
            host: here, forgetKeys: {}, panel: panel,
            quiet: { [folder] _ in
                orders.append(MasterKey.exists(in: folder + "/state") ? 1 : 0)
                return isObeyed ? [] : [3]
            })
        premises.quietPatience = 600
        let failures = try XCTUnwrap(premises.wipe(.panic)).failures
        XCTAssertEqual(failures.map(\.step), ["removeTraces"])
        XCTAssertTrue(failures[0].reason.hasPrefix("hci3 "), failures[0].reason)
        XCTAssertEqual(orders.first, 1, "before the key is destroyed")
        XCTAssertFalse(MasterKey.exists(in: folder + "/state"), "which waits for nothing")
        isObeyed = true
        XCTAssertNil(premises.wipe(.panic))
        XCTAssertTrue(MasterKey.exists(in: folder + "/state"))
    }

    func testWhatTheNameOfTheConfigurationLeadsToIsEmptied() throws {
        try FileManager.default.createDirectory(atPath: folder + "/venues", withIntermediateDirectories: true)
        let target = folder + "/venues/pub.toml"
        try "nickname = \"the-pub\"\n".write(toFile: target, atomically: true, encoding: .utf8)
        let file = folder + "/c.toml"
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: target)
        try live(from: file) { _ in _ = try ask("wipe", confirm: "destroy") }
        let text = try String(contentsOfFile: target, encoding: .utf8)
        XCTAssertFalse(text.contains("the-pub"), text)
        XCTAssertEqual(try FileManager.default.destinationOfSymbolicLink(atPath: file), target)
    }

    func testAMarkerInMemoryKeepsANewProcessOffTheAirWhereNoOtherCanBeWritten() throws {
        let file = folder + "/c.toml"
        try "nickname = \"the-pub\"\n".write(toFile: file, atomically: true, encoding: .utf8)
        for path in [file + ".new", folder + "/state/" + WipeMarkers.stateName + ".new"] {
            try FileManager.default.createDirectory(atPath: path + "/x", withIntermediateDirectories: true)
        }
        chmod(folder + "/state", 0o700)
        var configuration = configuration
        configuration.panic.markerDirectory = folder + "/nowhere"
        try live(configuration, from: file) { _ in _ = try ask("wipe", confirm: "destroy") }
        XCTAssertEqual(restarts, 1, "a new process, which knows")
        XCTAssertTrue(try prepare(configuration, from: file) is SilentBox)
        try FileManager.default.removeItem(atPath: file + ".new")
        XCTAssertEqual(try station(configuration, from: file).aftermath.notice, .panic)
    }

    func testTheOperatorIsToldWhenNothingCanBeKept() throws {
        let path = folder + "/state/" + Vault.fileName
        _ = try station().mesh.me
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try live { station in
            XCTAssertTrue(station.statusReport.attention.map(\.code).contains("storage_degraded"))
            XCTAssertEqual(station.statusReport.storage.state, "disk_failing")
            XCTAssertTrue(station.panelState.hasFault)
        }
        try FileManager.default.removeItem(atPath: path)
        try Data(repeating: 0x41, count: 4_096).write(to: URL(fileURLWithPath: path))
        try live { station in
            XCTAssertTrue(station.statusReport.attention.map(\.code).contains("storage_damaged"))
            XCTAssertEqual(station.statusReport.storage.state, "ok")
        }
        try live { station in
            XCTAssertEqual(station.statusReport.attention.map(\.code).filter { $0.hasPrefix("storage") }, [])
            XCTAssertFalse(station.panelState.hasFault)
        }
    }

    func testAnAmnesicBoxIsANewOneEachTimeAndWritesNothing() throws {
        var configuration = configuration
        configuration.storage = .amnesic
        var peers: Set<String> = []
        for _ in 0..<2 { peers.insert(try station(configuration).mesh.me.hex) }
        XCTAssertEqual(peers.count, 2)
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder + "/state"), ["lock"])
        XCTAssertFalse(try station(configuration).statusReport.attention.map(\.code).contains("state_left"))
        _ = try station().mesh.me
        XCTAssertTrue(try station(configuration).statusReport.attention.map(\.code).contains("state_left"))
    }
}
