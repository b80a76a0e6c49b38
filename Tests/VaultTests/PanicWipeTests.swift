import Basics
import Crypto
import EventLoop
import Foundation
import TestSupport
import XCTest

@testable import Vault

final class PanicWipeTests: XCTestCase {
    private final class Recorder: WipeWorker {
        var steps: [WipeStep] = []
        var failing: Set<WipeStep> = []
        func perform(_ step: WipeStep) -> String? {
            steps.append(step)
            return failing.contains(step) ? "broken" : nil
        }
    }

    /// The steps are those of the chapter in its order.
    func testOrderStopBeginWipeCompleteRestart() {
        let worker = Recorder()
        XCTAssertEqual(PanicWipe.run(with: worker), .complete)
        XCTAssertEqual(worker.steps, WipeStep.allCases)
        let order: [WipeStep] = [
            .block, .markState, .silence, .destroyKey, .deleteStores, .removeTraces, .createIdentity, .unmarkState,
            .unmarkConfiguration,
        ]
        XCTAssertEqual(worker.steps.filter(order.contains), order)
    }

    func testAFailureStopsNoLaterStepButTheNewIdentity() {
        for step in [WipeStep.silence, .destroyKey, .forgetKeys, .deleteStores, .clearMemory, .removeTraces] {
            let worker = Recorder()
            worker.failing = [step]
            XCTAssertEqual(
                PanicWipe.run(with: worker), .incomplete([WipeFailure(step: step, reason: "broken")]), step.rawValue)
            XCTAssertEqual(worker.steps.last, .removeTraces)
            XCTAssertEqual(worker.steps.count, 9)
        }
    }

    func testMarkersThatCannotBeWrittenDoNotKeepTheWipeFromSucceeding() {
        let worker = Recorder()
        worker.failing = [.markState, .markConfiguration]
        XCTAssertEqual(PanicWipe.run(with: worker), .complete)
    }

    func testAWipeWhoseEndFailsIsIncomplete() {
        for step in [WipeStep.createIdentity, .unmarkState, .unmarkConfiguration] {
            let worker = Recorder()
            worker.failing = [step]
            guard case .incomplete = PanicWipe.run(with: worker) else { return XCTFail(step.rawValue) }
            XCTAssertEqual(worker.steps.last, step)
        }
    }
}

final class StateWipeTests: XCTestCase {
    private var folder = ""
    private var second = ""

    override func setUpWithError() throws { (folder, second) = (try makeFolder(), try makeFolder()) }
    override func tearDown() {
        for path in [folder, second] { try? FileManager.default.removeItem(atPath: path) }
    }

    private var markers: WipeMarkers { WipeMarkers(state: folder, second: second) }

    private func write(_ name: String, _ text: String = "x") {
        let path = folder + "/" + name
        try? FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        XCTAssertTrue(FileManager.default.createFile(atPath: path, contents: Data(text.utf8)))
    }

    func testEverythingInTheStateDirectoryGoesKnownOrNot() throws {
        for name in [
            "master.key", "vault.db", "vault.db-wal", "lock", "identity/noise.key", "some/new/store", ".hidden",
        ] { write(name) }
        XCTAssertEqual(
            PanicWipe.run(with: StateWipe(.panic, of: folder, markers: markers, keeping: ["lock"], forgetKeys: {})),
            .complete)
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder), ["lock"])
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: second), [])
    }

    func testKeysAreOverwrittenWhereTheyLie() throws {
        write("master.key", String(repeating: "k", count: 32))
        write("identity/noise.key", String(repeating: "n", count: 32))
        XCTAssertEqual(link(folder + "/master.key", second + "/twin"), 0)
        XCTAssertEqual(link(folder + "/identity/noise.key", second + "/twin2"), 0)
        let worker = StateWipe(
            .panic, of: folder, markers: markers, keyFiles: ["identity/noise.key"], keeping: [], forgetKeys: {})
        XCTAssertEqual(PanicWipe.run(with: worker), .complete)
        for twin in ["twin", "twin2"] {
            XCTAssertEqual(FileManager.default.contents(atPath: second + "/" + twin), Data(repeating: 0xff, count: 32))
        }
    }

    func testBothMarkersStandUntilTheEnd() throws {
        var standing: [WipeStep: Int] = [:]
        let worker = StateWipe(.moved, of: folder, markers: markers, keeping: [], forgetKeys: {})
        let outcome = PanicWipe.run(with: worker) { step in
            let files = filesUnder(folder).range(of: Data("moved".utf8)) != nil ? 1 : 0
            standing[step] = files + (filesUnder(second).range(of: Data("moved".utf8)) != nil ? 1 : 0)
            if step != .unmarkConfiguration, step != .block { XCTAssertEqual(markers.pending, .moved, step.rawValue) }
        }
        XCTAssertEqual(outcome, .complete)
        XCTAssertEqual(standing[.markState], 1)
        for step in [WipeStep.markConfiguration, .destroyKey, .deleteStores, .createIdentity] {
            XCTAssertEqual(standing[step], 2, step.rawValue)
        }
        XCTAssertEqual(standing[.unmarkState], 1)
        XCTAssertNil(markers.pending)
    }

    func testEitherMarkerAloneMeansAWipeIsPending() throws {
        try markers.write(.panic, inState: true)
        XCTAssertEqual(markers.pending, .panic)
        try markers.remove(inState: true)
        XCTAssertNil(markers.pending)
        try markers.write(.panic, inState: false)
        XCTAssertEqual(markers.pending, .panic)
        XCTAssertNil(WipeMarkers(state: folder + "x", second: second).pending, "another box's marker")
    }

    func testAMarkerThatCannotBeReadCounts() throws {
        write(WipeMarkers.stateName, "nonsense")
        XCTAssertEqual(markers.pending, .panic)
        unlink(folder + "/" + WipeMarkers.stateName)
        try FileManager.default.createDirectory(
            atPath: folder + "/" + WipeMarkers.stateName, withIntermediateDirectories: false)
        XCTAssertEqual(markers.pending, .panic)
    }

    func testAMissingSecondPlaceDoesNotMatter() {
        let worker = StateWipe(
            .panic, of: folder, markers: WipeMarkers(state: folder, second: second + "/none"), keeping: [],
            forgetKeys: {})
        write("master.key")
        XCTAssertEqual(PanicWipe.run(with: worker), .complete)
    }

    /// Asking the file afterwards would be asking the system's memory.
    func testOnlyAMarkerThatStoodOrWasWrittenToTheEndIsTakenForANote() throws {
        let elsewhere = WipeMarkers(state: folder, second: second + "/none")
        func wipe() -> (before: Bool, after: Bool) {
            let worker = StateWipe(.panic, of: folder, markers: elsewhere, keeping: [], forgetKeys: {})
            let before = worker.isNoted
            _ = PanicWipe.run(with: worker)
            return (before, worker.isNoted)
        }
        let place = folder + "/" + WipeMarkers.stateName
        try FileManager.default.createDirectory(atPath: place + "/x", withIntermediateDirectories: true)
        XCTAssertTrue(wipe() == (false, false), "neither can one be written there, nor is this one")
        try FileManager.default.removeItem(atPath: place)
        XCTAssertTrue(wipe() == (false, true))
        write(WipeMarkers.stateName, "")
        chmod(place, 0o600)
        XCTAssertTrue(wipe() == (true, true), "an empty one is what a full disk takes")
    }

    /// What is in the way of the marker goes with the rest, and a power cut after that finds it.
    func testAMarkerThatCouldNotBeWrittenIsOnceTheStoresAreGone() throws {
        let elsewhere = WipeMarkers(state: folder, second: second + "/none")
        try FileManager.default.createDirectory(
            atPath: folder + "/" + WipeMarkers.stateName + ".new/x", withIntermediateDirectories: true)
        let worker = StateWipe(.panic, of: folder, markers: elsewhere, keeping: [], forgetKeys: {})
        var noted: Set<WipeStep> = []
        _ = PanicWipe.run(with: worker) { if elsewhere.pending != nil { noted.insert($0) } }
        XCTAssertFalse(noted.contains(.destroyKey))
        XCTAssertTrue(noted.isSuperset(of: [.deleteStores, .removeTraces, .createIdentity]), "\(noted)")
        XCTAssertNil(elsewhere.pending)
    }

    func testAStoreThatCannotBeRemovedKeepsTheWipeFromSucceeding() {
        write("vault.db")
        let worker = StateWipe(
            .panic, of: folder, markers: markers, keeping: [], forgetKeys: {},
            others: [.deleteStores: { _ in throw SystemError("unlink", code: EIO, subject: "x") }])
        guard case .incomplete(let failures) = PanicWipe.run(with: worker) else { return XCTFail() }
        XCTAssertEqual(failures.map(\.step), [.deleteStores])
        XCTAssertEqual(markers.pending, .panic, "tried again at the next start")
    }
}
