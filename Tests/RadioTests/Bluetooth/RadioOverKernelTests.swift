import Basics
import EventLoop
import Glibc
import Wire
import XCTest

@testable import Radio

/// The radio over adapters of the kernel's own channel: what only both together can get wrong.
final class RadioOverKernelTests: XCTestCase {
    private let phone = BluetoothAddress.phone(1)
    private var world: KernelWorld!
    private var ether: Ether!
    private var radio: BluetoothRadio!

    private func start(adapters: UInt16) throws {
        world = try KernelWorld()
        ether = Ether(loop: world.loop)
        radio = world.radio(over: ether)
        for index in 0..<adapters { world.plugIn(index, address: 0x0200_A15E_0001 + UInt64(index)) }
        radio.start()
        world.advance(by: .seconds(2))
    }

    override func tearDown() { radio?.stop() }

    func testNothingIsOnTheAirAnyMoreWhenACallBegins() throws {
        try start(adapters: 1)
        let controller = try XCTUnwrap(world.controllers[0])
        XCTAssertEqual(controller.instances, [1])
        XCTAssertTrue(controller.isDiscovering)
        var seen: [(instances: Set<UInt8>, isDiscovering: Bool)] = []
        ether.onCall = { seen.append((controller.instances, controller.isDiscovering)) }
        world.advertise(phone, to: 0)
        world.advance(by: .seconds(5))
        XCTAssertEqual(seen.count, 1)
        XCTAssertEqual(seen.first?.instances, [])
        XCTAssertEqual(seen.first?.isDiscovering, false)
        world.advance(by: .seconds(8))
        XCTAssertEqual(controller.instances, [1], "and back it comes")
    }

    func testAControllerThatOnlyCollidesShowsNoLifeWhileAnotherDoes() throws {
        try start(adapters: 2)
        // It worked once.
        let caller = try ether.dial(from: .phone(2), to: BluetoothAddress(value: 0x0200_A15E_0001, kind: .public))
        world.advance(by: .seconds(1))
        caller.send(Phone.subscribe)
        caller.send(Phone.write(makeFrame(1)))
        world.advance(by: .seconds(1))
        ether.end(caller.pair.from, caller.pair.to)
        ether.answers[phone] = .fails(EHOSTDOWN)
        let began = world.loop.now.monotonic
        for _ in 0..<192 {
            world.advertise(phone, to: 0)
            world.advance(by: .seconds(5))
        }
        let now = world.loop.now.monotonic
        let (stuck, healthy) = (radio.liveness[0], radio.liveness[1])
        XCTAssertEqual(radio.adapters[0].state, .wedged)
        XCTAssertGreaterThan(radio.events[.adapterUp], 6, "it comes up after every reset")
        XCTAssertGreaterThan(try XCTUnwrap(radio.adapters[0].lastReport), began + .minutes(5), "and hears")
        XCTAssertTrue(stuck.isExpected)
        XCTAssertLessThanOrEqual(try XCTUnwrap(stuck.lastProof), began)
        XCTAssertGreaterThanOrEqual(now - began, .minutes(15), "so the watchdog is not fed any more")
        XCTAssertGreaterThan(try XCTUnwrap(healthy.lastProof), now - .minutes(2), "but for this one")
        // A connection ends it.
        let again = try ether.dial(from: .phone(3), to: BluetoothAddress(value: 0x0200_A15E_0001, kind: .public))
        for _ in 0..<12 where radio.adapters[0].state == .wedged {
            world.advance(by: .minutes(1))
            world.kernel.say(0x0b, 0, ManagementAddress(.phone(3)).bytes + [0, 0, 0, 0, 0, 0])
            world.settle()
        }
        XCTAssertNotNil(again)
        XCTAssertEqual(radio.adapters[0].state, .ready)
        XCTAssertGreaterThan(try XCTUnwrap(radio.liveness[0].lastProof), now)
    }
}
