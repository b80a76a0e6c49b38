import Basics
import Glibc
import XCTest

@testable import Radio

final class AdapterDirectoryTests: XCTestCase {
    private func address(_ value: UInt64) -> AdapterChoice {
        .address(BluetoothAddress(value: value, kind: .public))
    }

    func testAllControllersAreUsedWhetherTheyWereThereOrComeLater() throws {
        let world = try KernelWorld()
        world.plugIn(0, address: 1, isAnnounced: false)
        world.start()
        XCTAssertEqual(world.log.take(), ["hci0 up"])
        world.plugIn(1, address: 2)
        XCTAssertEqual(world.log.take(), ["hci1 up"])
        XCTAssertEqual(world.given.map(\.index), [0, 1])
        XCTAssertEqual(world.directory.version?.revision, 23)
    }

    func testWithoutAnyControllerNothingIsWrong() throws {
        let world = try KernelWorld(choices: [.index(0)])
        world.start()
        world.advance(by: .minutes(1))
        XCTAssertEqual(world.given.map(\.index), [0])
        XCTAssertEqual(world.given[0].status.state, .absent)
        XCTAssertNil(world.directory.obstacle)
        world.plugIn(0, address: 1)
        XCTAssertEqual(world.given[0].status.state, .ready)
    }

    func testOthersControllersAreLeftAlone() throws {
        let world = try KernelWorld(choices: [.index(1)])
        world.plugIn(0, address: 1, isAnnounced: false)
        world.plugIn(1, address: 2, isAnnounced: false)
        world.start()
        world.advance(by: .seconds(40))
        XCTAssertEqual(world.log.take(), ["hci1 up"])
        XCTAssertTrue(world.kernel.commands.allSatisfy { $0.index != 0 })
    }

    func testAControllerChosenByAddressIsFoundUnderAnyNumber() throws {
        let world = try KernelWorld(choices: [address(0x0200_A15E_0007)])
        world.plugIn(0, address: 1, isAnnounced: false)
        world.plugIn(1, address: 0x0200_A15E_0007, isAnnounced: false)
        world.start()
        XCTAssertEqual(world.log.take(), ["hci1 up"])
        world.pullOut(1)
        XCTAssertEqual(world.log.take(), ["hci1 down"])
        world.plugIn(1, address: 99)
        XCTAssertEqual(world.log.take(), [], "another one has taken the number")
        XCTAssertEqual(world.given[0].status.state, .absent)
        world.plugIn(2, address: 0x0200_A15E_0007)
        XCTAssertEqual(world.log.take(), ["hci2 up"])
        XCTAssertEqual(world.given.map(\.index), [2], "it is the same adapter")
    }

    func testAControllerThatReturnsUnderAnotherNumberIsTheSameAdapter() throws {
        let world = try KernelWorld()
        world.plugIn(0, address: 1, isAnnounced: false)
        world.plugIn(1, address: 2, isAnnounced: false)
        world.start()
        _ = world.log.take()
        world.pullOut(1)
        world.plugIn(2, address: 2)
        XCTAssertEqual(world.log.take(), ["hci1 down", "hci2 up"])
        XCTAssertEqual(world.given.map(\.index), [0, 2])
        XCTAssertEqual(world.given[1].status.counters[.appeared], 2)
        world.plugIn(1, address: 3)
        XCTAssertEqual(world.log.take(), ["hci1 up"])
        XCTAssertEqual(world.given.map(\.index), [0, 2, 1])
        XCTAssertTrue(world.given.allSatisfy { $0.status.state == .ready })
    }

    func testControllersThatReturnUnderEachOthersNumbersStayTheAdaptersTheyWere() throws {
        let world = try KernelWorld()
        world.plugIn(0, address: 1, isAnnounced: false)
        world.plugIn(1, address: 2, isAnnounced: false)
        world.start()
        world.pullOut(0)
        world.pullOut(1)
        _ = world.log.take()
        world.plugIn(0, address: 2)
        world.plugIn(1, address: 1)
        XCTAssertEqual(world.log.take(), ["hci0 up", "hci1 up"])
        XCTAssertEqual(world.given.map(\.index), [1, 0])
    }

    func testTheRandomAddressStaysWithAControllerThatReturnsAndIsNobodyElses() throws {
        let world = try KernelWorld(isAlwaysRandom: true)
        world.plugIn(0, address: 1, isAnnounced: false)
        world.plugIn(1, address: 2, isAnnounced: false)
        world.start()
        let before = try XCTUnwrap(world.controllers[1]?.staticAddress)
        world.pullOut(1)
        world.plugIn(2, address: 2)
        XCTAssertEqual(world.controllers[2]?.staticAddress, before)
        world.plugIn(1, address: 3)
        XCTAssertEqual(Set(world.controllers.values.map(\.staticAddress)).count, 3)
    }

    func testControllersWithTheSameAddressEachHaveAnAdapter() throws {
        let world = try KernelWorld(isAlwaysRandom: true)
        world.plugIn(0, address: 5, isAnnounced: false)
        world.plugIn(1, address: 5, isAnnounced: false)
        world.start()
        world.pullOut(0)
        world.plugIn(2, address: 5)
        XCTAssertEqual(world.given.map(\.index), [2, 1])
        XCTAssertTrue(world.given.allSatisfy { $0.status.state == .ready })
        XCTAssertEqual(Set(world.controllers.values.map(\.staticAddress)).count, 2)
    }

    func testAChosenNumberWaitsForWhateverTakesIt() throws {
        let world = try KernelWorld(choices: [.index(1)])
        world.plugIn(1, address: 2, isAnnounced: false)
        world.start()
        world.pullOut(1)
        _ = world.log.take()
        world.plugIn(2, address: 2)
        XCTAssertEqual(world.log.take(), [], "hci2 was not chosen")
        XCTAssertEqual(world.given[0].status.state, .absent)
        world.plugIn(1, address: 9)
        XCTAssertEqual(world.log.take(), ["hci1 up"])
    }

    func testAdaptersThatAreGoneKeepNoPlaceFromNewOnes() throws {
        let world = try KernelWorld()
        for index in UInt16(0)..<16 { world.plugIn(index, address: UInt64(index) + 1, isAnnounced: false) }
        world.start()
        world.pullOut(3)
        _ = world.log.take()
        world.plugIn(20, address: 100)
        XCTAssertEqual(world.log.take(), ["hci20 up"])
        XCTAssertEqual(world.directory.adapters.count, 16)
    }

    func testAddedAndRemovedControllersAreNoticedWithoutTheEvent() throws {
        let world = try KernelWorld()
        world.plugIn(0, address: 1, isAnnounced: false)
        world.start()
        world.log.onUp = nil
        XCTAssertEqual(world.log.take(), ["hci0 up"])
        world.plugIn(1, address: 2, isAnnounced: false)
        world.pullOut(0, isAnnounced: false)
        world.advance(by: .seconds(31))
        XCTAssertEqual(world.log.take().sorted(), ["hci0 down", "hci1 up"])
    }

    func testAControllerThatWasGoneForAMomentComesBackWithoutAnyEvent() throws {
        let world = try KernelWorld()
        world.plugIn(0, address: 1, isAnnounced: false)
        world.start()
        world.controllers[0]?.refusals = [0x24: .invalidIndex, 0x3a: .invalidIndex]
        world.given[0].setScanning(true)
        world.settle()
        XCTAssertEqual(world.given[0].status.state, .absent)
        world.controllers[0]?.refusals = [:]
        world.advance(by: .seconds(31))
        XCTAssertEqual(world.given[0].status.state, .ready)
    }

    func testNotMoreAdaptersAreServedThanTheLimit() throws {
        let world = try KernelWorld()
        for index in 0..<20 { world.plugIn(UInt16(index), address: UInt64(index + 1), isAnnounced: false) }
        world.start()
        XCTAssertEqual(world.directory.adapters.count, 16)
    }

    func testAdaptersAreIndependent() throws {
        let world = try KernelWorld()
        world.plugIn(0, address: 1, isAnnounced: false)
        world.plugIn(1, address: 2, isAnnounced: false)
        world.start()
        world.controllers[0]?.isMute = true
        for adapter in world.given { adapter.setAdvertising(true) }
        world.settle()
        XCTAssertEqual(world.controllers[1]?.instances, [1])
        world.advance(by: .minutes(3))
        XCTAssertEqual(world.given[0].status.state, .wedged)
        XCTAssertEqual(world.given[1].status.state, .ready)
    }

    func testAFailedChannelTakesTheAdaptersDownAndBringsThemBack() throws {
        let world = try KernelWorld()
        world.plugIn(0, address: 1, isAnnounced: false)
        world.start()
        _ = world.log.take()
        world.kernel.close()
        world.settle()
        XCTAssertEqual(world.log.take(), ["hci0 down"])
        world.advance(by: .seconds(2))
        XCTAssertEqual(world.log.take(), ["hci0 up"])
    }

    func testAForbiddenChannelIsAnObstacleAndOfTheAdaptersToo() throws {
        let world = try KernelWorld(choices: [.index(0)])
        world.kernel.refusal = EACCES
        world.start()
        XCTAssertEqual(world.directory.obstacle, .forbidden)
        XCTAssertEqual(world.given[0].status.state, .forbidden)
        world.kernel.refusal = EAFNOSUPPORT
        world.advance(by: .seconds(2))
        XCTAssertEqual(world.directory.obstacle, .absent)
        world.kernel.refusal = nil
        world.plugIn(0, address: 1, isAnnounced: false)
        world.advance(by: .seconds(5))
        XCTAssertEqual(world.given[0].status.state, .ready)
        XCTAssertNil(world.directory.obstacle)
    }

    func testAProcessWithoutTheCapabilitySaysSoAndLivesOn() throws {
        let world = try KernelWorld()
        world.plugIn(0, address: 1, isAnnounced: false)
        for code in UInt16(5)...0x55 { world.controllers[0]?.refusals[code] = .permissionDenied }
        world.start()
        world.advance(by: .minutes(2))
        XCTAssertEqual(world.given[0].status.state, .forbidden)
    }

    func testTheDelegateIsNeverCalledFromInsideACall() throws {
        let world = try KernelWorld()
        world.plugIn(0, address: 1, isAnnounced: false)
        world.start()
        let adapter = try XCTUnwrap(world.given.first)
        _ = world.log.take()
        for _ in 0..<3 {
            adapter.connectionAttemptBegan()
            adapter.connectionAttemptEnded(.failed(errno: EHOSTDOWN))
        }
        XCTAssertEqual(world.log.take(), [], "the ladder's reset is told later")
        world.settle()
        XCTAssertTrue(world.log.take().contains("hci0 down"))
    }

    func testAStoppedAdapterSaysNothingMoreEvenOfWhatHasHappened() throws {
        let world = try KernelWorld()
        world.plugIn(0, address: 1, isAnnounced: false)
        world.start()
        _ = world.log.take()
        world.given[0].setAdvertising(true)
        world.settle()
        world.kernel.say(5, 0, [])
        world.log.onUp = { XCTFail("not up again") }
        world.given[0].stop()
        world.settle()
        XCTAssertEqual(world.log.take(), [])
        XCTAssertEqual(world.controllers[0]?.instances, [])
    }

    func testASwitchIsReadWhereTheKernelShowsIt() throws {
        let world = try KernelWorld(choices: [.index(0)])
        world.switches.add(0, name: "hci0", soft: true)
        world.plugIn(0, address: 1, isAnnounced: false)
        world.controllers[0]?.isBlocked = true
        world.start()
        XCTAssertEqual(world.given[0].status.state, .softBlocked)
        world.switches.add(0, name: "hci0", soft: true, hard: true)
        world.advance(by: .seconds(6))
        XCTAssertEqual(world.given[0].status.state, .hardBlocked)
        world.switches.add(0, name: "hci0")
        world.controllers[0]?.isBlocked = false
        world.advance(by: .seconds(6))
        XCTAssertEqual(world.given[0].status.state, .ready)
    }

    func testSwitchesOfOthersDoNotBlockAController() throws {
        let folder = try SwitchFolder()
        let switches = RadioSwitches(path: folder.path)
        XCTAssertEqual(switches.block(ofController: 0), .none)
        folder.add(0, type: "wlan", name: "phy0", soft: true)
        folder.add(1, name: "hci1", hard: true)
        XCTAssertEqual(switches.block(ofController: 0), .none)
        XCTAssertEqual(switches.block(ofController: 1), .hard)
        folder.add(2, name: "tpacpi_bluetooth_sw", soft: true)
        XCTAssertEqual(switches.block(ofController: 0), .soft, "it may have taken the controller off its bus")
        XCTAssertEqual(RadioSwitches(path: "/nonexistent").block(ofController: 0), .none)
    }

    func testStoppingTheDirectoryTakesEverythingOffTheAir() throws {
        let world = try KernelWorld()
        world.plugIn(0, address: 1, isAnnounced: false)
        world.start()
        world.given[0].setAdvertising(true)
        world.given[0].setScanning(true)
        world.settle()
        XCTAssertEqual(world.controllers[0]?.instances, [1])
        world.kernel.receive()
        let before = world.kernel.commands.count
        world.directory.stop()
        world.kernel.receive()
        XCTAssertEqual(world.kernel.commands[before...].map(\.code), [0x3f, 0x24])
        world.loop.advance(by: .minutes(5))
        XCTAssertTrue(world.loop.isIdle)
    }

    func testADirectoryStartsAgain() throws {
        let world = try KernelWorld()
        world.plugIn(0, address: 1, isAnnounced: false)
        world.start()
        world.directory.stop()
        world.settle()
        _ = world.log.take()
        world.start()
        XCTAssertEqual(world.log.take(), ["hci0 up"])
    }
}
