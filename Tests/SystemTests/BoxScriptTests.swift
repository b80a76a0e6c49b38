import Foundation
import XCTest

/// What a start of the image does with the folders of the data partition, and with files on the boot partition.
final class BoxScriptTests: BoxScriptCase {
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

    // MARK: Files that were only looked at

    /// As editors of PCs save them: with carriage returns, a byte order mark, another end, or all of it.
    func testAFileThatWasSavedAsItWasIsNoChange() throws {
        try layTemplates()
        try put("mine", "/data/config/bitgate/bitgate.toml")
        try put("secret", "/data/wifi/net.psk")
        try put("the-key", "/data/ssh/authorized_keys")
        try put("a bridge", "/data/config/tor/bridges.conf")
        for name in ["bitgate.toml", "network.conf", "authorized_keys", "bridges.txt"] {
            let template = try XCTUnwrap(text("/boot/firmware/" + name))
            for saved in [
                template.replacingOccurrences(of: "\n", with: "\r\n"), "\u{FEFF}" + template, template + "\n\n",
                String(template.dropLast()), template.replacingOccurrences(of: "\n", with: "  \n"),
            ] {
                for ending in ["", ".txt"] {
                    try put(saved, "/boot/firmware/" + name + ending)
                    XCTAssertEqual(try run("boot"), "", name)
                }
            }
        }
        XCTAssertEqual(text("/data/config/bitgate/bitgate.toml"), "mine")
        XCTAssertEqual(text("/data/wifi/net.psk"), "secret")
        XCTAssertEqual(text("/data/ssh/authorized_keys"), "the-key")
        XCTAssertEqual(text("/data/config/tor/bridges.conf"), "a bridge")
        XCTAssertFalse(exists("/run/box-refused"))
    }

    func testAFileThatIsNoTextIsRefusedAndWhatWasThereStays() throws {
        let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f "
        let latin1 = Data("# j".utf8) + [0xFC] + Data("rgen\r\n".utf8)
        for (name, line, place) in [
            ("bitgate.toml", "nickname = \"x\"", "/data/config/bitgate/bitgate.toml"),
            ("authorized_keys", key + "me", "/data/ssh/authorized_keys"),
            ("network.conf", "hostname=box", "/data/config/hostname"),
            ("bridges.txt", "192.0.2.7:443 0123456789ABCDEF0123456789ABCDEF01234567", "/data/config/tor/bridges.conf"),
        ] {
            let utf16 = try XCTUnwrap("\u{FEFF}\(line)\r\n".data(using: .utf16LittleEndian))
            let bare = try XCTUnwrap("\(line)\r\n".data(using: .utf16BigEndian))
            var bad = [(utf16, "UTF-16"), (bare, "not a text"), (Data("\(line)\n\0\n".utf8), "not a text")]
            if name != "authorized_keys" { bad.append((Data("\(line)\n".utf8) + latin1, "UTF-8")) }
            for (bytes, why) in bad {
                try put("what was there", place)
                let file = URL(fileURLWithPath: scratch.path + "/boot/firmware/" + name)
                try bytes.write(to: file)
                let said = try run("boot")
                XCTAssertTrue(said.hasPrefix("REFUSED: \(name)") && said.contains(why), said)
                XCTAssertEqual(text(place), "what was there", name)
                XCTAssertEqual(try Data(contentsOf: file), bytes, "it stays to be mended")
            }
            try put(line + "\r\n", "/boot/firmware/" + name)
            XCTAssertEqual(try run("boot"), "taken over: \(name)\n")
            try? FileManager.default.removeItem(atPath: scratch.path + "/boot/firmware/" + name)
        }
    }

    func testEveryKeyIsTakenWhateverItsCommentIsWrittenIn() throws {
        let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f "
        let bytes = Data((key + "first\n" + key + "j").utf8) + [0xFC] + Data("rgen@pc\r\n".utf8)
        try bytes.write(to: URL(fileURLWithPath: scratch.path + "/boot/firmware/authorized_keys"))
        XCTAssertEqual(try run("boot"), "taken over: authorized_keys\n")
        let kept = try Data(contentsOf: URL(fileURLWithPath: scratch.path + "/data/ssh/authorized_keys"))
        XCTAssertEqual(kept, Data((key + "first\n" + key + "j").utf8) + [0xFC] + Data("rgen@pc\n".utf8))
    }

    func testANetworkFileThatSetsNothingLeavesTheWifiAlone() throws {
        try layTemplates()
        try put("secret", "/data/wifi/net.psk")
        for (said, why) in [
            ("# a remark\n", "nothing is set"), ("hostname=\ntimezone=\n", "nothing is set"),
            ("wifi_country=DE\nwifi_name=\nwifi_password=\n", "wifi_name is missing"), ("wifi=x\n", "line 1 is none"),
        ] {
            try put(said, "/boot/firmware/network.conf")
            XCTAssertTrue(try run("boot").contains(why), said)
            XCTAssertEqual(text("/data/wifi/net.psk"), "secret", said)
        }
        try put("hostname=box\n", "/boot/firmware/network.conf")
        XCTAssertTrue(try run("boot").contains("taken over: network.conf"))
        XCTAssertFalse(exists("/data/wifi/net.psk"))
    }

    // MARK: Bridges

    func testBridgesAreTakenOverWithWhatRunsThemAndTakenAwayByARemark() throws {
        try layTemplates()
        // Where the check looks for the transport; on the image it is there.
        try program(
            "bitgate",
            """
            sed -i s,/usr/bin/obfs4proxy,/bin/sh, "$3"
            '\(Programs.folder.path)/bitgate' "$@"
            outcome=$?
            sed -i s,/bin/sh,/usr/bin/obfs4proxy, "$3"
            exit $outcome
            """)
        let number = "0123456789ABCDEF0123456789ABCDEF01234567"
        let certificate = String(repeating: "A", count: 70)
        try put(
            """
            # from the site\r
            obfs4 192.0.2.7:443 \(number) cert=\(certificate) iat-mode=0\r
            Bridge obfs4 [2001:db8::7]:443 \(number) cert=\(certificate) iat-mode=0\r

            """, "/boot/firmware/bridges.txt")
        XCTAssertEqual(try run("boot"), "taken over: bridges.txt\n")
        XCTAssertEqual(
            text("/data/config/tor/bridges.conf"),
            """
            UseBridges 1
            ClientTransportPlugin obfs4 exec /usr/bin/obfs4proxy
            Bridge obfs4 192.0.2.7:443 \(number) cert=\(certificate) iat-mode=0
            Bridge obfs4 [2001:db8::7]:443 \(number) cert=\(certificate) iat-mode=0

            """)
        XCTAssertEqual(text("/boot/firmware/bridges.txt"), text("/usr/share/box/boot/bridges.txt"))
        try put("webtunnel [2001:db8::7]:443 \(number) url=https://example.org/x\n", "/boot/firmware/bridges.txt")
        XCTAssertTrue(try run("boot").contains("ask for obfs4"))
        XCTAssertTrue(try XCTUnwrap(text("/data/config/tor/bridges.conf")).contains("192.0.2.7"))
        try put("#\n", "/boot/firmware/bridges.txt")
        XCTAssertEqual(try run("boot"), "taken over: bridges.txt\n")
        XCTAssertEqual(text("/data/config/tor/bridges.conf"), "")
    }

    // MARK: The time zone

    func testATimeZoneIsOneThatTheSystemHas() throws {
        try layTemplates()
        for (path, text) in [("Europe/Berlin", "TZif2"), ("zone.tab", "# a table"), ("Etc/GMT+5", "TZif2")] {
            try folder("/usr/share/zoneinfo/" + path.split(separator: "/").dropLast().joined())
            try put(text, "/usr/share/zoneinfo/" + path)
        }
        for zone in ["../../../etc/passwd", "/etc/localtime", "zone.tab", "Europe", "Mars/Base", #""Europe/Berlin ""#] {
            try put("timezone=\(zone)\n", "/boot/firmware/network.conf")
            XCTAssertTrue(try run("boot").contains("REFUSED: network.conf"), zone)
            XCTAssertFalse(exists("/data/config/timezone"))
        }
        for zone in ["Europe/Berlin", "Etc/GMT+5"] {
            try put("timezone=\(zone)\r\n", "/boot/firmware/network.conf")
            XCTAssertTrue(try run("boot").contains("taken over: network.conf"), zone)
            XCTAssertEqual(text("/data/config/timezone"), zone + "\n")
        }
    }

    // MARK: Wi-Fi

    /// iwd takes a backslash for the start of an escape, and blanks at either end away.
    func testAWifiPassphraseReachesIwdAsItIs() throws {
        for (secret, written) in [
            ("plain-secret", "plain-secret"), (#"back\slash\s"#, #"back\\slash\\s"#),
            (#""  two first""#, #"\s two first"#),
            (#"  'it ends ' "#, #"it ends\s"#), (#""in-quotes""#, "in-quotes"), (" trailing-blank ", "trailing-blank"),
            (#"""in-quotes"""#, #""in-quotes""#),
            (##"a=b#c;"d"e"##, ##"a=b#c;"d"e"##),
        ] {
            try put("wifi_country=DE\nwifi_name=net\nwifi_password=\(secret)\n", "/boot/firmware/network.conf")
            XCTAssertTrue(try run("boot").contains("taken over: network.conf"), secret)
            XCTAssertEqual(text("/data/wifi/net.psk"), "[Security]\nPassphrase=\(written)\n")
            XCTAssertEqual(try mode("/data/wifi/net.psk"), 0o600)
        }
    }

    func testAWifiIsTakenAsPeopleWriteItOrRefusedByWhatIsWrong() throws {
        let key = String(repeating: "0a", count: 32)
        try put("wifi_country = DE\nwifi_name = \"My Net\" \nwifi_password = \(key)\n", "/boot/firmware/network.conf")
        XCTAssertEqual(try run("boot"), "taken over: network.conf\n")
        XCTAssertEqual(text("/data/wifi/My Net.psk"), "[Security]\nPreSharedKey=\(key)\n")
        for (secret, why) in [
            ("müllerstraße", "without accents"), (key.replacingOccurrences(of: "a", with: "g"), "64 of 0-9"),
            ("seven77", "8 to 63"), ("", "missing"), ("tab\tin-it", "without accents"),
        ] {
            try put("wifi_country=DE\nwifi_name=other\nwifi_password=\(secret)\n", "/boot/firmware/network.conf")
            let said = try run("boot")
            XCTAssertTrue(said.hasPrefix("REFUSED: network.conf") && said.contains(why), said)
            XCTAssertEqual(try wifis(), ["My Net.psk"])
        }
        try put("wifi_country=DE\nwifi_name=other\nwifi_password=long-enough\n", "/boot/firmware/network.conf")
        // A folder nobody may write to; whoever is root may.
        if getuid() != 0 {
            chmod(scratch.path + "/data/wifi", 0o500)
            XCTAssertTrue(try run("boot").contains("cannot be written"))
            XCTAssertEqual(try wifis(), ["My Net.psk"], "the former one is taken away when the new one is safe")
            chmod(scratch.path + "/data/wifi", 0o700)
        }
        try run("boot")
        XCTAssertEqual(try wifis(), ["other.psk"])
    }

    private func wifis() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scratch.path + "/data/wifi").filter { $0.hasSuffix(".psk") }
    }
}
