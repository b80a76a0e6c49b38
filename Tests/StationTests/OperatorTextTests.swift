import Foundation
import XCTest

@testable import Station

final class OperatorTextTests: XCTestCase {
    private var report: StatusReport {
        StatusReport(
            version: "0.1.0", uptimeSeconds: 125, peer: "0011223344556677", nickname: "gate-0011",
            attention: [.init(code: "no_location", message: "The bridge rests.", remedy: "Set location.cell.")],
            clock: .init(
                source: "relays", trusted: true, mesh: true, time: "2026-06-01T00:00:00Z", errorSeconds: 3,
                offsetSeconds: -7_200, heldBack: "configured"),
            radio: .init(
                kind: "air", adapters: [],
                links: [
                    .init(
                        number: 3, adapter: nil, role: "incoming", frameLimit: 512, upSeconds: 61, framesIn: 7,
                        framesOut: 9, lastInSeconds: 3,
                        lastOutSeconds: nil)
                ]), mesh: .init(neighbours: 1, reachable: 2),
            gateway: .init(
                enabled: true, advertised: true, cell: nil, channels: ["u4pruy"], queuedDeposits: 1,
                pendingDownlinks: 0,
                carriersLastMinute: 4, carriersLimit: 30),
            bridge: .init(
                enabled: false, advertised: false, cell: nil, channels: nil, queuedDeposits: 0, pendingDownlinks: 0,
                carriersLastMinute: 0, carriersLimit: 20),
            mail: .init(
                enabled: true, working: true, usingRelays: true, carried: 3, limit: 200, atRelays: 2, undelivered: 1),
            network: .init(
                tor: "required",
                relays: [
                    .init(
                        url: "ws://127.0.0.1:7", state: "waiting", lastEventSeconds: 5, lastAcceptedSeconds: nil,
                        accepted: 2, refused: 1, pending: 3, subscriptions: 2,
                        refusals: [.init(subscription: "geo-u4pruy", reason: "auth-required", retrySeconds: 60)],
                        problem: "connection refused")
                ], directory: .init(source: "fetched", relays: 326, ageSeconds: 7_200, problem: "timed out")),
            storage: .init(
                mode: "persistent", state: "disk_full", records: 1, bytes: 517, waitingBytes: 12_000,
                writtenLastDay: 11_000_000))
    }

    func testStatusIsReadableByPeople() {
        XCTAssertEqual(
            OperatorText.status(report),
            """
            bitgate 0.1.0, up 2 min 5 s: gate-0011 (peer 0011223344556677)

            ! The bridge rests.
              Set location.cell.

            clock     trusted, relays within 3 s: 2026-06-01T00:00:00Z, the system's clock
                      is 2 h ahead; what configured says is before the last known time
            radio     air, 1 link
                      incoming, up 1 min 1 s, 7 in, 9 out, last frame 3 s ago
            mesh      1 neighbour, 2 peers in reach
            gateway   on, announced to phones, channels #u4pruy, 4 of 30 carriers sent in
                      the last minute, 1 message waiting for a relay
            bridge    off
            mail      on, 3 of 200 letters waiting, 2 of them at relays too, 1 fetched for
                      neighbours who are not near enough
            storage   persistent, 1 record, 517 B, 11 MiB written since the start, 12 KiB in
                      memory only: disk_full
            tor       required
            relays    0 of 1 connected
                      ws://127.0.0.1:7: waiting, last event 5 s ago, 2 accepted, 1 refused,
                        3 waiting, 2 subscriptions, refuses geo-u4pruy: auth-required, asked
                        again in 1 min (connection refused)
            directory 326 relays, fetched 2 h ago (last fetch: timed out)

            """)
    }

    func testWhatWasWrittenIsADaysOnlyOnceADayHasPassed() {
        var report = report
        for (uptime, words) in [(86_399, "11 MiB written since the start"), (86_400, "11 MiB written in the last day")]
        {
            report.uptimeSeconds = uptime
            XCTAssertTrue(OperatorText.status(report).contains(words), words)
        }
    }

    func testAClockThatIsSetInVainIsSaidToBe() {
        var clock = report.clock
        XCTAssertTrue(OperatorText.clockSet(clock).hasSuffix("is overruled by a better source: relays\n"))
        clock.source = "configured"
        XCTAssertTrue(OperatorText.clockSet(clock).hasSuffix("source: configured (clock.trust_system)\n"))
        clock.source = "set"
        XCTAssertEqual(OperatorText.clockSet(clock), OperatorText.clock(clock))
    }

    private var withBluetooth: StatusReport {
        var report = report
        report.radio.kind = "bluetooth"
        report.radio.links[0].adapter = "hci0"
        report.radio.adapters = [
            .init(
                name: "hci0", state: "ready", advertising: true, scanning: true, outgoing: 1, incoming: 2,
                connecting: 1, limit: 8, lastInSeconds: 3, lastOutSeconds: 61, lastReportSeconds: 5,
                lastAcceptedSeconds: 7_200),
            .init(
                name: "hci1", state: "soft_blocked", advertising: false, scanning: false, outgoing: 0, incoming: 0,
                connecting: 0, limit: 8),
        ]
        return report
    }

    func testStatusShowsEachAdapter() {
        let lines = OperatorText.status(withBluetooth).split(separator: "\n").map(String.init)
        let first = lines.firstIndex { $0.hasPrefix("radio") } ?? 0
        XCTAssertEqual(
            lines[first...].prefix(5),
            [
                "radio     bluetooth, 1 link on 2 adapters",
                "          hci0: advertising, scanning, 3 of 8 links, calling 1, last frame in 3",
                "            s ago, out 1 min 1 s ago, last call taken 2 h ago",
                "          hci1: soft blocked",
                "          hci0 link 3: incoming, up 1 min 1 s, 7 in, 9 out, last frame 3 s ago",
            ])
        var bare = withBluetooth
        bare.radio.adapters = []
        bare.radio.links = []
        XCTAssertTrue(OperatorText.status(bare).contains("\nradio     bluetooth, no adapter\n"))
    }

    func testStatusHasStableKeys() throws {
        let line = ControlAnswer.done(report.json, name: "status").line
        let top = try XCTUnwrap(JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
        XCTAssertEqual(Set(top.keys), ["v", "ok", "status"])
        let status = try XCTUnwrap(top["status"] as? [String: Any])
        XCTAssertEqual(
            Set(status.keys),
            [
                "version", "uptime_seconds", "peer", "nickname", "attention", "clock", "radio", "mesh", "gateway",
                "bridge", "mail", "network", "storage",
            ])
        let keys = { (path: [String]) -> Set<String> in
            var value: Any? = status
            for step in path { value = (value as? [String: Any])?[step] }
            if let list = value as? [Any] { value = list.first }
            return Set((value as? [String: Any] ?? [:]).keys)
        }
        XCTAssertEqual(keys(["attention"]), ["code", "message", "remedy"])
        XCTAssertEqual(
            keys(["clock"]),
            ["source", "trusted", "mesh", "time", "error_seconds", "offset_seconds", "held_back"])
        XCTAssertEqual(keys(["radio"]), ["kind", "adapters", "links"])
        XCTAssertEqual(
            keys(["radio", "links"]),
            ["number", "role", "frame_limit", "up_seconds", "frames_in", "frames_out", "last_in_seconds"])
        XCTAssertEqual(keys(["mesh"]), ["neighbours", "reachable"])
        XCTAssertEqual(
            keys(["gateway"]),
            [
                "enabled", "advertised", "channels", "queued_deposits", "pending_downlinks", "carriers_last_minute",
                "carriers_limit",
            ])
        XCTAssertEqual(
            keys(["mail"]),
            ["enabled", "working", "using_relays", "carried", "limit", "at_relays", "undelivered"])
        XCTAssertEqual(
            keys(["storage"]), ["mode", "state", "records", "bytes", "waiting_bytes", "written_last_day"])
        XCTAssertEqual(keys(["network"]), ["tor", "relays", "directory"])
        XCTAssertEqual(keys(["network", "directory"]), ["source", "relays", "age_seconds", "problem"])
        XCTAssertEqual(
            keys(["network", "relays"]),
            [
                "url", "state", "last_event_seconds", "accepted", "refused", "pending", "subscriptions", "refusals",
                "problem",
            ])
    }

    func testReportsTravelUnchanged() throws {
        for wipe in [
            WipeReport(state: .none), WipeReport(state: .wiped, cause: .moved),
            WipeReport(state: .incomplete, failures: [.init(step: "silence", reason: "x")]),
        ] {
            XCTAssertEqual(try WipeReport(json: JSONValue(parsing: wipe.json.encoded())), wipe)
        }
        XCTAssertEqual(try StatusReport(json: JSONValue(parsing: report.json.encoded())), report)
        XCTAssertEqual(try StatusReport(json: JSONValue(parsing: withBluetooth.json.encoded())), withBluetooth)
        let peer = PeerReport(
            peer: "0011223344556677", nickname: "\u{1B}\"\\", neighbour: true, reachable: true, lastHeardSeconds: 2,
            gateway: false, bridge: true, cell: nil)
        XCTAssertEqual(try [PeerReport](json: JSONValue(parsing: [peer].json.encoded())), [peer])
        let counters: CounterReport = ["a": ["b": 3], "c": [:]]
        XCTAssertEqual(try CounterReport(json: JSONValue(parsing: counters.json.encoded())), counters)
    }

    func testAReportThatLacksAMemberNamesIt() {
        XCTAssertThrowsError(try StatusReport(json: ["version": .text("1")])) {
            XCTAssertEqual($0 as? JSONMismatch, JSONMismatch(member: "uptime_seconds"))
        }
    }

    func testNamesFromTheAirCannotCommandTheTerminal() {
        let peer = PeerReport(
            peer: "0011223344556677", nickname: "\u{1B}[2J\u{202E}evil\nfake line", neighbour: true, reachable: true,
            lastHeardSeconds: 2, gateway: false, bridge: true, cell: "\u{7}u4pruy")
        let text = OperatorText.peers([peer])
        XCTAssertEqual(text.filter { $0 == "\n" }.count, 2)
        XCTAssertFalse(text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" || $0.value == 0x202E }, text)
        XCTAssertTrue(text.contains("\\u{1B}[2J\\u{202E}evil\\nfake line"), text)
        var hostile = report
        hostile.nickname = "\u{1B}]0;x\u{7}"
        hostile.network.relays[0].problem = "\u{9B}2J"
        XCTAssertFalse(OperatorText.status(hostile).unicodeScalars.contains { [0x1B, 0x07, 0x9B].contains($0.value) })
    }

    func testJSONForATerminalIsTheSameJSON() throws {
        let nickname = "a\u{202E}b\u{1B}\u{E0001}ü"
        let line = String(decoding: (["x": ["n": .text(nickname)]] as JSONValue).encoded(), as: UTF8.self)
        let shown = OperatorText.json(line)
        XCTAssertFalse(shown.unicodeScalars.contains { !TerminalText.isPrintable($0) }, shown)
        XCTAssertTrue(shown.contains("\\u202e") && shown.contains("\\udb40\\udc01") && shown.contains("ü"), shown)
        let object = try JSONSerialization.jsonObject(with: Data(shown.utf8)) as? [String: Any]
        XCTAssertEqual((object?["x"] as? [String: String])?["n"], nickname)
    }

    func testMetricsAreInPrometheusTextFormatAndKeepZeros() {
        XCTAssertEqual(
            OperatorText.metrics(["mesh_drops": ["too-old": 0, "a\"}\nx": 2], "b-c": [:]]),
            """
            # TYPE bitgate_b_c_total counter
            # TYPE bitgate_mesh_drops_total counter
            bitgate_mesh_drops_total{what="a___x"} 2
            bitgate_mesh_drops_total{what="too-old"} 0

            """)
    }

    func testCountersLeaveOutZeros() {
        XCTAssertEqual(
            OperatorText.counters(["mesh": ["a-b": 2, "c": 0, "longer-name": 10], "air": ["x": 0], "b": [:]]),
            """
            mesh:
              a-b          2
              longer-name  10

            nothing yet: air, b

            """)
        XCTAssertEqual(OperatorText.counters(["air": ["x": 0]]), "nothing yet: air\n")
    }

    func testPeersAreATableWithTheNameLast() {
        func peer(_ name: String, neighbour: Bool, gateway: Bool) -> PeerReport {
            PeerReport(
                peer: "0011223344556677", nickname: name, neighbour: neighbour, reachable: true,
                lastHeardSeconds: gateway ? 61 : 5, gateway: gateway, bridge: gateway, cell: gateway ? "u4pruy" : nil)
        }
        XCTAssertEqual(
            OperatorText.peers([
                peer("gate", neighbour: true, gateway: true), peer(" ", neighbour: false, gateway: false),
            ]),
            """
            PEER              WHERE      HEARD          OFFERS                  NAME
            0011223344556677  neighbour  1 min 1 s ago  gateway, bridge u4pruy  gate
            0011223344556677  in reach   5 s ago        -                       anon

            """)
        XCTAssertEqual(OperatorText.peers([]), "nobody in reach\n")
    }

    func testNoLineOfTheStatusIsWiderThanATerminal() {
        var wide = report
        wide.attention[0].message = String(repeating: "word ", count: 40)
        wide.gateway.channels = (0..<8).map { "u4pruydqqv\($0)" }
        for line in OperatorText.status(wide).split(separator: "\n") { XCTAssertLessThanOrEqual(line.count, 80) }
    }

    func testSpansShowTwoUnits() {
        for (seconds, text) in [
            (0, "0 s"), (59, "59 s"), (60, "1 min"), (3_605, "1 h 5 s"), (3_725, "1 h 2 min"), (90_000, "1 d 1 h"),
            (-5, "0 s"),
        ] { XCTAssertEqual(OperatorText.span(seconds), text) }
    }
}

final class ArgumentsTests: XCTestCase {
    private func parse(_ arguments: String...) throws(StationFault) -> Arguments {
        try Arguments(arguments, flags: ["--json"], options: ["--socket"])
    }

    private func message(_ arguments: String...) -> String? {
        do {
            let parsed = try Arguments(arguments, flags: ["--json"], options: ["--socket"])
            try parsed.expectWords(atMost: 1)
            return nil
        } catch {
            XCTAssertEqual(error.exitStatus, ExitStatus.usage)
            return error.description
        }
    }

    func testOptionsAndWordsAreToldApart() throws {
        let arguments = try parse("a", "--json", "--socket", "/x", "b", "--", "--json")
        XCTAssertTrue(arguments.has("--json"))
        XCTAssertEqual(arguments.value("--socket"), "/x")
        XCTAssertEqual(arguments.words, ["a", "b", "--json"])
        XCTAssertEqual(try parse("--socket=/a=b").value("--socket"), "/a=b")
    }

    func testMistakesAreNamed() {
        XCTAssertEqual(message("--jsn"), "unknown option --jsn; did you mean --json?")
        XCTAssertEqual(message("--socket"), "--socket needs a value")
        XCTAssertEqual(message("--json=1"), "--json takes no value")
        XCTAssertEqual(message("--socket", "a", "--socket", "b"), "--socket is given twice")
        XCTAssertEqual(message("a", "\u{1B}b"), "unexpected argument \\u{1B}b")
    }
}
