import Basics
import XCTest

@testable import Radio
@testable import Station

/// Every way in which a radio can be missing has its own words and its own cure.
final class RadioAdviceTests: XCTestCase {
    private func adapter(_ state: AdapterStatus.State, lastStranger: Instant? = nil) -> AdapterSnapshot {
        AdapterSnapshot(
            name: "hci7", state: state, isAdvertising: false, isScanning: false, outgoing: 0, incoming: 0,
            connecting: 0, limit: 8, lastStranger: lastStranger, lastReceived: nil, lastSent: nil, lastReport: nil)
    }

    private func advice(
        _ adapters: [AdapterSnapshot], obstacle: AdapterStatus.State? = nil
    ) -> [StatusReport.Attention] {
        RadioAdvice.attention(adapters: adapters, obstacle: obstacle, at: .zero + .minutes(60))
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
