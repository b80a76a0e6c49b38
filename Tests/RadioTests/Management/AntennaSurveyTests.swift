import Basics
import Foundation
import XCTest

@testable import Radio

final class AntennaSurveyTests: XCTestCase {
    /// A machine like a Raspberry Pi, as the kernel shows it.
    private final class Machine {
        let root = NSTemporaryDirectory() + "bitgate-antenna-\(UUID().uuidString)"
        private let files = FileManager.default

        init() throws {
            try folder("proc/net")
            try folder("sys/class/bluetooth")
            try folder("sys/class/net")
            try device("bluetooth/hci0", "soc/fe201000.serial/serial0/serial0-0/bluetooth/hci0")
            try device("bluetooth/hci1", "pci0000:00/usb1/1-1/1-1.3/bluetooth/hci1")
            try device("net/wlan0", "soc/fe300000.mmcnr/mmc_host/mmc1/mmc1:0001/mmc1:0001:1/net/wlan0")
            try folder("sys/devices/soc/fe300000.mmcnr/mmc_host/mmc1/mmc1:0001/mmc1:0001:1/net/wlan0/phy80211")
            try device("net/wlan1", "pci0000:00/usb1/1-1/1-1.2/net/wlan1")
            try folder("sys/devices/pci0000:00/usb1/1-1/1-1.2/net/wlan1/phy80211")
            try device("net/eth0", "soc/fd580000.ethernet/net/eth0")
        }

        deinit { try? files.removeItem(atPath: root) }

        /// The rest of the table is as the kernel prints it.
        func route(_ routes: (interface: String, destination: String, metric: Int)...) throws {
            let lines = routes.map {
                "\($0.interface)\t\($0.destination)\t0100A8C0\t0003\t0\t0\t\($0.metric)\t"
                    + "\($0.destination == "00000000" ? "00000000" : "00FFFFFF")\t0\t0\t0"
            }
            let text = (["Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT"] + lines)
            try text.joined(separator: "\n").write(toFile: root + "/proc/net/route", atomically: true, encoding: .utf8)
        }

        private func folder(_ path: String) throws {
            try files.createDirectory(atPath: root + "/" + path, withIntermediateDirectories: true)
        }

        private func device(_ name: String, _ path: String) throws {
            try folder("sys/devices/" + path)
            try files.createSymbolicLink(
                atPath: root + "/sys/class/" + name, withDestinationPath: "../../devices/" + path)
        }
    }

    private func isShared(_ index: UInt16, _ machine: Machine) -> Bool {
        AntennaSurvey(root: machine.root).isShared(ofController: index)
    }

    func testTheBuiltInRadioSharesItsAntennaWithTheBuiltInWiFiThatIsTheUplink() throws {
        let machine = try Machine()
        try machine.route(("wlan0", "00000000", 600), ("wlan0", "0000A8C0", 600))
        XCTAssertTrue(isShared(0, machine))
        XCTAssertFalse(isShared(1, machine), "an adapter on USB has an antenna of its own")
        XCTAssertFalse(isShared(7, machine), "there is none")
    }

    func testOtherUplinksLeaveTheAntennaToTheRadio() throws {
        let machine = try Machine()
        try machine.route(("eth0", "00000000", 100), ("wlan0", "00000000", 600))
        XCTAssertFalse(isShared(0, machine), "Ethernet goes first")
        try machine.route(("wlan1", "00000000", 600))
        XCTAssertFalse(isShared(0, machine), "Wi-Fi on USB")
        try machine.route(("wlan0", "0000A8C0", 600))
        XCTAssertFalse(isShared(0, machine), "it leads nowhere")
        try machine.route()
        XCTAssertFalse(isShared(0, machine))
    }

    func testAMachineThatShowsNothingSharesNothing() {
        XCTAssertFalse(AntennaSurvey(root: "/nonexistent").isShared(ofController: 0))
    }

    func testScanningFollowsTheUplink() throws {
        let machine = try Machine()
        try machine.route(("wlan0", "00000000", 600))
        let world = try KernelWorld(antennas: AntennaSurvey(root: machine.root))
        world.plugIn(0, address: 1, isAnnounced: false)
        world.plugIn(1, address: 2, isAnnounced: false)
        world.start()
        for adapter in world.given { adapter.setScanning(true) }
        XCTAssertEqual(secondsOfScanning(world, 0), 10, accuracy: 2)
        XCTAssertEqual(secondsOfScanning(world, 1), 30, accuracy: 2)
        try machine.route(("eth0", "00000000", 100), ("wlan0", "00000000", 600))
        world.advance(by: .seconds(31))
        XCTAssertEqual(secondsOfScanning(world, 0), 30, accuracy: 2)
    }

    /// In half a minute.
    private func secondsOfScanning(_ world: KernelWorld, _ adapter: Int) -> Double {
        var seconds = 0.0
        for _ in 0..<60 {
            world.advance(by: .milliseconds(500))
            if world.given[adapter].status.isScanning { seconds += 0.5 }
        }
        return seconds
    }
}
