import Basics
import XCTest

@testable import Station
@testable import Uplink

final class TorReportTests: XCTestCase {
    private func report(_ stage: TorStage, control: TorReport.Control = .connected) -> TorReport {
        TorReport(
            stage: stage, access: stage == .ready ? .open : .waiting, control: control, version: "0.4.9",
            bootstrap: TorBootstrap(
                progress: 10, tag: "conn", summary: "Connecting", warning: "refused", isSerious: true),
            steps: [TorBootstrapStep(progress: 10, tag: "conn", summary: "Connecting", after: .milliseconds(1_230))],
            sinceProof: .seconds(61), problem: "refused", clockSkew: -7_200, nextProbe: .milliseconds(4_200))
    }

    func testEveryStageThatNeedsTheOperatorSaysWhatToDo() {
        let quiet: Set<TorStage> = [.waitingForTime, .starting, .ready]
        var codes: Set<String> = []
        for stage in TorStage.allCases {
            let item = TorAttention.route(report(stage), socks: "127.0.0.1:9050")
            XCTAssertEqual(item == nil, quiet.contains(stage), "\(stage)")
            guard let item else { continue }
            XCTAssertTrue(codes.insert(item.code).inserted, "\(stage)")
            XCTAssertTrue(item.message.contains("nothing goes another way"), item.message)
            XCTAssertFalse(item.remedy.isEmpty)
        }
        XCTAssertTrue(
            TorAttention.route(report(.clockSkew), socks: "")?.message.contains("2 h slow") ?? false)
    }

    func testAServiceThatIsKeptFromTheNetworkItWasToldToUseSaysWhatLetsItThere() throws {
        var network = Configuration.Network()
        XCTAssertNil(TorAttention.confinement(network, hasInternet: false), "tor's socket is no network")
        network.tor = .off
        XCTAssertNil(TorAttention.confinement(network, hasInternet: true))
        let item = try XCTUnwrap(TorAttention.confinement(network, hasInternet: false))
        XCTAssertEqual(item.code, "network_confined")
        XCTAssertTrue(item.remedy.contains("bitgated-network.conf"), item.remedy)
        network.tor = .required
        let port = try XCTUnwrap(LocalEndpoint("127.0.0.1:9050"))
        for place in [{ $0.socks = port }, { $0.control = port }] as [(inout Configuration.Network) -> Void] {
            var network = network
            place(&network)
            XCTAssertNotNil(TorAttention.confinement(network, hasInternet: false))
        }
        XCTAssertTrue(TorAttention.hasInternetSockets, "as is usual")
    }

    func testAControlPortThatCannotBeReadIsNamedWithItsCure() {
        let faults: [TorControlFault] = [
            .absent("x"), .forbidden("x"), .cookieAbsent("/c"), .cookieForbidden("/c"), .cookieUnusable("x"),
            .noMethod("x"), .refused("x"), .silent, .malformed("x"), .ended,
        ]
        XCTAssertEqual(Set(faults.map(\.code)).count, faults.count)
        for fault in faults {
            let item = TorAttention.control(report(.ready, control: .lost(fault)))
            XCTAssertEqual(item?.code, "tor_control")
            XCTAssertTrue(item?.message.contains(fault.message) ?? false)
            XCTAssertEqual(item?.remedy, fault.remedy)
        }
        XCTAssertTrue(TorControlFault.cookieForbidden("/c").remedy.contains("debian-tor"))
        XCTAssertNil(TorAttention.control(report(.ready)))
        XCTAssertNil(TorAttention.control(report(.unreachable, control: .lost(.absent("x")))), "said once is enough")
    }

    func testTheRouteTravelsUnchangedAndHasStableKeys() throws {
        for control in [TorReport.Control.none, .pending, .connected, .lost(.silent)] {
            let route = StatusReport.Route(report(.degraded, control: control))
            XCTAssertEqual(try StatusReport.Route(json: JSONValue(parsing: route.json.encoded())), route)
        }
        guard case .object(let members) = StatusReport.Route(report(.stalled, control: .lost(.silent))).json else {
            return XCTFail()
        }
        XCTAssertEqual(
            Set(members.keys),
            [
                "state", "access", "problem", "last_proof_seconds", "retry_seconds", "bootstrap", "steps",
                "clock_skew_seconds", "control", "control_problem", "tor_version",
            ])
        XCTAssertEqual(members["retry_seconds"], .integer(5))
        XCTAssertEqual(members["control"], .text("silent"))
    }

    func testTheStepsAreShownUntilTheWayIsOpen() {
        func network(_ stage: TorStage) -> StatusReport.Network {
            StatusReport.Network(tor: "required", relays: [], route: StatusReport.Route(report(stage)))
        }
        XCTAssertEqual(
            OperatorText.tor(network(.bootstrapping)),
            "bootstrapping, 10 %, Connecting, last heard through it 1 min 1 s ago, tried again in 5 s, tor 0.4.9")
        XCTAssertEqual(OperatorText.torSteps(network(.bootstrapping)), ["10 % after 1.2 s: Connecting"])
        XCTAssertEqual(OperatorText.torSteps(network(.ready)), [])
        var hostile = network(.bootstrapping)
        hostile.route?.bootstrap?.summary = "\u{1B}[2J"
        hostile.route?.steps[0].summary = "\u{1B}[2J"
        XCTAssertFalse((OperatorText.tor(hostile) + OperatorText.torSteps(hostile).joined()).contains("\u{1B}"))
    }

    func testDirectModeSaysWhatItMeans() {
        XCTAssertEqual(
            OperatorText.tor(StatusReport.Network(tor: "off: relays see this box's address", relays: [], route: nil)),
            "off: relays see this box's address")
    }
}
