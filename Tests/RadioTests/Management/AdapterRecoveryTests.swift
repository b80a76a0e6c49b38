import Basics
import XCTest

@testable import Radio

final class AdapterRecoveryTests: XCTestCase {
    private func busyWorld() -> EngineWorld {
        let world = EngineWorld.ready()
        world.input { $0.setAdvertising(true, at: $1) }
        world.input { $0.setScanning(true, at: $1) }
        world.advance(by: .seconds(1))
        world.forget()
        return world
    }

    private func fail(_ world: EngineWorld, _ outcome: ConnectionOutcome, times: Int = 1) {
        for _ in 0..<times {
            world.input { $0.attemptBegan(at: $1) }
            world.advance(by: .milliseconds(100))
            world.input { $0.attemptEnded(outcome, at: $1) }
            world.advance(by: .seconds(2))
        }
    }

    // MARK: 0x3C

    func testACollisionWithAdvertisingTurnsItOffAndOnThenTheControllerThenGivesUp() {
        let world = busyWorld()
        let collision = ConnectionOutcome.failed(errno: AdapterEngine.collision)
        fail(world, collision)
        XCTAssertEqual(world.count(.advertisingCollision), 1)
        XCTAssertEqual(world.count(.powerCycled), 0)
        XCTAssertEqual(world.controller.instances, [1])
        fail(world, collision)
        XCTAssertEqual(world.count(.powerCycled), 1)
        XCTAssertEqual(world.state, .ready)
        fail(world, collision)
        XCTAssertEqual(world.state, .wedged)
        world.advance(by: .seconds(31))
        XCTAssertEqual(world.engine.phase, .ready, "it is set up again all the same")
        XCTAssertEqual(world.state, .wedged, "and is not trusted")
        world.hear(.found(1))
        XCTAssertEqual(world.state, .wedged, "hearing proves nothing about connecting")
        world.hear(.connected(1))
        XCTAssertEqual(world.state, .ready)
    }

    func testAConnectionBetweenCollisionsBeginsTheLadderAnew() {
        let world = busyWorld()
        for _ in 0..<5 {
            fail(world, .failed(errno: AdapterEngine.collision))
            fail(world, .connected)
        }
        XCTAssertEqual(world.count(.powerCycled), 0)
        XCTAssertEqual(world.count(.advertisingCollision), 5)
    }

    func testTheCollisionIsTheErrorTheKernelMakesOfIt() {
        XCTAssertEqual(SystemErrorNumbers.hostDown, AdapterEngine.collision)
    }

    // MARK: Scans

    func testAScanThatCanNeitherBeStartedNorStoppedEndsInAReset() {
        let world = busyWorld()
        world.hear(.connected(1))
        world.controller.connections = [ManagementAddress(.phone(1))]
        world.controller.hasStuckScan = true
        world.controller.endDiscovery()
        world.hear(.discovering(false))
        world.advance(by: .seconds(60))
        XCTAssertEqual(world.count(.powerCycled), 1)
        XCTAssertTrue(world.engine.status.isScanning)
    }

    // MARK: Connect failures

    func testTenFailuresRestartTheAirAndTenMoreTheController() {
        let world = busyWorld()
        fail(world, .timedOut, times: 9)
        XCTAssertEqual(world.count(.scanRestarted), 0)
        fail(world, .failed(errno: 110))
        XCTAssertEqual(world.count(.scanRestarted), 1)
        XCTAssertEqual(world.count(.powerCycled), 0)
        fail(world, .timedOut, times: 10)
        XCTAssertEqual(world.count(.powerCycled), 1)
        XCTAssertEqual(world.count(.connectFailed), 20)
        XCTAssertEqual(world.state, .ready)
    }

    func testNeighboursNobodyCanConnectToDoNotSwitchTheRadioOffAllTheTime() {
        let world = busyWorld()
        fail(world, .timedOut, times: 400)
        XCTAssertLessThanOrEqual(world.count(.powerCycled), 5)
        XCTAssertEqual(world.state, .ready)
    }

    // MARK: Silence

    func testADeadScanIsRestartedAndAtTheThirdTheControllerIsReset() {
        let world = busyWorld()
        world.advance(by: .seconds(121))
        XCTAssertEqual(world.count(.deadScan), 1)
        world.advance(by: .seconds(120))
        XCTAssertEqual(world.count(.deadScan), 2)
        XCTAssertEqual(world.count(.powerCycled), 0)
        world.advance(by: .seconds(120))
        XCTAssertEqual(world.count(.deadScan), 3)
        XCTAssertEqual(world.count(.powerCycled), 1)
        XCTAssertEqual(world.state, .ready, "a place without anybody is no fault")
    }

    func testWhereNobodyEverIsResetsBecomeRare() {
        let world = busyWorld()
        world.advance(by: .hours(24))
        XCTAssertLessThan(world.count(.powerCycled), 35)
        XCTAssertGreaterThan(world.count(.powerCycled), 3)
        XCTAssertNil(world.engine.wedge)
    }

    func testReportsAndLinksKeepAScanAlive() {
        let world = busyWorld()
        for _ in 0..<10 {
            world.advance(by: .seconds(100))
            world.hear(.found(1))
        }
        world.hear(.connected(1, isOutgoing: true))
        world.controller.connections = [ManagementAddress(.phone(1))]
        world.advance(by: .hours(1))
        XCTAssertEqual(world.count(.deadScan), 0)
    }

    func testALinkWhoseEndWasNotHeardIsForgotten() {
        let world = busyWorld()
        world.hear(.connected(1, isOutgoing: true))
        world.advance(by: .seconds(61))
        XCTAssertTrue(world.engine.links.isEmpty)
    }

    func testWithoutScanningSilenceMeansNothing() {
        let world = EngineWorld.ready()
        world.input { $0.setAdvertising(true, at: $1) }
        world.advance(by: .hours(2))
        XCTAssertEqual(world.count(.deadScan), 0)
        world.input { $0.setScanning(true, at: $1) }
        world.advance(by: .seconds(119))
        XCTAssertEqual(world.count(.deadScan), 0)
    }

    // MARK: Commands

    func testACommandWithoutAnAnswerResetsTheController() {
        let world = busyWorld()
        world.controller.mute = [0x3d]
        world.advance(by: .seconds(16))
        XCTAssertEqual(world.count(.commandTimeout), 1)
        XCTAssertEqual(world.count(.powerCycled), 1)
        world.controller.mute = []
        world.advance(by: .seconds(30))
        XCTAssertEqual(world.state, .ready)
        XCTAssertEqual(world.controller.instances, [1])
    }

    func testAControllerThatFallsSilentForGoodIsReportedWedged() {
        let world = busyWorld()
        world.controller.isMute = true
        world.advance(by: .minutes(3))
        XCTAssertEqual(world.state, .wedged)
        XCTAssertEqual(world.news, [.down])
    }

    func testAHardwareErrorSetsTheControllerUpAfterTheKernelsOwnReset() {
        let world = busyWorld()
        world.hear(.controllerError(0x42))
        XCTAssertEqual(world.news, [.down])
        XCTAssertEqual(world.codes, [])
        world.advance(by: .seconds(4))
        XCTAssertEqual(world.state, .ready)
        XCTAssertEqual(world.controller.instances, [1])
    }

    // MARK: Others on the same controller

    func testBondingThatSomebodyAllowsIsForbiddenAgain() {
        let world = busyWorld()
        world.controller.settings.insert(.bondable)
        world.hear(.newSettings(world.controller.currentSettings))
        world.advance(by: .milliseconds(100))
        XCTAssertFalse(world.controller.settings.contains(.bondable))
        XCTAssertEqual(world.news, [])
    }

    func testTwoOwnersDoNotFightEverySecond() {
        let world = busyWorld()
        for _ in 0..<60 {
            world.controller.settings.insert(.classic)
            world.hear(.newSettings(world.controller.currentSettings))
            world.advance(by: .seconds(1))
        }
        XCTAssertEqual(world.count(.setUpAgain), 1)
        world.advance(by: .minutes(10))
        XCTAssertEqual(world.count(.setUpAgain), 2, "found at an inspection")
        XCTAssertEqual(world.state, .ready)
    }

    // MARK: Anything at all

    /// A controller that answers, fails, falls silent, comes and goes at random, and a phone that does what it likes.
    func testNothingAControllerDoesBreaksTheOrderOfThings() {
        for seed in UInt64(1)...40 {
            var random = SeededRandom(seed: seed)
            let world = EngineWorld()
            world.plugIn()
            world.input { $0.start(at: $1) }
            for _ in 0..<400 {
                disturb(world, with: &random)
                world.advance(by: .milliseconds(Int.random(in: 0...20_000, using: &random)))
                XCTAssertLessThanOrEqual(world.engine.links.count, ManagementLimits.links)
                XCTAssertLessThanOrEqual(world.engine.requests.count, ManagementLimits.waitingRequests)
            }
            var isUp = false
            for effect in world.news {
                switch effect {
                case .up:
                    XCTAssertFalse(isUp, "seed \(seed): up twice")
                    isUp = true
                case .down:
                    XCTAssertTrue(isUp, "seed \(seed): down twice")
                    isUp = false
                case .clearedAir, .heard, .connected, .disconnected, .connectFailed: XCTAssertTrue(isUp, "seed \(seed)")
                case .send, .post, .readSwitch: break
                }
            }
            world.controller.isMute = false
            world.controller.refusals = [:]
            world.controller.isBlocked = false
            world.block = .none
            world.plugIn()
            world.input { $0.setAdvertising(true, at: $1) }
            world.advance(by: .minutes(15))
            XCTAssertEqual(world.engine.phase, .ready, "seed \(seed): it comes back from everything")
            XCTAssertEqual(world.controller.instances, [1], "seed \(seed)")
        }
    }

    private func disturb(_ world: EngineWorld, with random: inout SeededRandom) {
        let phone = UInt64.random(in: 0...200, using: &random)
        let isWanted = Bool.random(using: &random)
        switch Int.random(in: 0..<20, using: &random) {
        case 0: world.unplug()
        case 1, 2: world.plugIn()
        case 3: world.controller.isMute.toggle()
        case 4: world.controller.refusals[UInt16.random(in: 3...0x55, using: &random)] = .failed
        case 5: world.controller.refusals[UInt16.random(in: 3...0x55, using: &random)] = .busy
        case 6, 7: world.controller.refusals = [:]
        case 8:
            world.controller.isBlocked.toggle()
            world.block = world.controller.isBlocked ? .soft : .none
        case 9: world.hear(.newSettings(AdapterSettings(rawValue: random.next() as UInt64 > 5 ? 0x201 : 0)))
        case 10, 11: world.hear(.connected(phone))
        case 12: world.hear(.disconnected(phone))
        case 13: world.hear(.pairingQuestion(.confirmation, ManagementAddress(.phone(phone))))
        case 14: world.hear(.controllerError(1))
        case 15: world.input { $0.attemptBegan(at: $1) }
        case 16: world.input { $0.attemptEnded(.failed(errno: 112), at: $1) }
        case 17: world.input { $0.setScanning(isWanted, at: $1) }
        case 18: world.input { $0.setAdvertising(isWanted, at: $1) }
        default: world.hear(.found(phone))
        }
    }
}
