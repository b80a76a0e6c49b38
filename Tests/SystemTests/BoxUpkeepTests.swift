import Foundation
import XCTest

/// When the image installs updates, and what it tells of its network.
final class BoxUpkeepTests: BoxScriptCase {
    // MARK: Updates

    /// Two o'clock in the night of the first of May 2026, by UTC.
    private let two = 1_777_600_800
    private let hour = 3600

    private func isDue(hours: Int, up: Int = 0, _ arguments: [String] = []) throws -> Bool {
        try put("\(up).25 1.00\n", "/proc/uptime")
        let outcome = try status("due", arguments, now: two + hours * hour)
        XCTAssertEqual(outcome.errors, "")
        XCTAssertLessThanOrEqual(outcome.status, 1)
        return outcome.status == 0
    }
    private func updated(hours: Int) throws {
        try put("", "/data/apt/updated")
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: Double(two + hours * hour))],
            ofItemAtPath: scratch.path + "/data/apt/updated")
    }

    override func setUpWithError() throws {
        try super.setUpWithError()
        try folder("/proc")
        try folder("/data/apt")
    }

    func testABoxThatStaysOnUpdatesOnceANight() throws {
        XCTAssertFalse(try isDue(hours: 0, up: hour))
        XCTAssertTrue(try isDue(hours: 1, up: hour))
        try put("", "/run/box-update.tried")
        XCTAssertTrue(try isDue(hours: 2, up: 100 * hour), "the first try of the night had no network")
        try updated(hours: 1)
        for hours in [2, 3, 12, 20] { XCTAssertFalse(try isDue(hours: hours, up: 100 * hour), "\(hours)") }
        XCTAssertFalse(try isDue(hours: 22, up: 100 * hour), "it waits for the night")
        XCTAssertTrue(try isDue(hours: 25, up: 100 * hour))
    }

    func testABoxThatIsSwitchedOffAtNightUpdatesWhenItHasBeenOnForTwoHours() throws {
        XCTAssertFalse(try isDue(hours: 14, up: 2 * hour - 1))
        XCTAssertTrue(try isDue(hours: 14, up: 2 * hour))
        try put("", "/run/box-update.tried")
        XCTAssertFalse(try isDue(hours: 15, up: 3 * hour), "once for each start")
        try FileManager.default.removeItem(atPath: scratch.path + "/run/box-update.tried")
        try updated(hours: -6)
        XCTAssertFalse(try isDue(hours: 13, up: 5 * hour))
        XCTAssertTrue(try isDue(hours: 14, up: 5 * hour), "twenty hours later")
        try updated(hours: 1000)
        XCTAssertTrue(try isDue(hours: 14, up: 5 * hour), "a clock was wrong once")
    }

    func testNightIsWhereTheBoxStands() throws {
        // Two hours behind UTC, without summer time.
        try put("AAA2\n", "/data/config/timezone")
        XCTAssertFalse(try isDue(hours: 1))
        XCTAssertFalse(try isDue(hours: 2))
        XCTAssertTrue(try isDue(hours: 3))
        XCTAssertTrue(try isDue(hours: 3, ["--night"]))
        XCTAssertFalse(try isDue(hours: 14, up: 5 * hour, ["--night"]))
    }

    func testWhatWasInstalledByDayTakesEffectAtNight() throws {
        try updated(hours: -8)
        XCTAssertFalse(try isDue(hours: 1, up: 20 * hour))
        try put("", "/run/box-update.restart")
        XCTAssertFalse(try isDue(hours: 0, up: 20 * hour))
        XCTAssertTrue(try isDue(hours: 1, up: 20 * hour))
    }

    func testTheUpdateAnswersAWrongWordBeforeItOpensTheRoot() throws {
        for words in [["--help"], ["/nowhere.deb"], ["--shell", "x"], ["--timely", "--shell"]] {
            let outcome = try status("update", words)
            XCTAssertEqual(outcome.status, 64, outcome.errors)
            XCTAssertTrue(outcome.output.contains("usage: box-update"), outcome.output)
        }
    }

    // MARK: Kernels

    private func kernel(_ version: String, _ content: String? = nil, initrd: String? = nil) throws {
        try put(content ?? "kernel " + version, "/root/boot/vmlinuz-" + version)
        if let initrd { try put(initrd, "/root/boot/initrd.img-" + version) }
        try folder("/root/usr/lib/linux-image-\(version)/broadcom")
        try put("tree", "/root/usr/lib/linux-image-\(version)/broadcom/board.dtb")
    }
    private func halves() throws {
        for path in ["/root/boot", "/card/a", "/card/b"] { try folder(path) }
        try put("arm_64bit=1\r\nos_prefix=b/\r\n", "/card/config.txt")
        try put("console=tty0", "/card/b/cmdline.txt")
    }
    private func takeKernel() throws -> Programs.Outcome {
        try status("kernel", [scratch.path + "/root", scratch.path + "/card"])
    }
    private var half: String? {
        text("/card/config.txt")?.split(whereSeparator: \.isNewline).last.map(String.init)
    }

    func testANewKernelIsPutBesideTheOneInUse() throws {
        try halves()
        try kernel("6.12.9", initrd: "first")
        try put("lost", "/card/FSCK0000.REC")
        XCTAssertEqual(try takeKernel().status, 0)
        XCTAssertEqual(half, "os_prefix=a/")
        XCTAssertEqual(text("/card/a/vmlinuz"), "kernel 6.12.9")
        XCTAssertEqual(text("/card/a/cmdline.txt"), "console=tty0")
        XCTAssertFalse(exists("/card/FSCK0000.REC"))
        XCTAssertEqual(try takeKernel().output, "", "there is nothing to do")
        try kernel("6.12.10", initrd: "second")
        XCTAssertEqual(try takeKernel().status, 0)
        XCTAssertEqual(half, "os_prefix=b/")
        XCTAssertEqual(text("/card/b/vmlinuz"), "kernel 6.12.10")
        XCTAssertEqual(text("/card/a/vmlinuz"), "kernel 6.12.9")
    }

    func testAKernelThatIsNotWholeIsNotTakenIntoUse() throws {
        try halves()
        try kernel("6.12.9", initrd: "first")
        XCTAssertEqual(try takeKernel().status, 0)
        try kernel("6.12.10", "", initrd: "made of nothing")
        try kernel("6.12.11", initrd: "")
        try kernel("6.12.12")
        try put("half", "/root/boot/vmlinuz-6.12.13.dpkg-new")
        try put("half", "/root/boot/initrd.img-6.12.13.dpkg-new")
        let outcome = try takeKernel()
        XCTAssertEqual(outcome.output + outcome.errors, "")
        XCTAssertEqual(half, "os_prefix=a/")
        XCTAssertEqual(text("/card/a/vmlinuz"), "kernel 6.12.9")
        try FileManager.default.removeItem(atPath: scratch.path + "/root/boot/vmlinuz-6.12.9")
        XCTAssertEqual(try takeKernel().status, 1)
        XCTAssertEqual(half, "os_prefix=a/")
    }

    func testACopyThatWasCutShortIsMadeAgain() throws {
        try halves()
        try kernel("6.12.9", initrd: "first")
        XCTAssertEqual(try takeKernel().status, 0)
        try kernel("6.12.10", initrd: "second")
        try put("kernel 6.12.10", "/card/b/vmlinuz")
        try put("sec", "/card/b/initrd.img")
        XCTAssertEqual(try takeKernel().status, 0)
        XCTAssertEqual(half, "os_prefix=b/")
        XCTAssertEqual(text("/card/b/initrd.img"), "second")
    }

    func testWhoeverWentBackToTheOtherHalfIsNotOverruled() throws {
        try halves()
        try kernel("6.12.9", initrd: "first")
        _ = try takeKernel()
        try kernel("6.12.10", initrd: "second")
        _ = try takeKernel()
        XCTAssertEqual(half, "os_prefix=b/")
        try put("os_prefix=a/\r\n", "/card/config.txt")
        XCTAssertTrue(try takeKernel().output.contains("left so"))
        XCTAssertEqual(half, "os_prefix=a/")
        try kernel("6.12.11", initrd: "third")
        _ = try takeKernel()
        XCTAssertEqual(half, "os_prefix=b/", "there is a newer one")
        for broken in ["", "os_prefix=c/\n"] {
            try put(broken, "/card/config.txt")
            XCTAssertEqual(try takeKernel().status, 1)
            XCTAssertEqual(text("/card/config.txt"), broken)
        }
    }

    // MARK: The network

    private let report = "/boot/firmware/bitgate-report.txt"

    private func device(_ name: String, isWifi: Bool = false, isUp: Bool) throws {
        let net = "/sys/class/net/" + name
        try folder(net + "/device")
        if isWifi { try folder(net + "/phy80211") }
        try put(isUp ? "1\n" : "0\n", net + "/carrier")
    }
    private func addresses(_ names: String...) throws {
        try program("ip", "case \" \(names.joined(separator: " ")) \" in *\" $5 \"*) echo inet 192.0.2.1/24 ;; esac")
    }

    func testAWifiThatDoesNotComeUpIsToldOnTheBootPartition() throws {
        try put("secret", "/data/wifi/net.psk")
        try folder("/run/systemd/timesync")
        try addresses()
        XCTAssertTrue(try run("report").contains("There is no Wi-Fi"))
        try device("wlan0", isWifi: true, isUp: false)
        XCTAssertTrue(try run("report").contains("Wi-Fi has not come up"))
        let told = try XCTUnwrap(text(report))
        XCTAssertTrue(told.contains("Wi-Fi has not come up") && told.contains("what time it is"), told)
        XCTAssertFalse(told.contains("There is no Wi-Fi"), "of an earlier look")
        XCTAssertTrue(told.hasPrefix("Network, some minutes after the last start:\r\n\r\n- Wi-Fi"))
        try device("wlan0", isWifi: true, isUp: true)
        XCTAssertTrue(try run("report").contains("gives the box no address"))
        try addresses("wlan0")
        try put("", "/run/systemd/timesync/synchronized")
        XCTAssertEqual(try run("report"), "")
        XCTAssertFalse(exists(report), "all has come")
    }

    func testABoxWithACableSaysWhatItLacks() throws {
        try addresses()
        try device("eth0", isUp: false)
        try folder("/sys/class/net/lo")
        XCTAssertTrue(try run("report").contains("nothing answers at a cable"))
        try device("eth0", isUp: true)
        XCTAssertTrue(try run("report").contains("The cable is connected"))
        try addresses("eth0")
        let told = try run("report")
        XCTAssertTrue(told.hasPrefix("- The network lets no time through"), told)
        try folder("/run/systemd/timesync")
        try put("", "/run/systemd/timesync/synchronized")
        XCTAssertEqual(try run("report"), "")
    }

    func testUpdatesThatFailForAMonthAreTold() throws {
        try device("eth0", isUp: true)
        try addresses("eth0")
        try folder("/run/systemd/timesync")
        try put("", "/run/systemd/timesync/synchronized")
        try put("number", "/data/config/machine-id")
        XCTAssertEqual(try run("report"), "", "a new box")
        for path in ["/data/config/machine-id", "/data/apt/updated"] {
            try put("", path)
            XCTAssertEqual(try run("report"), "", path)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)], ofItemAtPath: scratch.path + path)
            XCTAssertTrue(try run("report").hasPrefix("- Debian's updates have not been installed since 2023-11-14"))
        }
    }

    func testWhatWasSaidOfTheFilesStaysAndNothingIsWrittenTwice() throws {
        try addresses()
        let said = "What the box said of the files here:\r\n\r\nREFUSED: bridges.txt: no\r\n"
        try put(said, report)
        try run("report")
        let first = try XCTUnwrap(text(report))
        XCTAssertTrue(first.hasPrefix(said + "\r\nNetwork, some"), first)
        let written = {
            try FileManager.default.attributesOfItem(atPath: self.scratch.path + self.report)[.modificationDate]
                as? Date
        }
        let old = Date(timeIntervalSince1970: 1_700_000_000)
        try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: scratch.path + report)
        try run("report")
        XCTAssertEqual(try written(), old)
        XCTAssertEqual(text(report), first)
        try device("eth0", isUp: true)
        try addresses("eth0")
        try folder("/run/systemd/timesync")
        try put("", "/run/systemd/timesync/synchronized")
        try run("report")
        XCTAssertEqual(text(report), said)
    }
}
