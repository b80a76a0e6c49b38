import Basics
import XCTest

@testable import Radio

final class AdapterSetUpTests: XCTestCase {
    private let ownAddress = BluetoothAddress(value: 0x0200_A15E_0001, kind: .public)

    func testAControllerThatSomebodyUsedIsResetBeforeItIsSetUp() {
        let controller = ScriptedController(
            settings: [.powered, .bondable, .classic, .lowEnergy, .advertising, .privacy, .connectable])
        let world = EngineWorld(controller)
        world.plugIn()
        world.input { $0.start(at: $1) }
        world.advance(by: .seconds(1))
        XCTAssertEqual(
            world.commands.map(\.command),
            [
                .readInformation, .removeAdvertising(0), .setPowered(false), .setClassic(false), .setBondable(false),
                .setAdvertising(false),
                .setPrivacyOff, .setStaticAddress(0), .setInputOutputCapability(3), .forgetLongTermKeys,
                .forgetIdentityKeys, .forgetDevices, .setDefaults(DefaultParameter.mesh), .setPowered(true),
                .removeAdvertising(0), .readInformation, .readAdvertisingFeatures,
            ])
        XCTAssertEqual(world.news, [.up(ownAddress)])
        XCTAssertEqual(world.state, .ready)
        XCTAssertEqual(controller.settings, [.lowEnergy, .connectable])
    }

    func testInstancesOfAnEarlierRunGoAlsoWhenTheControllerWasOff() {
        let controller = ScriptedController()
        controller.addForeignInstance(1)
        controller.addForeignInstance(2)
        let world = EngineWorld.ready(controller)
        world.advance(by: .seconds(10))
        XCTAssertEqual(controller.instances, [])
        XCTAssertEqual(world.state, .ready)
    }

    func testALowEnergyControllerThatIsOffNeedsLess() {
        let controller = ScriptedController(supported: [.powered, .lowEnergy, .staticAddress], settings: [])
        let world = EngineWorld.ready(controller)
        XCTAssertTrue(controller.isPowered)
        XCTAssertEqual(controller.settings, [.lowEnergy])
        XCTAssertEqual(world.state, .ready)
    }

    func testConnectionsAreAskedForWithFiveSecondsOfSupervision() {
        let values = Dictionary(uniqueKeysWithValues: DefaultParameter.mesh.map { ($0.type, $0.value) })
        XCTAssertEqual(values[0x17], 12, "15 ms")
        XCTAssertEqual(values[0x18], 24, "30 ms")
        XCTAssertEqual(values[0x19], 0)
        XCTAssertEqual(values[0x1a], 500, "5 s")
        XCTAssertEqual(values[0x0a], 160, "100 ms")
        XCTAssertEqual(values[0x0b], 244, "152.5 ms")
    }

    func testAControllerWithoutAnAddressGetsAStaticRandomOne() throws {
        let controller = ScriptedController(publicAddress: nil)
        let world = EngineWorld(controller)
        world.plugIn()
        world.input { $0.start(at: $1) }
        world.advance(by: .seconds(1))
        guard case .up(let address) = try XCTUnwrap(world.news.first) else { return XCTFail("not up") }
        XCTAssertEqual(address.kind, .random)
        XCTAssertEqual(address.value, controller.staticAddress)
        XCTAssertEqual(address.value >> 46, 3, "the two bits that mark a static address")
    }

    func testEachAdapterHasAStaticAddressOfItsOwnAndAnotherUnderAnotherSeed() {
        let address = OwnAddress(seed: EngineWorld.seed)
        XCTAssertNotEqual(address.staticAddress(ofAdapter: 0), address.staticAddress(ofAdapter: 1))
        XCTAssertEqual(address.staticAddress(ofAdapter: 0), address.staticAddress(ofAdapter: 0))
        let another = OwnAddress(seed: [UInt8](repeating: 8, count: OwnAddress.seedSize))
        XCTAssertNotEqual(address.staticAddress(ofAdapter: 0), another.staticAddress(ofAdapter: 0))
    }

    func testTheRandomAddressIsUsedAlwaysWhenThatIsWanted() {
        let controller = ScriptedController()
        let configuration = AdapterConfiguration(ownAddress: OwnAddress(seed: EngineWorld.seed, isAlwaysRandom: true))
        let world = EngineWorld.ready(controller, configuration: configuration)
        XCTAssertNotEqual(controller.staticAddress, 0)
        XCTAssertEqual(world.engine.ownAddress?.kind, .random)
    }

    func testAControllerWithoutLowEnergyIsUnsuitable() {
        let world = EngineWorld(ScriptedController(supported: [.powered, .classic]))
        world.plugIn()
        world.input { $0.start(at: $1) }
        world.advance(by: .minutes(10))
        XCTAssertEqual(world.state, .unsuitable)
        XCTAssertEqual(world.codes, [4])
    }

    func testAProcessThatMayNotManageSaysSoAndStaysQuiet() {
        let controller = ScriptedController()
        for code in UInt16(5)...0x55 { controller.refusals[code] = .permissionDenied }
        let world = EngineWorld(controller)
        world.plugIn()
        world.input { $0.start(at: $1) }
        world.advance(by: .minutes(10))
        XCTAssertEqual(world.state, .forbidden)
        XCTAssertEqual(world.commands.count, 2)
        XCTAssertEqual(world.news, [])
    }

    // MARK: Absence

    func testAnAbsentControllerIsWaitedFor() {
        let world = EngineWorld()
        world.input { $0.start(at: $1) }
        world.advance(by: .minutes(5))
        XCTAssertEqual(world.state, .absent)
        XCTAssertEqual(world.codes, [])
        world.plugIn()
        world.advance(by: .seconds(1))
        XCTAssertEqual(world.state, .ready)
        XCTAssertEqual(world.count(.appeared), 1)
    }

    func testASwitchThatTakesTheControllerOffItsBusIsNamed() {
        let world = EngineWorld()
        world.block = .hard
        world.input { $0.start(at: $1) }
        XCTAssertEqual(world.state, .hardBlocked)
        world.block = .none
        world.advance(by: .seconds(5))
        XCTAssertEqual(world.state, .absent)
    }

    func testAControllerRemovedUnderLoadComesBackAsItWas() {
        let world = EngineWorld.ready()
        world.input { $0.setAdvertising(true, at: $1) }
        world.input { $0.setScanning(true, at: $1) }
        world.advance(by: .seconds(1))
        world.hear(.connected(1))
        world.forget()
        world.unplug()
        XCTAssertEqual(world.state, .absent)
        XCTAssertEqual(world.news, [.down])
        world.controller.loseInstances()
        world.controller.endDiscovery()
        world.controller.isPowered = false
        world.advance(by: .seconds(30))
        world.plugIn()
        world.advance(by: .seconds(1))
        XCTAssertEqual(world.news, [.down, .up(ownAddress)])
        XCTAssertEqual(world.controller.instances, [1])
        XCTAssertTrue(world.controller.isDiscovering)
        XCTAssertTrue(world.engine.links.isEmpty)
        XCTAssertEqual(world.count(.disappeared), 1)
        XCTAssertEqual(world.count(.setUpAgain), 1)
    }

    func testAnAnswerFromBeforeTheRemovalEndsNoLaterCommand() {
        let world = EngineWorld()
        world.plugIn()
        world.input { $0.start(at: $1) }
        world.unplug()
        world.plugIn()
        XCTAssertEqual(world.codes, [4, 4])
        world.advance(by: .seconds(1))
        XCTAssertEqual(world.state, .ready)
        XCTAssertEqual(world.count(.badMessage), 0)
    }

    func testAnIndexThatTheKernelDoesNotKnowCountsAsAbsent() {
        let world = EngineWorld()
        world.controller.refusals[4] = .invalidIndex
        world.plugIn()
        world.input { $0.start(at: $1) }
        world.advance(by: .seconds(1))
        XCTAssertEqual(world.state, .absent)
        world.controller.refusals = [:]
        world.plugIn()
        world.advance(by: .seconds(1))
        XCTAssertEqual(world.state, .ready)
    }

    // MARK: Blocked, switched off, wedged

    func testABlockedControllerSaysByWhatAndComesUpWhenItIsNoMore() {
        for (block, state) in [(RadioBlock.soft, AdapterStatus.State.softBlocked), (.hard, .hardBlocked)] {
            let controller = ScriptedController()
            controller.isBlocked = true
            let world = EngineWorld(controller)
            world.block = block
            world.plugIn()
            world.input { $0.start(at: $1) }
            world.advance(by: .minutes(3))
            XCTAssertEqual(world.state, state)
            XCTAssertEqual(world.times(of: 5).count, 1, "it is not tried again while the switch says no")
            controller.isBlocked = false
            world.block = .none
            world.advance(by: .seconds(6))
            XCTAssertEqual(world.state, .ready)
            XCTAssertEqual(world.count(.blocked), 1)
            XCTAssertNil(world.engine.wedge)
        }
    }

    func testARefusalWithoutAnyVisibleSwitchCountsAsBlockedAndIsTriedAgain() {
        let controller = ScriptedController()
        controller.isBlocked = true
        let world = EngineWorld(controller)
        world.plugIn()
        world.input { $0.start(at: $1) }
        world.advance(by: .seconds(12))
        XCTAssertEqual(world.state, .softBlocked)
        XCTAssertEqual(world.times(of: 5).count, 3)
    }

    func testAControllerSwitchedOffByOthersIsSwitchedOnAgain() {
        let world = EngineWorld.ready()
        world.controller.isPowered = false
        world.hear(.newSettings([.lowEnergy]))
        XCTAssertEqual(world.state, .poweredOff)
        XCTAssertEqual(world.news, [.down])
        world.advance(by: .seconds(6))
        XCTAssertEqual(world.state, .ready)
        XCTAssertEqual(world.count(.setUpAgain), 1)
    }

    func testAControllerBlockedWhileInUseSaysSo() {
        let world = EngineWorld.ready()
        world.controller.isPowered = false
        world.controller.isBlocked = true
        world.block = .soft
        world.hear(.newSettings([.lowEnergy]))
        XCTAssertEqual(world.state, .softBlocked)
        XCTAssertEqual(world.count(.blocked), 1)
        world.advance(by: .minutes(1))
        XCTAssertEqual(world.times(of: 5).count, 0)
    }

    func testAControllerThatDoesNotComeOnIsOffFirstAndWedgedInTheEnd() {
        let world = EngineWorld()
        world.controller.refusals[5] = .failed
        world.plugIn()
        world.input { $0.start(at: $1) }
        world.advance(by: .seconds(1))
        XCTAssertEqual(world.state, .poweredOff)
        world.advance(by: .seconds(20))
        XCTAssertEqual(world.state, .wedged)
        world.controller.refusals = [:]
        world.advance(by: .seconds(31))
        XCTAssertEqual(world.state, .ready, "resets go on")
    }

    func testASilentControllerIsWedgedAndTriedEverMoreRarely() {
        let world = EngineWorld()
        world.controller.isMute = true
        world.plugIn()
        world.input { $0.start(at: $1) }
        world.advance(by: .minutes(2))
        XCTAssertEqual(world.state, .wedged)
        XCTAssertGreaterThanOrEqual(world.count(.commandTimeout), 3)
        world.forget()
        world.advance(by: .hours(1))
        let tries = world.times(of: 4)
        XCTAssertLessThan(tries.count, 12)
        XCTAssertEqual((tries[tries.count - 1] - tries[tries.count - 2]).seconds, 610, accuracy: 1)
        world.controller.isMute = false
        world.advance(by: .minutes(11))
        XCTAssertEqual(world.state, .ready)
    }

    func testABusyStepIsRepeatedForAWhile() {
        let world = EngineWorld()
        world.controller.refusals[5] = .busy
        world.plugIn()
        world.input { $0.start(at: $1) }
        world.advance(by: .seconds(1))
        XCTAssertEqual(world.state, .settingUp)
        world.controller.refusals = [:]
        world.advance(by: .seconds(1))
        XCTAssertEqual(world.state, .ready)
    }

    func testSettingsThatDoNotHoldFailTheSetUp() {
        let world = EngineWorld()
        world.controller.refusals[0x09] = .success  // Refused with "success": accepted, and nothing done.
        world.plugIn()
        world.input { $0.start(at: $1) }
        world.advance(by: .seconds(1))
        XCTAssertNotEqual(world.state, .ready)
    }

    func testNonsenseForAnAnswerIsCountedAndTriedAgain() {
        let world = EngineWorld.ready()
        world.unplug()
        world.plugIn()
        let token = world.engine.flight?.token ?? 0
        world.input { $0.ended(token, .success([1, 2]), at: $1) }
        XCTAssertEqual(world.count(.badMessage), 1)
        world.advance(by: .seconds(5))
        XCTAssertEqual(world.state, .ready)
    }
}
