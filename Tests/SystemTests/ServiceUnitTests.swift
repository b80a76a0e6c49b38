import Foundation
import XCTest

/// The files by which systemd runs the daemon and what belongs to it.
final class ServiceUnitTests: XCTestCase {
    private var scratch: Scratch!

    override func setUpWithError() throws { scratch = try Scratch() }
    override func tearDown() { scratch = nil }

    private static let analyzer = "/usr/bin/systemd-analyze"

    private func unit(_ name: String) -> String { Programs.root.path + "/etc/systemd/" + name }

    /// Of 100, where nothing is confined.
    private func exposure(_ name: String) throws -> Double {
        guard FileManager.default.isExecutableFile(atPath: ServiceUnitTests.analyzer) else {
            throw XCTSkip("there is no systemd-analyze: deploy/setup installs it")
        }
        let outcome = try Programs.start(
            ServiceUnitTests.analyzer, ["security", "--offline=true", "--no-pager", unit(name)], in: scratch
        ).wait()
        let line = try XCTUnwrap(
            outcome.output.split(separator: "\n").last { $0.contains("Overall exposure level") },
            outcome.output + outcome.errors)
        let words = line.split(separator: " ")
        return try XCTUnwrap(words.compactMap { Double($0) }.first, String(line))
    }

    func testTheDaemonIsExposedNoMoreThanItsWorkNeeds() throws {
        XCTAssertLessThanOrEqual(try exposure("bitgated.service"), 1.5)
    }

    func testTheHelperOfAWipeIsConfinedAsFarAsRootCanBe() throws {
        XCTAssertLessThanOrEqual(try exposure("bitgate-erase.service"), 2.0)
    }

    func testTheHelperOfTheBootPartitionIsConfinedAsFarAsOneThatMountsCanBe() throws {
        XCTAssertLessThanOrEqual(try exposure("bitgate-boot.service"), 2.2)
    }

    func testTheDaemonMayOnlyManageControllersAndHasNoWayToTheNetwork() throws {
        let text = try String(contentsOfFile: unit("bitgated.service"), encoding: .utf8)
        let lines = Set(text.split(separator: "\n").map(String.init))
        for line in [
            "Type=notify", "WatchdogSec=120", "Restart=always", "StartLimitIntervalSec=0", "LimitCORE=0",
            "Conflicts=bluetooth.service", "User=bitgate", "CapabilityBoundingSet=CAP_NET_ADMIN",
            "RestrictAddressFamilies=AF_UNIX AF_BLUETOOTH", "IPAddressDeny=any", "ProtectSystem=strict",
            "InaccessiblePaths=-/run/systemd/resolve -/run/dbus -/run/systemd/private",
            "RuntimeDirectoryPreserve=yes",
            "After=bitgate-erase.path bitgate-boot.path bitgate-boot.service",
            "MemorySwapMax=0", "ExecReload=/bin/kill -HUP $MAINPID",
            // What is checked is what is read.
            "ExecStart=/usr/bin/bitgated --config ${BITGATE_CONFIG}",
            "ExecReload=/usr/bin/bitgate config check ${BITGATE_CONFIG}",
        ] {
            XCTAssertTrue(lines.contains(line), line)
        }
    }

    /// Under a strict system, what it may not write to it cannot remove, and the wipe would never be complete.
    func testTheHelperOfAWipeMayWriteWhereverItRemoves() throws {
        let text = try String(contentsOfFile: unit("bitgate-erase.service"), encoding: .utf8)
        let line = try XCTUnwrap(text.split(separator: "\n").first { $0.hasPrefix("ReadWritePaths=") })
        let places = line.dropFirst("ReadWritePaths=".count).split(separator: " ")
            .map { $0.hasPrefix("-") ? String($0.dropFirst()) : String($0) }
        let script = try String(contentsOfFile: Programs.root.path + "/etc/erase", encoding: .utf8)
        var paths = script.split(whereSeparator: { " \n=;".contains($0) }).filter { $0.hasPrefix("\"$root\"/") }
            .map { String($0.dropFirst(7)) }
        paths += script.split(separator: "\n").filter { $0.hasPrefix("tor=$root") }.map { String($0.dropFirst(9)) }
        XCTAssertGreaterThan(paths.count, 8)
        for path in paths {
            XCTAssertTrue(places.contains { path == $0 || path.hasPrefix($0 + "/") }, path)
        }
    }

    // MARK: A data partition that cannot be used

    func testTheImageTellsOfADataPartitionThatCannotBeUsed() throws {
        for (device, words) in [("", "is missing"), ("/dev/disk/by-label/BITDATA", "is damaged")] {
            let led = "/sys/class/leds/ACT"
            for path in ["/boot/firmware/bitgate.toml", led + "/trigger"] { try file(path) }
            if !device.isEmpty { try file(device) }
            let outcome = try Programs.start(
                "/bin/sh", [Programs.root.path + "/image/files/usr/libexec/box/fault"], in: scratch,
                environment: ["BOX_ROOT": scratch.path]
            ).wait()
            XCTAssertEqual(outcome.status, 0, outcome.errors)
            XCTAssertTrue(outcome.output.contains(words), outcome.output)
            let report = try String(
                contentsOfFile: scratch.path + "/boot/firmware/bitgate-report.txt", encoding: .utf8)
            XCTAssertTrue(report.contains(words) && report.contains("What to do:"), report)
            XCTAssertEqual(
                try String(contentsOfFile: scratch.path + led + "/trigger", encoding: .utf8), "timer\n")
            XCTAssertEqual(
                try String(contentsOfFile: scratch.path + led + "/delay_on", encoding: .utf8), "1000\n")
        }
        let unit = try String(
            contentsOfFile: Programs.root.path + "/image/files/etc/systemd/system/bitgated.service.d/box.conf",
            encoding: .utf8)
        XCTAssertTrue(unit.contains("\nOnFailure=box-fault.service\n"), "a daemon that is not started tells nobody")
    }

    // MARK: The helper of a wipe

    private func folder(_ path: String) throws {
        try FileManager.default.createDirectory(
            atPath: scratch.path + path, withIntermediateDirectories: true)
    }

    private func file(_ path: String) throws {
        try folder(URL(fileURLWithPath: path).deletingLastPathComponent().path)
        XCTAssertTrue(FileManager.default.createFile(atPath: scratch.path + path, contents: Data("x".utf8)))
    }

    private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: scratch.path + path) }

    private func erase(settings: Bool = false) throws -> String {
        try file("/run/bitgate-erase/ask/now")
        if settings { try file("/run/bitgate-erase/ask/settings") }
        let outcome = try Programs.start(Programs.root.path + "/etc/erase", [scratch.path], in: scratch).wait()
        XCTAssertEqual(outcome.errors, "")
        XCTAssertFalse(exists("/run/bitgate-erase/ask/now"), "the request is taken away")
        XCTAssertFalse(exists("/run/bitgate-erase/ask/settings"))
        return try String(contentsOfFile: scratch.path + "/run/bitgate-erase/outcome", encoding: .utf8)
    }

    func testTheHelperTakesAwayWhatTheSystemKeptAndNothingElse() throws {
        let traces = [
            "/var/lib/tor/state", "/var/lib/tor/cached-microdescs.new", "/var/lib/tor/diff-cache/1",
            "/var/lib/bluetooth/00:11:22:33:44:55/cache/66:77:88:99:AA:BB", "/var/lib/systemd/coredump/core.bitgated.1",
            "/run/log/journal/1/system@1.journal", "/var/log/journal/1/user-1000@1.journal~",
            // Left from before the journal was kept in memory.
            "/var/log/journal/1/system.journal", "/var/log/journal/1/user-1000.journal",
        ]
        let others = [
            "/var/lib/tor/onion/hostname", "/var/lib/bluetooth/00:11:22:33:44:55/66:77:88:99:AA:BB/info",
            "/var/lib/systemd/coredump/core.editor.1", "/run/log/journal/1/system.journal", "/etc/ssh/ssh_host_key",
        ]
        for path in traces + others { try file(path) }
        try file("/run/bitgate-erase/outcome")
        XCTAssertEqual(try erase(), "ok\n")
        for path in traces { XCTAssertFalse(exists(path), path) }
        for path in others { XCTAssertTrue(exists(path), path) }
    }

    func testTheHelperIsContentWhereThereIsNothing() throws {
        XCTAssertEqual(try erase(), "ok\n")
    }

    func testTheHelperTakesFormerSettingsOnlyWhenAsked() throws {
        let former = [
            "/etc/bitgate/bitgate.toml.dpkg-old", "/etc/bitgate/bitgate.toml.save", "/etc/bitgate/.bitgate.toml.swp",
            "/etc/bitgate/bitgate.toml~", "/etc/bitgate/#bitgate.toml#", "/etc/bitgate/other.toml.bak",
            "/etc/bitgate/.other.toml.swp", "/data/config/tor/bridges.conf", "/data/config/new.x/file",
        ]
        let others = [
            "/etc/bitgate/bitgate.toml", "/etc/bitgate/bitgate-wiping-0", "/etc/bitgate/install-id",
            "/etc/bitgate/other.toml", "/data/config/machine-id",
        ]
        try folder("/usr/share/box")
        for path in former + others { try file(path) }
        XCTAssertEqual(try erase(), "ok\n")
        for path in former + others { XCTAssertTrue(exists(path), path) }
        XCTAssertEqual(try erase(settings: true), "ok\n")
        for path in former { XCTAssertFalse(exists(path), path) }
        for path in others { XCTAssertTrue(exists(path), path) }
    }

    func testTheHelperTouchesNoDataPartitionButAnImages() throws {
        let others = ["/data/config/tor/torrc", "/data/config/new.site/index", "/data/config/hosts.new"]
        for path in others { try file(path) }
        XCTAssertEqual(try erase(settings: true), "ok\n")
        for path in others { XCTAssertTrue(exists(path), path) }
    }

    // MARK: The helper of the boot partition

    private func boot(_ request: String?, path: String = "/usr/bin:/bin") throws {
        if let request { try file("/run/bitgate-erase/ask/" + request) }
        let outcome = try Programs.start(
            Programs.root.path + "/etc/boot-note", [scratch.path], in: scratch, environment: ["PATH": path]
        ).wait()
        XCTAssertEqual(outcome.errors, "")
        XCTAssertEqual(outcome.status, 0)
        if let request { XCTAssertFalse(exists("/run/bitgate-erase/ask/" + request)) }
    }

    func testANoteOnTheBootPartitionIsSeenAtEveryStartUntilItIsTakenAway() throws {
        for place in ["/boot", "/boot/firmware"] {
            try folder(place)
            try folder("/run")
            try boot(nil)
            XCTAssertFalse(exists("/run/bitgate-erase/pending"))
            try boot("note")
            XCTAssertTrue(exists("/run/bitgate-erase/pending"))
            XCTAssertTrue(exists(place + "/bitgate-wiping"))
            try FileManager.default.removeItem(atPath: scratch.path + "/run/bitgate-erase")
            try boot(nil)
            XCTAssertTrue(exists("/run/bitgate-erase/pending"), "another start knows")
            try boot("forget")
            XCTAssertFalse(exists("/run/bitgate-erase/pending"))
            XCTAssertFalse(exists(place + "/bitgate-wiping"))
        }
    }

    func testABootPartitionThatTakesNoNoteIsNotSaidToHaveOne() throws {
        try folder("/run")
        try boot("note")
        XCTAssertFalse(exists("/run/bitgate-erase/pending"))
    }

    func testABootPartitionThatCannotBeReadIsSaidToBeUnknown() throws {
        try folder("/run")
        try folder("/etc")
        try folder("/boot/firmware")
        try folder("/usr/share/box/boot")
        let unknown = "/run/bitgate-erase/unknown"
        for (line, isKnown) in [
            ("# LABEL=BITBOOT /boot/firmware vfat ro 0 2", true), ("LABEL=X /boot/firmware vfat noauto,ro 0 2", true),
            ("LABEL=X /boot vfat ro 0 2", true), ("LABEL=BITBOOT /boot/firmware vfat ro,nofail 0 2", false),
        ] {
            _ = try scratch.write(line + "\n", as: "etc/fstab")
            try boot(nil)
            XCTAssertEqual(exists(unknown), !isKnown, line)
            XCTAssertFalse(exists("/run/bitgate-erase/pending"), line)
        }
        try boot("note")
        XCTAssertFalse(exists("/boot/firmware/bitgate-wiping"), "it would lie below what is mounted there later")
        try boot("clear")
        XCTAssertTrue(exists("/run/bitgate-erase/uncleared"), "what is there is not known to be gone")
        XCTAssertTrue(exists(unknown))
        // A disk that answers no more.
        try FileManager.default.removeItem(atPath: scratch.path + "/etc/fstab")
        try folder("/broken")
        let list = try scratch.write("#!/bin/sh\nexit 2\n", as: "broken/ls")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: list)
        try boot("note")
        XCTAssertFalse(exists(unknown))
        try boot("forget", path: scratch.path + "/broken:/usr/bin:/bin")
        XCTAssertTrue(exists("/run/bitgate-erase/pending"), "what was known before still counts")
        XCTAssertTrue(exists("/boot/firmware/bitgate-wiping"))
        try boot("forget")
        XCTAssertFalse(exists("/run/bitgate-erase/pending"))
        XCTAssertFalse(exists(unknown))
    }

    func testWhatTheOwnerPutOnTheBootPartitionOfAnImageGoesWithAWipe() throws {
        let owned = [
            "/boot/firmware/bitgate.toml.txt", "/boot/firmware/network.conf.txt", "/boot/firmware/bridges.txt~",
            "/boot/firmware/bitgate-report.txt",
        ]
        for path in owned + ["/boot/firmware/bitgate.toml", "/boot/firmware/config.txt"] { try file(path) }
        try boot("clear")
        XCTAssertTrue(exists("/boot/firmware/bitgate.toml"), "this is no image")
        try folder("/usr/share/box/boot")
        for name in ["bitgate.toml", "network.conf"] {
            _ = try scratch.write("empty", as: "usr/share/box/boot/" + name)
        }
        _ = try scratch.write("secret", as: "boot/firmware/network.conf")
        try boot("clear")
        for path in owned { XCTAssertFalse(exists(path), path) }
        XCTAssertTrue(exists("/boot/firmware/config.txt"))
        XCTAssertEqual(
            try String(contentsOfFile: scratch.path + "/boot/firmware/network.conf", encoding: .utf8), "empty")
        XCTAssertFalse(exists("/run/bitgate-erase/uncleared"))
    }

    func testAHelperThatIsCutShortSaysSo() throws {
        try file("/run/bitgate-erase/ask/now")
        try file("/var/lib/tor/state")
        try folder("/slow")
        // The first removal of what tor knows takes so long that the helper is ended meanwhile.
        let slow = try scratch.write(
            "#!/bin/sh\ncase \"$*\" in */var/lib/tor/*) kill -TERM $PPID; sleep 0.2 ;; esac\nexec /bin/rm \"$@\"\n",
            as: "slow/rm")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: slow)
        let outcome = try Programs.start(
            Programs.root.path + "/etc/erase", [scratch.path], in: scratch,
            environment: ["PATH": scratch.path + "/slow:/usr/bin:/bin"]
        ).wait()
        XCTAssertNotEqual(outcome.status, 0)
        XCTAssertFalse(exists("/run/bitgate-erase/ask/now"))
        let answer = try String(contentsOfFile: scratch.path + "/run/bitgate-erase/outcome", encoding: .utf8)
        XCTAssertTrue(answer.contains("cut short"), answer)
    }

    func testTheHelperFollowsNoLinkOutOfItsPlaces() throws {
        try file("/home/somebody/letter")
        try folder("/var/lib/bluetooth/00:11:22:33:44:55")
        try FileManager.default.createSymbolicLink(
            atPath: scratch.path + "/var/lib/bluetooth/00:11:22:33:44:55/cache",
            withDestinationPath: scratch.path + "/home/somebody")
        XCTAssertEqual(try erase(), "ok\n")
        XCTAssertTrue(exists("/home/somebody/letter"))
    }
}
