import Basics
import XCTest

@testable import Radio

final class AdapterAirTests: XCTestCase {
    private func advertisingWorld() -> EngineWorld {
        let world = EngineWorld.ready()
        world.input { $0.setAdvertising(true, at: $1) }
        world.advance(by: .milliseconds(100))
        XCTAssertEqual(world.codes, [0x54, 0x55])
        XCTAssertTrue(world.engine.status.isAdvertising)
        world.forget()
        return world
    }

    private func scanningWorld(sharesAntenna: Bool = false) -> EngineWorld {
        let world = EngineWorld.ready()
        world.input { $0.shareAntenna(sharesAntenna, at: $1) }
        world.input { $0.setScanning(true, at: $1) }
        world.advance(by: .milliseconds(100))
        XCTAssertEqual(world.codes, [0x3a])
        XCTAssertTrue(world.engine.status.isScanning)
        return world
    }

    // MARK: Advertising

    func testTheServiceIsAdvertisedWithoutANameAndWithAnIntervalOfItsOwn() throws {
        let world = EngineWorld.ready()
        world.input { $0.setAdvertising(true, at: $1) }
        world.advance(by: .milliseconds(100))
        guard case .setAdvertisingData(let instance) = try XCTUnwrap(world.commands.last).command else {
            return XCTFail("no data")
        }
        XCTAssertEqual(Hex.encode(instance.advertisement), "11075c4b3a2c1d8e3f9b5a4c9e4a2d5e7bf4")
        XCTAssertEqual(instance.scanResponse, [])
    }

    func testAKernelWithoutIntervalsGetsTheOldCommand() {
        let world = EngineWorld()
        world.input { $0.appeared(knownCommands: [0x3e, 0x3f], at: $1) }
        world.input { $0.start(at: $1) }
        world.input { $0.setAdvertising(true, at: $1) }
        world.advance(by: .seconds(1))
        XCTAssertEqual(world.codes.last, 0x3e)
        XCTAssertEqual(world.controller.instances, [1])
    }

    func testAControllerThatRefusesTheNewCommandsGetsTheOldOne() {
        let world = EngineWorld.ready()
        world.controller.refusals[0x54] = .invalidParameters
        world.input { $0.setAdvertising(true, at: $1) }
        world.advance(by: .seconds(1))
        XCTAssertEqual(world.codes, [0x54, 0x3f, 0x3e])
        XCTAssertEqual(world.controller.instances, [1])
    }

    func testAdvertisingIsArmedAgainAfterEachIncomingConnection() {
        let world = advertisingWorld()
        world.hear(.connected(1))
        world.advance(by: .milliseconds(100))
        XCTAssertEqual(world.codes, [0x54, 0x55])
        world.hear(.connected(2))
        world.advance(by: .milliseconds(100))
        XCTAssertEqual(world.codes, [0x54, 0x55, 0x54, 0x55])
        XCTAssertEqual(world.count(.advertisingRearmed), 3)
        XCTAssertEqual(
            world.news, [.connected(.phone(1)), .connected(.phone(2))])
    }

    func testAnOutgoingConnectionLeavesAdvertisingAlone() {
        let world = advertisingWorld()
        world.hear(.connected(1, isOutgoing: true))
        world.advance(by: .milliseconds(100))
        XCTAssertEqual(world.codes, [])
    }

    func testWithoutAFreeSlotAdvertisingIsTakenBack() {
        let world = advertisingWorld()
        world.hear(.connected(1))
        world.input { $0.setAdvertising(false, at: $1) }
        world.advance(by: .seconds(1))
        XCTAssertEqual(world.controller.instances, [])
        XCTAssertFalse(world.engine.status.isAdvertising)
    }

    func testAfterADisconnectAdvertisingIsNotTrusted() {
        let world = advertisingWorld()
        world.hear(.disconnected(1))
        world.advance(by: .milliseconds(100))
        XCTAssertEqual(world.codes, [0x54, 0x55])
    }

    func testAnInstanceLostBehindOurBackIsNoticedWithinATick() {
        let world = advertisingWorld()
        world.controller.loseInstances()
        world.advance(by: .milliseconds(5_100))
        XCTAssertEqual(world.controller.instances, [1])
        XCTAssertEqual(world.count(.advertisingLost), 1)
    }

    func testAnInstanceThatSomebodyRemovesComesBackAtOnce() {
        let world = advertisingWorld()
        world.controller.loseInstances()
        world.hear(.advertisingRemoved(1))
        world.advance(by: .milliseconds(100))
        XCTAssertEqual(world.controller.instances, [1])
        XCTAssertEqual(world.count(.advertisingLost), 1)
    }

    func testInstancesOfOthersAreRemoved() {
        let world = advertisingWorld()
        world.controller.addForeignInstance(3)
        world.hear(.advertisingAdded(3))
        world.advance(by: .milliseconds(100))
        XCTAssertEqual(world.controller.instances, [1])
    }

    func testAdvertisingThatSeemsWellIsRemovedAndAddedEveryMinute() {
        let world = advertisingWorld()
        world.advance(by: .seconds(125))
        XCTAssertEqual(world.times(of: 0x3f).count, 2)
        XCTAssertEqual(world.times(of: 0x55).count, 2)
        XCTAssertEqual(world.controller.instances, [1])
    }

    func testABusyKernelIsAskedAgainSoon() {
        let world = EngineWorld.ready()
        world.controller.refusals[0x54] = .busy
        world.input { $0.setAdvertising(true, at: $1) }
        world.advance(by: .seconds(1))
        XCTAssertEqual(world.times(of: 0x54).count, 5)
        world.controller.refusals = [:]
        world.advance(by: .seconds(1))
        XCTAssertEqual(world.controller.instances, [1])
        XCTAssertEqual(world.count(.powerCycled), 0)
    }

    func testAdvertisingThatKeepsFailingResetsTheController() {
        let world = EngineWorld.ready()
        world.controller.refusals[0x54] = .failed
        world.controller.refusals[0x3e] = .failed
        world.input { $0.setAdvertising(true, at: $1) }
        world.advance(by: .milliseconds(2_500))
        XCTAssertEqual(world.count(.powerCycled), 1)
        world.controller.refusals = [:]
        world.advance(by: .seconds(2))
        XCTAssertEqual(world.controller.instances, [1])
    }

    // MARK: Attempts

    func testAnAttemptHasTheAirToItself() {
        let world = advertisingWorld()
        world.input { $0.setScanning(true, at: $1) }
        world.advance(by: .milliseconds(100))
        world.forget()
        world.input { $0.attemptBegan(at: $1) }
        world.advance(by: .milliseconds(100))
        XCTAssertEqual(world.codes, [0x24, 0x3f])
        XCTAssertFalse(world.controller.isDiscovering)
        XCTAssertEqual(world.controller.instances, [])
        world.input { $0.attemptEnded(.connected, at: $1) }
        world.advance(by: .milliseconds(100))
        XCTAssertTrue(world.controller.isDiscovering)
        XCTAssertEqual(world.controller.instances, [1])
    }

    func testAnAttemptGoesAheadWhenNothingIsOnTheAirAnyMore() {
        let world = advertisingWorld()
        world.input { $0.setScanning(true, at: $1) }
        world.advance(by: .milliseconds(100))
        world.forget()
        world.input { $0.attemptBegan(at: $1) }
        XCTAssertEqual(world.news, [], "the scan is being stopped")
        world.advance(by: .milliseconds(100))
        XCTAssertEqual(world.news, [.clearedAir])
        XCTAssertEqual(world.controller.instances, [])
        XCTAssertFalse(world.controller.isDiscovering)
        let idle = EngineWorld.ready()
        idle.input { $0.attemptBegan(at: $1) }
        XCTAssertEqual(idle.news, [.clearedAir], "nothing to wait for")
    }

    func testAnAttemptWaitsNoLongerThanTwoSeconds() {
        for code: UInt16 in [0x24, 0x3f] {
            let world = advertisingWorld()
            world.input { $0.setScanning(true, at: $1) }
            world.advance(by: .milliseconds(100))
            world.controller.mute = [code]
            world.input { $0.attemptBegan(at: $1) }
            world.advance(by: .milliseconds(1_900))
            XCTAssertEqual(world.news, [])
            world.advance(by: .milliseconds(200))
            XCTAssertEqual(world.news, [.clearedAir])
        }
    }

    func testAnAttemptThatHasEndedIsNotLetGo() {
        let world = advertisingWorld()
        world.controller.mute = [0x3f]
        world.input { $0.attemptBegan(at: $1) }
        world.advance(by: .seconds(1))
        world.input { $0.attemptEnded(.connected, at: $1) }
        world.advance(by: .seconds(5))
        XCTAssertEqual(world.news, [])
    }

    func testAdvertisingReturnsAfterTwentySecondsWhateverTheAttemptDoes() {
        let world = advertisingWorld()
        world.input { $0.attemptBegan(at: $1) }
        world.advance(by: .milliseconds(19_900))
        XCTAssertEqual(world.controller.instances, [])
        world.advance(by: .milliseconds(200))
        XCTAssertEqual(world.controller.instances, [1])
    }

    func testAttemptsInARowLeaveAdvertisingItsTurn() {
        let world = advertisingWorld()
        world.input { $0.attemptBegan(at: $1) }
        world.advance(by: .seconds(8))
        world.input { $0.attemptEnded(.timedOut, at: $1) }
        XCTAssertFalse(world.engine.pause.admitsAttempt(at: world.now))
        world.advance(by: .milliseconds(500))
        // Somebody who does not ask may call all the same; advertising stays.
        world.input { $0.attemptBegan(at: $1) }
        world.advance(by: .milliseconds(100))
        XCTAssertEqual(world.controller.instances, [1])
        world.input { $0.attemptEnded(.timedOut, at: $1) }
        world.advance(by: .seconds(8))
        XCTAssertTrue(world.engine.pause.admitsAttempt(at: world.now))
    }

    // MARK: Scanning

    func testDiscoveryGoesOnAfterEachTimeItEnds() {
        let world = scanningWorld()
        world.advance(by: .seconds(59))
        XCTAssertEqual(world.controller.discoveries, 6)
        world.input { $0.setScanning(false, at: $1) }
        world.advance(by: .seconds(1))
        XCTAssertFalse(world.controller.isDiscovering)
        XCTAssertFalse(world.engine.status.isScanning)
        world.advance(by: .seconds(30))
        XCTAssertEqual(world.controller.discoveries, 6)
    }

    func testAMeshPhoneIsReportedAndOthersOnlyProveThatTheReceiverWorks() {
        let world = scanningWorld()
        let mesh: [UInt8] = [0x02, 0x01, 0x06, 0x11, 0x07] + BluetoothUUID.meshService.longBytes
        world.forget()
        world.hear(.found(1))
        world.hear(.found(2, data: mesh))
        world.hear(
            .deviceFound(
                DeviceReport(address: ManagementAddress(.phone(3)), rssi: nil, isConnectable: false, data: mesh)))
        world.hear(
            .deviceFound(DeviceReport(address: ManagementAddress(value: 1, type: 0), rssi: nil, data: mesh)))
        XCTAssertEqual(world.news, [.heard(Sighting(address: .phone(2), rssi: -70))])
        XCTAssertEqual(world.engine.status.lastReport, world.now)
    }

    func testADiscoveryThatTheKernelForgotIsStoppedAndStarted() {
        let world = scanningWorld()
        world.controller.forgetsDiscovery = true
        world.advance(by: .milliseconds(20_500))
        XCTAssertEqual(world.controller.discoveries, 2)
        XCTAssertEqual(world.count(.scanRestarted), 1)
    }

    func testAfterADisconnectANewRoundBringsFreshReports() {
        let world = scanningWorld()
        world.advance(by: .seconds(3))
        world.hear(.disconnected(1))
        world.advance(by: .milliseconds(50))
        XCTAssertFalse(world.controller.isDiscovering)
        world.advance(by: .milliseconds(100))
        XCTAssertTrue(world.controller.isDiscovering)
        world.hear(.disconnected(2))
        world.advance(by: .seconds(1))
        XCTAssertEqual(world.controller.discoveries, 2, "not more often than every two seconds")
    }

    func testSomebodyElsesDiscoveryIsTakenOver() {
        let world = EngineWorld.ready()
        _ = world.controller.answer(.startDiscovery)
        world.input { $0.setScanning(true, at: $1) }
        world.advance(by: .milliseconds(3_500))
        XCTAssertEqual(world.codes, [0x3a, 0x3a, 0x3a, 0x24, 0x3a])
        XCTAssertTrue(world.engine.status.isScanning)
    }

    func testPhonesThatCallInDoNotSlowTheSearchForOthers() {
        let world = scanningWorld()
        for phone in UInt64(1)...8 { world.hear(.connected(phone, isOutgoing: false)) }
        world.controller.connections = (1...8).map { ManagementAddress(.phone($0)) }
        world.advance(by: .seconds(60))
        XCTAssertTrue(world.engine.status.isScanning)
        XCTAssertGreaterThanOrEqual(world.times(of: 0x3a).count, 5)
    }

    func testNowAndThenARoundHearsPhonesThatNameTheServiceElsewhere() {
        let world = scanningWorld()
        for _ in 0..<300 {
            world.hear(.found(1))
            world.advance(by: .seconds(1))
        }
        XCTAssertTrue((2...3).contains(world.times(of: 0x23).count), "\(world.times(of: 0x23))")
        XCTAssertGreaterThan(world.times(of: 0x3a).count, 20)
    }

    func testALinkWhoseEndNobodyToldIsNoticed() {
        let world = scanningWorld()
        world.hear(.connected(1))
        world.hear(.connected(2))
        world.controller.connections = [ManagementAddress(.phone(2))]
        world.forget()
        world.advance(by: .minutes(5))
        let ends = world.news.filter { if case .disconnected = $0 { true } else { false } }
        XCTAssertEqual(ends, [.disconnected(.phone(1), reason: 0)])
    }

    func testStoppingEndsEveryLinkAtOnce() {
        let world = scanningWorld()
        for phone in UInt64(1)...3 { world.hear(.connected(phone)) }
        world.input { $0.disconnect(.phone(1), at: $1) }
        world.forget()
        world.input { engine, _ in engine.stop() }
        let ended = world.commands.compactMap { if case .disconnect(let address) = $0.command { address } else { nil } }
        XCTAssertEqual(ended, (1...3).map { ManagementAddress(.phone($0)) })
    }

    func testDoingWhatItIsToldProvesAControllerInAnEmptyPlace() throws {
        let world = scanningWorld()
        world.advance(by: .hours(1))
        let answer = try XCTUnwrap(world.engine.status.lastAnswer)
        XCTAssertLessThan(world.now - answer, .minutes(1))
    }

    func testAnAntennaSharedWithWiFiIsNeverScanningAllTheTime() {
        XCTAssertNil(ScanKeeper.cycle(sharesAntenna: false))
        XCTAssertEqual(
            ScanKeeper.cycle(sharesAntenna: true), ScanKeeper.Cycle(on: .seconds(5), off: .seconds(10)))
        let world = scanningWorld(sharesAntenna: true)
        world.advance(by: .seconds(6))
        world.forget()
        world.advance(by: .seconds(45))
        let (starts, stops) = (world.times(of: 0x3a), world.times(of: 0x24))
        XCTAssertEqual(starts.count, 3)
        XCTAssertEqual(stops.count, 3)
        XCTAssertEqual((starts[1] - starts[0]).seconds, 15, accuracy: 0.1)
        XCTAssertEqual((stops[1] - starts[1]).seconds, 5, accuracy: 0.1)
    }

    func testAFragmentTrainGetsTheAirForFiveSecondsAtMost() {
        let world = scanningWorld()
        world.input { $0.pauseScanning(for: .minutes(1), at: $1) }
        world.advance(by: .milliseconds(4_900))
        XCTAssertFalse(world.controller.isDiscovering)
        world.advance(by: .milliseconds(200))
        XCTAssertTrue(world.controller.isDiscovering)
    }

    func testAfterAMinuteOfSilenceARoundHearsEverybody() {
        let world = scanningWorld()
        world.advance(by: .seconds(58))
        XCTAssertEqual(world.times(of: 0x23).count, 0)
        world.advance(by: .seconds(5))
        XCTAssertEqual(world.times(of: 0x23).count, 1)
        world.hear(.found(1))
        world.advance(by: .seconds(11))
        XCTAssertEqual(world.times(of: 0x23).count, 1, "proof was found")
    }

    // MARK: Requests

    func testEveryPairingQuestionIsAnsweredWithNo() {
        let world = EngineWorld.ready()
        let phone = ManagementAddress(.phone(1))
        world.hear(.pairingQuestion(.pin, phone))
        world.hear(.pairingQuestion(.confirmation, phone))
        world.hear(.pairingQuestion(.passkey, phone))
        world.advance(by: .milliseconds(100))
        XCTAssertEqual(
            world.commands.map(\.command), [.denyPIN(phone), .denyConfirmation(phone), .denyPasskey(phone)])
    }

    func testALinkIsEndedAtOnce() {
        let world = EngineWorld.ready()
        world.input { $0.disconnect(.phone(4), at: $1) }
        XCTAssertEqual(world.commands.map(\.command), [.disconnect(ManagementAddress(.phone(4)))])
    }

    func testStoppingTakesEverythingBackAndSaysNothing() {
        let world = advertisingWorld()
        world.input { $0.setScanning(true, at: $1) }
        world.input { engine, _ in engine.stop() }
        XCTAssertEqual(world.controller.instances, [])
        XCTAssertFalse(world.controller.isDiscovering)
        world.hear(.connected(1))
        world.advance(by: .minutes(5))
        XCTAssertEqual(world.news, [])
        XCTAssertNil(world.engine.nextDeadline)
    }

    /// It could not be set up anew, and goes on advertising what it was told before.
    func testStoppingTakesDownWhatAControllerThatWaitsStillAdvertises() {
        let world = advertisingWorld()
        world.controller.mute = [0x05, 0x3f]
        world.hear(.controllerError(1))
        world.advance(by: .seconds(40))
        XCTAssertNotEqual(world.engine.phase, .ready)
        XCTAssertEqual(world.controller.instances, [1])
        world.controller.mute = []
        world.input { engine, _ in engine.stop() }
        XCTAssertEqual(world.controller.instances, [])
    }

    func testAnEngineStartsAgainAfterAStop() {
        let world = advertisingWorld()
        world.input { engine, _ in engine.stop() }
        world.input { $0.start(at: $1) }
        world.advance(by: .seconds(1))
        XCTAssertEqual(world.state, .ready)
        XCTAssertEqual(world.controller.instances, [1])
    }
}
