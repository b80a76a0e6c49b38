import Basics
import EventLoop
import Glibc
import XCTest

@testable import Radio

/// What a process that was killed has left on the air.
final class RadioSilenceTests: XCTestCase {
    /// Controllers that advertise and scan, with nobody there who told them.
    private func world(_ addresses: [UInt64] = [1, 2]) throws -> KernelWorld {
        let world = try KernelWorld()
        for (index, address) in addresses.enumerated() {
            world.plugIn(UInt16(index), address: address, isAnnounced: false)
            let controller = try XCTUnwrap(world.controllers[UInt16(index)])
            controller.isPowered = true
            controller.addForeignInstance(1)
            _ = controller.answer(.startDiscovery)
        }
        return world
    }

    private func impose(_ world: KernelWorld, _ choices: [AdapterChoice] = []) throws -> [UInt16] {
        try RadioSilence.impose(on: choices, open: world.kernel.open, wait: { [unowned world] _ in world.settle() })
    }

    private func isSilent(_ controller: ScriptedController?) -> Bool {
        controller.map { $0.instances.isEmpty && !$0.isDiscovering && !$0.isPowered } ?? false
    }

    func testWhatAKilledProcessLeftOnTheAirIsTakenDown() throws {
        let world = try world()
        XCTAssertEqual(try impose(world), [])
        for index in [UInt16(0), 1] { XCTAssertTrue(isSilent(world.controllers[index])) }
        let before = world.kernel.commands.count
        XCTAssertEqual(try impose(world), [])
        XCTAssertFalse(world.kernel.commands[before...].contains { $0.code == 0x05 }, "one that is off is left alone")
    }

    func testOnlyControllersThatAreOursAreTouched() throws {
        for choice in [AdapterChoice.index(1), .address(BluetoothAddress(value: 2, kind: .public))] {
            let world = try world()
            XCTAssertEqual(try impose(world, [choice]), [])
            XCTAssertTrue(isSilent(world.controllers[1]))
            XCTAssertEqual(world.controllers[0]?.instances, [1])
            XCTAssertTrue(world.controllers[0]?.isPowered ?? false)
        }
    }

    /// It is busy with what another process told it, or wedged.
    func testAControllerThatDoesNotObeyIsNamedUntilItDoes() throws {
        for refuse in [{ $0.mute = [0x05, 0x3f, 0x24] }, { $0.refusals[0x05] = .busy }]
            as [(ScriptedController) -> Void]
        {
            let world = try world([1])
            let controller = try XCTUnwrap(world.controllers[0])
            refuse(controller)
            for _ in 0..<3 { XCTAssertEqual(try impose(world), [0]) }
            controller.mute = []
            controller.refusals = [:]
            XCTAssertEqual(try impose(world), [])
            XCTAssertTrue(isSilent(controller))
        }
    }

    func testWhoMayNotCommandAControllerHasPutNothingOnIt() throws {
        let world = try world([1])
        for code in [UInt16(0x05), 0x3f, 0x24] { world.controllers[0]?.refusals[code] = .permissionDenied }
        XCTAssertEqual(try impose(world), [])
    }

    func testReportsOfABusyControllerDoNotHideTheAnswer() throws {
        let world = try world([1])
        let left = try RadioSilence.impose(
            on: [], open: world.kernel.open,
            wait: { [unowned world] _ in
                for phone in UInt64(1)...20 { world.advertise(BluetoothAddress(value: phone, kind: .random), to: 0) }
                world.kernel.sayRaw([1, 2, 3])
                world.settle()
            })
        XCTAssertEqual(left, [])
        XCTAssertTrue(isSilent(world.controllers[0]))
    }

    func testWithoutBluetoothThereIsNothingToDoAndWithoutAnAnswerThatIsTold() throws {
        let world = try world([])
        for code in [EAFNOSUPPORT, EPERM] {
            world.kernel.refusal = code
            XCTAssertEqual(try impose(world), [])
        }
        world.kernel.refusal = EMFILE
        XCTAssertThrowsError(try impose(world))
        world.kernel.refusal = nil
        XCTAssertThrowsError(try RadioSilence.impose(on: [], open: world.kernel.open, wait: { _ in }))
    }
}
