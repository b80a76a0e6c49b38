import Basics
import XCTest

@testable import Radio
@testable import Station

/// Every way in which a radio can be missing has its own words and its own cure.
final class RadioAdviceTests: XCTestCase {
    private func adapter(
        _ state: AdapterStatus.State, lastStranger: Instant? = nil, rival: ChannelRival? = nil,
        openSince: Instant? = nil, lastAccepted: Instant? = nil, heardUnlinked: Int = 0
    ) -> AdapterSnapshot {
        AdapterSnapshot(
            name: "hci7", state: state, isAdvertising: false, isScanning: false, outgoing: 0, incoming: 0,
            connecting: 0, limit: 8, lastStranger: lastStranger, rival: rival, openSince: openSince,
            lastAccepted: lastAccepted, heardUnlinked: heardUnlinked, lastReceived: nil, lastSent: nil, lastReport: nil)
    }

    private func advice(
        _ adapters: [AdapterSnapshot], obstacle: AdapterStatus.State? = nil, at now: Instant = .zero + .minutes(60),
        running: [Int32] = []
    ) -> [StatusReport.Attention] {
        RadioAdvice.attention(adapters: adapters, obstacle: obstacle, at: now) { running.contains($0.pid) }
    }

    func testEveryStateHasItsOwnWordsAndCure() {
        let states: [AdapterStatus.State] = [
            .absent, .softBlocked, .hardBlocked, .poweredOff, .wedged, .forbidden, .unsuitable,
        ]
        let items = states.flatMap { advice([adapter($0)]) }
        XCTAssertEqual(
            items.map(\.code),
            [
                "adapter_absent", "adapter_soft_blocked", "adapter_hard_blocked", "adapter_powered_off",
                "adapter_wedged", "adapter_forbidden", "adapter_unsuitable",
            ])
        XCTAssertEqual(Set(items.map(\.message)).count, states.count)
        XCTAssertEqual(Set(items.map(\.remedy)).count, states.count)
        XCTAssertTrue(items[1].remedy.contains("rfkill unblock bluetooth"))
    }

    func testWorkingAdapterNeedsNoWords() {
        XCTAssertEqual(advice([adapter(.ready), adapter(.settingUp)]), [])
    }

    func testBoxWithoutAnyControllerSaysSo() {
        XCTAssertEqual(advice([], obstacle: .absent).map(\.code), ["adapter_absent"])
        XCTAssertEqual(advice([], obstacle: .forbidden).map(\.code), ["adapter_forbidden"])
        XCTAssertEqual(advice([]), [])
    }

    func testSomebodyElseOnTheChannelIsNamedForTenMinutes() {
        let now = Instant.zero + .minutes(60)
        XCTAssertEqual(advice([adapter(.ready, lastStranger: now - .minutes(9))]).map(\.code), ["adapter_shared"])
        XCTAssertEqual(advice([adapter(.ready, lastStranger: now - .minutes(11))]), [])
    }

    func testTheOneThatAnswersInOurPlaceIsNamedFromTheStartAndWhileItRuns() {
        let now = Instant.zero + .minutes(60)
        let daemon = adapter(.ready, rival: ChannelRival(name: "bluetoothd", pid: 512))
        XCTAssertEqual(advice([daemon], running: [512]).map(\.code), ["adapter_shared"])
        XCTAssertTrue(advice([daemon], running: [512])[0].message.hasPrefix("bluetoothd (process 512) "))
        XCTAssertEqual(advice([daemon], running: [511]), [], "it has ended")
        let other = adapter(.ready, lastStranger: now, rival: ChannelRival(name: "x\u{1b}[2J", pid: 9))
        let item = advice([other], running: [9])[0]
        XCTAssertTrue(item.message.contains("(process 9) answers phones that connect to hci7"), item.message)
        XCTAssertFalse(item.message.contains("\u{1b}"))
        XCTAssertFalse(item.remedy.contains("bluetooth"))
        XCTAssertTrue(advice([other])[0].message.hasPrefix("Another program answers"), "where processes are hidden")
    }

    func testAnAdapterThatNobodyConnectsToForHoursIsToldOfWhenOthersAreHeard() {
        let now = Instant.zero + .hours(10)
        func codes(open: Interval?, accepted: Interval? = nil, heard: Int = 60) -> [String] {
            advice(
                [
                    adapter(
                        .ready, openSince: open.map { now - $0 }, lastAccepted: accepted.map { now - $0 },
                        heardUnlinked: heard)
                ], at: now
            ).map(\.code)
        }
        XCTAssertEqual(codes(open: .hours(3)), ["adapter_unanswered"])
        XCTAssertEqual(codes(open: .hours(9), accepted: .hours(4)), ["adapter_unanswered"])
        XCTAssertEqual(codes(open: .hours(2)), [])
        XCTAssertEqual(codes(open: .hours(9), accepted: .hours(2)), [])
        XCTAssertEqual(codes(open: .hours(9), heard: 59), [], "nobody is around")
        XCTAssertEqual(codes(open: nil), [])
    }

    func testChatTakesAnAdapterOrARoomAndNotBoth() throws {
        func options(_ arguments: [String]) throws -> ChatOptions {
            try ChatOptions(Arguments(arguments, flags: [], options: ["--radio", "--room", "--name", "--nick"]))
        }
        guard case .bluetooth([.index(1)]) = try options(["--radio", "hci1"]).place else { return XCTFail("hci1") }
        guard case .bluetooth([]) = try options(["--radio", "all"]).place else { return XCTFail("all") }
        XCTAssertTrue(try options(["--radio", "hci1"]).nickname.hasPrefix("anon"))
        XCTAssertEqual(try options(["--radio", "hci1", "--nick", "anna"]).nickname, "anna")
        XCTAssertEqual(try options(["--room", "/r", "--name", "a"]).nickname, "a")
        for wrong in [
            ["--radio", "wlan0"], ["--radio", "hci0", "--room", "/r", "--name", "a"], [], ["--room", "/r"],
        ] {
            XCTAssertThrowsError(try options(wrong), "\(wrong)")
        }
    }
}
