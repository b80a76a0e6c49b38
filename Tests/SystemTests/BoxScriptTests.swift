import Foundation
import XCTest

/// The scripts of the image, in a folder that stands for the box.
final class BoxScriptTests: XCTestCase {
    private var scratch: Scratch!

    override func setUpWithError() throws {
        scratch = try Scratch()
        for path in [
            "/run", "/sys", "/boot/firmware", "/etc/bitgate", "/data/config/bitgate", "/data/config/tor",
            "/data/bitgate",
            "/data/ssh", "/data/wifi", "/usr/share/box/boot",
        ] {
            try FileManager.default.createDirectory(
                atPath: scratch.path + path, withIntermediateDirectories: true)
        }
        try put("packaged", "/etc/bitgate/bitgate.toml")
        try put("the-key", "/data/ssh/ssh_host_ed25519_key")
        try put("", "/data/ssh/authorized_keys")
    }
    override func tearDown() { scratch = nil }

    private func put(_ text: String, _ path: String) throws {
        try text.write(toFile: scratch.path + path, atomically: false, encoding: .utf8)
    }
    private func text(_ path: String) -> String? { try? String(contentsOfFile: scratch.path + path, encoding: .utf8) }
    private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: scratch.path + path) }
    private func link(_ path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: scratch.path + path, withDestinationPath: scratch.path + target)
    }
    private func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: scratch.path + path)
        return try XCTUnwrap(attributes[.posixPermissions] as? Int)
    }
    private func isLink(_ path: String) -> Bool {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: scratch.path + path)) != nil
    }

    @discardableResult
    private func run(_ script: String) throws -> String {
        let outcome = try Programs.start(
            "/bin/sh", [Programs.root.path + "/image/files/usr/libexec/box/" + script], in: scratch,
            environment: [
                "BOX_ROOT": scratch.path, "BOX_PAUSE": "0.01",
                "PATH": Programs.folder.path + ":/usr/sbin:/usr/bin:/bin",
            ]
        ).wait()
        XCTAssertEqual(outcome.status, 0, outcome.errors)
        return outcome.output
    }

    // MARK: Links where bitgated may write

    func testAStartFollowsNoLinkOutOfTheFolderOfTheConfiguration() throws {
        for target in ["/data/ssh/authorized_keys", "/data/ssh/ssh_host_ed25519_key", "/data/ssh/nothing"] {
            try? FileManager.default.removeItem(atPath: scratch.path + "/data/config/bitgate/bitgate.toml")
            try link("/data/config/bitgate/bitgate.toml", to: target)
            if exists(target) { chmod(scratch.path + target, 0o600) }
            try run("data")
            XCTAssertEqual(text("/data/config/bitgate/bitgate.toml"), "packaged")
            XCTAssertFalse(isLink("/data/config/bitgate/bitgate.toml"))
            XCTAssertEqual(try mode("/data/config/bitgate/bitgate.toml"), 0o660)
            if exists(target) { XCTAssertEqual(try mode(target), 0o600) }
        }
        XCTAssertEqual(text("/data/ssh/authorized_keys"), "")
        XCTAssertEqual(text("/data/ssh/ssh_host_ed25519_key"), "the-key")
        XCTAssertFalse(exists("/data/ssh/nothing"))
    }

    func testAStartKeepsTheConfigurationThatIsThere() throws {
        try put("mine", "/data/config/bitgate/bitgate.toml")
        try run("data")
        XCTAssertEqual(text("/data/config/bitgate/bitgate.toml"), "mine")
        XCTAssertEqual(try mode("/data/config/bitgate/bitgate.toml"), 0o660)
        XCTAssertEqual(try mode("/data/config/bitgate"), 0o770)
    }

    func testTakingOverAFileFollowsNoLink() throws {
        for name in ["bitgate.toml", "bitgate.toml.new"] {
            try link("/data/config/bitgate/" + name, to: "/data/ssh/authorized_keys")
        }
        try put("nickname = \"the-pub\"\r\n", "/boot/firmware/bitgate.toml.txt")
        XCTAssertTrue(try run("boot").contains("taken over: bitgate.toml"))
        XCTAssertEqual(text("/data/config/bitgate/bitgate.toml"), "nickname = \"the-pub\"\n")
        XCTAssertFalse(isLink("/data/config/bitgate/bitgate.toml"))
        XCTAssertEqual(text("/data/ssh/authorized_keys"), "")
        let left = try FileManager.default.contentsOfDirectory(atPath: scratch.path + "/data/config")
        XCTAssertEqual(left.filter { $0.hasPrefix("new") }, [])
    }

    // MARK: After a wipe

    func testANewConfigurationOnTheBootPartitionMakesAWipedBoxSomebodysAgain() throws {
        try put("anon1234", "/data/bitgate/unprovisioned")
        try run("boot")
        XCTAssertTrue(exists("/data/bitgate/unprovisioned"), "nothing was taken over")
        try put("nonsense", "/boot/firmware/bitgate.toml")
        XCTAssertTrue(try run("boot").contains("REFUSED: bitgate.toml"))
        XCTAssertTrue(exists("/data/bitgate/unprovisioned"), "it was refused")
        try put("nickname = \"the-pub\"\n", "/boot/firmware/bitgate.toml")
        try run("boot")
        XCTAssertFalse(exists("/data/bitgate/unprovisioned"))
    }

    // MARK: The board's own LED

    func testARefusedFileIsShownOnTheBoardsOwnLED() throws {
        try put("nickname = \"x\"\n", "/boot/firmware/bitgate.toml")
        try run("boot")
        XCTAssertFalse(exists("/run/box-refused"))
        try put("nonsense", "/boot/firmware/bitgate.toml")
        try run("boot")
        XCTAssertTrue(exists("/run/box-refused"))
        let led = "/sys/class/leds/ACT"
        try FileManager.default.createDirectory(atPath: scratch.path + led, withIntermediateDirectories: true)
        try put("none", led + "/trigger")
        try run("blink")
        XCTAssertEqual(text(led + "/trigger"), "timer\n")
        XCTAssertEqual(text(led + "/delay_on"), "80\n")
        try FileManager.default.removeItem(atPath: scratch.path + led)
        XCTAssertTrue(try run("blink").contains("no LED"))
    }

    // MARK: Wi-Fi

    /// iwd takes a backslash for the start of an escape, and blanks at either end away.
    func testAWifiPassphraseReachesIwdAsItIs() throws {
        for (secret, written) in [
            ("plain-secret", "plain-secret"), (#"back\slash\s"#, #"back\\slash\\s"#), ("  two first", #"\s two first"#),
            (##"a=b#c;"d"e"##, ##"a=b#c;"d"e"##),
        ] {
            try put("wifi_country=DE\nwifi_name=net\nwifi_password=\(secret)\n", "/boot/firmware/network.conf")
            XCTAssertTrue(try run("boot").contains("taken over: network.conf"), secret)
            XCTAssertEqual(text("/data/wifi/net.psk"), "[Security]\nPassphrase=\(written)\n")
            XCTAssertEqual(try mode("/data/wifi/net.psk"), 0o600)
        }
    }
}
