import Basics
import EventLoop
import Glibc
import XCTest

@testable import Radio

final class ManagementChannelTests: XCTestCase {
    private let loop = EmbeddedLoop()
    private let kernel = FakeKernel()
    private var channel: ManagementChannel!
    private var listener: Listener!
    private var outcomes: [ManagementOutcome] = []

    private final class Listener: ManagementChannelDelegate {
        var opened = 0
        var closed = 0
        var heard: [(event: ManagementEvent, index: UInt16)] = []

        func channelOpened() { opened += 1 }
        func channelClosed() { closed += 1 }
        func channelHeard(_ event: ManagementEvent, index: UInt16) { heard.append((event, index)) }
    }

    override func setUp() {
        channel = ManagementChannel(loop: loop, open: kernel.open)
        listener = Listener()
        channel.delegate = listener
    }

    override func tearDown() {
        channel.stop()
        kernel.close()
    }

    private func start() {
        channel.start()
        loop.settle()
    }

    private func send(_ command: ManagementCommand, to index: UInt16) {
        channel.send(command, to: index) { [unowned self] in self.outcomes.append($0) }
    }

    private func turn() { loop.pollDescriptors() }

    func testCommandsOfOneControllerGoOneAfterAnother() {
        start()
        send(.setPowered(false), to: 0)
        send(.setPowered(true), to: 0)
        XCTAssertEqual(kernel.receive(), [5])
        kernel.complete(5, 0, [1, 2, 3, 4])
        turn()
        XCTAssertEqual(outcomes, [.success([1, 2, 3, 4])])
        XCTAssertEqual(kernel.receive(), [5])
        kernel.refuse(5, 0, .blocked)
        turn()
        XCTAssertEqual(outcomes.last, .refused(.blocked))
    }

    func testControllersDoNotWaitForEachOther() {
        start()
        send(.setPowered(true), to: 0)
        send(.setPowered(true), to: 1)
        XCTAssertEqual(kernel.receive(), [5, 5])
        kernel.complete(5, 1)
        turn()
        XCTAssertEqual(outcomes, [.success([])])
    }

    func testACommandWithoutAnAnswerEndsAtItsLimitAndTheNextGoesOut() {
        start()
        send(.startDiscovery, to: 0)
        send(.readInformation, to: 0)
        kernel.receive()
        loop.advance(by: .seconds(19))
        XCTAssertEqual(outcomes, [])
        loop.advance(by: .seconds(1))
        XCTAssertEqual(outcomes, [.timedOut])
        XCTAssertEqual(channel.counters[.commandTimeout], 1)
        XCTAssertEqual(kernel.receive(), [4])
        kernel.complete(0x23, 0)
        turn()
        XCTAssertEqual(outcomes, [.timedOut], "the late answer is not taken for another command's")
        XCTAssertEqual(channel.counters[.strayAnswer], 1)
    }

    private func loseAnswer(to command: ManagementCommand) {
        send(command, to: 0)
        loop.advance(by: command.limit)
        XCTAssertEqual(outcomes.last, .timedOut)
        outcomes.removeAll()
    }

    func testALateAnswerDoesNotEndTheNextCommandOfItsKind() {
        start()
        loseAnswer(to: .startDiscovery)
        send(.startDiscovery, to: 0)
        kernel.refuse(0x23, 0, .failed)
        turn()
        XCTAssertEqual(outcomes, [])
        XCTAssertEqual(channel.counters[.strayAnswer], 1)
        kernel.complete(0x23, 0, [6])
        turn()
        XCTAssertEqual(outcomes, [.success([6])])
    }

    func testAnAnswerThatNeverComesTakesAtMostOneOther() {
        start()
        loseAnswer(to: .startDiscovery)
        send(.startDiscovery, to: 0)
        kernel.complete(0x23, 0, [6])
        turn()
        loop.advance(by: .seconds(20))
        XCTAssertEqual(outcomes, [.timedOut])
        for _ in 0..<3 {
            send(.startDiscovery, to: 0)
            kernel.complete(0x23, 0, [6])
            turn()
            XCTAssertEqual(outcomes.last, .success([6]))
        }
    }

    func testAnAnswerIsNotWaitedForAfterALaterCommandsOrAMinute() {
        start()
        loseAnswer(to: .startDiscovery)
        send(.setPowered(false), to: 0)
        kernel.complete(5, 0)
        turn()
        send(.startDiscovery, to: 0)
        kernel.complete(0x23, 0, [6])
        turn()
        XCTAssertEqual(outcomes, [.success([]), .success([6])], "the kernel carries them out in order")
        loseAnswer(to: .stopDiscovery)
        loop.advance(by: .seconds(60))
        send(.stopDiscovery, to: 0)
        kernel.complete(0x24, 0, [6])
        turn()
        XCTAssertEqual(outcomes, [.success([6])])
    }

    func testNothingLateIsExpectedOfReadingsNorOfAControllerThatWasRemoved() {
        start()
        loseAnswer(to: .readInformation)
        send(.readInformation, to: 0)
        kernel.complete(4, 0, [9])
        turn()
        XCTAssertEqual(outcomes, [.success([9])])
        loseAnswer(to: .setPowered(true))
        kernel.say(5, 0, [])
        turn()
        send(.setPowered(true), to: 0)
        kernel.complete(5, 0)
        turn()
        XCTAssertEqual(outcomes, [.success([])])
        XCTAssertEqual(channel.counters[.strayAnswer], 0)
    }

    func testAnAnswerForAnotherControllerEndsNothing() {
        start()
        send(.readInformation, to: 0)
        kernel.complete(4, 1)
        turn()
        XCTAssertEqual(outcomes, [])
        XCTAssertEqual(channel.counters[.strayAnswer], 1)
    }

    func testARemovedControllerEndsItsCommands() {
        start()
        send(.setPowered(true), to: 0)
        send(.readInformation, to: 0)
        send(.readInformation, to: 1)
        kernel.say(5, 0, [])
        turn()
        XCTAssertEqual(outcomes, [.lost, .lost])
        XCTAssertEqual(listener.heard.map(\.event), [.indexRemoved])
    }

    func testTheQueueIsBounded() {
        start()
        for _ in 0..<40 { send(.readInformation, to: 0) }
        loop.settle()
        XCTAssertEqual(outcomes, [ManagementOutcome](repeating: .lost, count: 7), "one under way and 32 waiting")
        XCTAssertEqual(channel.counters[.queueFull], 7)
    }

    func testEventsAreHandedOnWithTheirController() {
        start()
        XCTAssertEqual(listener.opened, 1)
        kernel.say(0x13, 4, [6, 1])
        kernel.say(0x25, 4, [0, 0])
        kernel.sayRaw([1, 2, 3])
        kernel.sayRaw([UInt8](repeating: 0, count: 5_000))
        turn()
        XCTAssertEqual(listener.heard.map(\.event), [.discovering(true)])
        XCTAssertEqual(listener.heard.map(\.index), [4])
        XCTAssertEqual(channel.counters[.ignoredEvent], 1)
        XCTAssertEqual(channel.counters[.malformedEvent], 2)
    }

    func testAFailedChannelLosesItsCommandsAndComesBack() {
        start()
        send(.setPowered(true), to: 0)
        kernel.close()
        turn()
        XCTAssertEqual(outcomes, [.lost])
        XCTAssertEqual(listener.closed, 1)
        send(.readInformation, to: 0)
        loop.settle()
        XCTAssertEqual(outcomes, [.lost, .lost], "nothing waits for a closed channel")
        loop.advance(by: .seconds(1))
        XCTAssertEqual(listener.opened, 2)
        XCTAssertEqual(channel.state, .open)
        send(.readInformation, to: 0)
        XCTAssertEqual(kernel.receive(), [4])
    }

    func testACommandTheKernelDoesNotTakeIsRefusedAndHoldsUpNoOther() {
        start()
        kernel.close()
        send(.removeAdvertising(0), to: 0)
        loop.settle()
        XCTAssertEqual(outcomes, [.refused(.failed)])
        XCTAssertEqual(channel.counters[.sendFailed], 1)
    }

    func testAForbiddenOrMissingChannelSaysSoAndIsTriedAgainAtGrowingIntervals() {
        kernel.refusal = EPERM
        start()
        XCTAssertEqual(channel.state, .forbidden)
        XCTAssertEqual(listener.closed, 1)
        loop.advance(by: .seconds(120))
        XCTAssertEqual(kernel.openings, 7, "after 1, 2, 4, 8, 16 and 32 s, then every minute")
        kernel.refusal = EAFNOSUPPORT
        loop.advance(by: .seconds(60))
        XCTAssertEqual(channel.state, .missing)
        kernel.refusal = nil
        loop.advance(by: .seconds(60))
        XCTAssertEqual(channel.state, .open)
    }

    func testAStoppedChannelCallsNobody() {
        start()
        send(.setPowered(true), to: 0)
        channel.stop()
        loop.advance(by: .minutes(5))
        XCTAssertEqual(outcomes, [])
        XCTAssertEqual(listener.closed, 0)
        XCTAssertTrue(loop.isIdle)
    }

    func testPostedCommandsPassThoseUnderWay() {
        start()
        send(.startDiscovery, to: 0)
        channel.post(.removeAdvertising(1), to: 0)
        XCTAssertEqual(kernel.receive(), [0x23, 0x3f])
    }

    func testTheKernelsOwnSocketFailsCleanlyWhereThereIsNone() {
        // Whatever this machine answers, it is an answer and no crash.
        if case .failure(let error) = ManagementSocket.open() { XCTAssertNotEqual(error.code, 0) }
    }
}
