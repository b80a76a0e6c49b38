import Basics
import Crypto
import Foundation
import Gateway
import Nostr
import Radio
import Uplink
import XCTest

@testable import Station

final class ConfigurationTests: XCTestCase {
    private func problems(_ text: String) -> [String] {
        do {
            _ = try Configuration(parsing: Array(text.utf8), file: "b.toml")
            return []
        } catch { return error.problems.map(\.description) }
    }

    private func read(_ text: String) throws -> Configuration {
        try Configuration(parsing: Array(text.utf8), file: "b.toml")
    }

    /// A wipe writes what is left of a file anew: nothing is read that could not be written.
    func testAPathWithControlCharactersIsRefused() throws {
        for escape in ["\\n", "\\u0001", "\\t", "\\u007F", "\\u0000"] {
            XCTAssertEqual(problems("state_directory = \"/a\(escape)b\"").count, 1, escape)
            XCTAssertEqual(problems("panic.helper = \"/a\(escape)b\"").count, 1, escape)
        }
        var configuration = Configuration()
        configuration.stateDirectory = #"/a "b" \ é"#
        XCTAssertEqual(try read(ConfigurationRedaction.text(of: configuration)).stateDirectory, #"/a "b" \ é"#)
    }

    func testAnEmptyFileGivesTheDefaults() throws {
        XCTAssertEqual(try read(""), Configuration())
        XCTAssertEqual(Configuration().network.tor, .required)
        XCTAssertEqual(Configuration().stateDirectory, "/var/lib/bitgate")
        XCTAssertEqual(Configuration().controlSocket, "/run/bitgate/control")
        XCTAssertEqual(Configuration().air.mtu, 517)
        XCTAssertFalse(Configuration().clock.trustSystem)
    }

    func testKeysOfEverySectionAreRead() throws {
        let configuration = try read(
            """
            nickname = "Gate Ä"
            state_directory = "/s"
            control_socket = "/c"
            [radio]
            kind = "air"
            adapters = ["hci1", "00:1a:7D:DA:71:13"]
            address = "public"
            service = "debug"
            links = 5
            outgoing_links = 2
            [air]
            room = "/r"
            name = "n-1"
            mtu = 185
            loss = 0.25
            delay = "20ms..80ms"
            seed = 7
            [location]
            cell = "u4pruydq"
            [gateway]
            enabled = false
            echo = false
            channels = ["u4pruy", "u4pru"]
            demand_channels = false
            [bridge]
            enabled = false
            extra_cells = ["9q8yyk8"]
            [courier]
            enabled = false
            drops = false
            trusted = ["0011 2233 4455 6677 8899 AABB CCDD EEFF 0011 2233 4455 6677 8899 aabb ccdd eeff"]
            [nostr]
            relays = ["relay.example.com", "ws://127.0.0.1:7777"]
            use_builtin_relays = false
            directory = "/d"
            [network]
            tor = "off"
            socks = "[::1]:9150"
            control = "127.0.0.1:9151"
            control_cookie = "/k"
            [clock]
            trust_system = true
            [log]
            level = "debug"
            """)
        var expected = Configuration()
        expected.nickname = "Gate Ä"
        expected.stateDirectory = "/s"
        expected.controlSocket = "/c"
        expected.radio = .init(
            kind: .air,
            adapters: [.index(1), .address(BluetoothAddress(value: 0x001A_7DDA_7113, kind: .public))],
            address: .public, service: .debug, links: 5, outgoingLinks: 2)
        expected.air.room = "/r"
        expected.air.name = AirName("n-1")
        expected.air.mtu = 185
        expected.air.loss = 0.25
        expected.air.delay = .milliseconds(20) ... .milliseconds(80)
        expected.air.seed = 7
        expected.location.cell = RendezvousCell("u4pruy")
        expected.gateway = .init(isEnabled: false, echo: false, channels: ["u4pruy", "u4pru"], demandChannels: false)
        expected.bridge = .init(isEnabled: false, extraCells: ["9q8yyk"].compactMap { RendezvousCell($0) })
        expected.courier = .init(
            isEnabled: false, drops: false,
            trusted: [
                try XCTUnwrap(Fingerprint(hex: String(repeating: "00112233445566778899aabbccddeeff", count: 2)))
            ])
        expected.nostr = .init(
            relays: ["wss://relay.example.com", "ws://127.0.0.1:7777"].compactMap { NostrRelayURL($0) },
            useBuiltInRelays: false, directory: "/d")
        expected.network.tor = .off
        expected.network.socks = try XCTUnwrap(LocalEndpoint("[::1]:9150"))
        expected.network.control = LocalEndpoint("127.0.0.1:9151")
        expected.network.controlCookie = "/k"
        expected.clock.trustSystem = true
        expected.log.level = .debug
        XCTAssertEqual(configuration, expected)
        XCTAssertEqual(
            try read("[location]\nlatitude = 57\nlongitude = 10.40744").location,
            .init(latitude: 57, longitude: 10.40744))
    }

    func testTrustedFingerprintsAreCheckedOneByOne() {
        let good = String(repeating: "ab", count: 32)
        XCTAssertEqual(
            problems("[courier]\ntrusted = [\"\(good)\", \"abc\"]"),
            ["b.toml:2:80: courier.trusted: \"abc\" is no fingerprint of 64 hex digits"])
        XCTAssertEqual(
            problems("courier.trusted = [\"\(good)\", \"\(good.uppercased())\"]").map {
                $0.hasSuffix("is listed twice")
            },
            [true])
    }

    func testUnknownKeysAreErrorsWithTheKeyProbablyMeant() {
        XCTAssertEqual(
            problems("[air]\nroom = \"/r\"\n  mtuu = 5\n"),
            ["b.toml:3:3: air.mtuu: there is no such key; did you mean air.mtu?"])
        XCTAssertEqual(
            problems("mtu = 5"), ["b.toml:1:1: mtu: there is no such key; did you mean air.mtu?"])
        XCTAssertEqual(
            problems("nickanme = \"x\""), ["b.toml:1:1: nickanme: there is no such key; did you mean nickname?"])
        XCTAssertEqual(
            problems("zzz = 1"), ["b.toml:1:1: zzz: there is no such key; bitgate config defaults lists all"])
    }

    func testAnUnknownSectionIsOneErrorWhateverItHolds() {
        XCTAssertEqual(
            problems("[gatewya]\nenabled = true\necho = 5\n"),
            ["b.toml:1:2: gatewya: there is no such section; did you mean gateway?"])
    }

    func testASectionWrittenAsAValueIsExplained() {
        let message = "air: is a section: write [air] on a line of its own"
        XCTAssertEqual(problems("air = 5"), ["b.toml:1:1: \(message)"])
        XCTAssertEqual(problems("[[air]]\nmtu = 100"), ["b.toml:1:3: \(message)"])
    }

    func testBadValuesNameTheirPlaceAndWhatIsAllowed() {
        let cases: [(String, String)] = [
            ("[air]\nmtu = 109", "2:7: air.mtu: must be a whole number from 110 to 517, not 109"),
            ("[air]\nmtu = 518", "2:7: air.mtu: must be a whole number from 110 to 517, not 518"),
            ("[air]\nmtu = \"517\"", "2:7: air.mtu: must be a whole number from 110 to 517, not \"517\""),
            ("[air]\nmtu = 1.5", "2:7: air.mtu: must be a whole number from 110 to 517, not 1.5"),
            ("[air]\nloss = 1.01", "2:8: air.loss: must be a number from 0 to 1, not 1.01"),
            ("[air]\nloss = nan", "2:8: air.loss: must be a number from 0 to 1, not nan"),
            ("[air]\nname = \"Up\"", "2:8: air.name: must be 1 to 32 characters of a-z, 0-9 and -, not \"Up\""),
            (
                "[air]\ndelay = \"80ms..20ms\"",
                "2:9: air.delay: must be a time such as \"20ms\" or a range such as \"20ms..80ms\", up to 60s, "
                    + "not \"80ms..20ms\""
            ),
            ("[air]\nseed = -1", "2:8: air.seed: must be a whole number from 0 to 9223372036854775807, not -1"),
            (
                "[radio]\nadapters = [\"hci01\"]",
                "2:13: radio.adapters: \"hci01\" is neither an adapter such as hci0 nor an address such as "
                    + "00:1A:7D:DA:71:13"
            ),
            (
                "[radio]\nadapters = [\"hci0\", \"hci0\"]",
                "2:21: radio.adapters: \"hci0\" is listed twice"
            ),
            ("[radio]\nlinks = 0", "2:9: radio.links: must be a whole number from 1 to 32, not 0"),
            ("[radio]\nkind = \"lora\"", "2:8: radio.kind: must be \"bluetooth\" or \"air\", not \"lora\""),
            ("[network]\ntor = \"on\"", "2:7: network.tor: must be \"required\" or \"off\", not \"on\""),
            (
                "[network]\nsocks = \"192.0.2.1:9050\"",
                "2:9: network.socks: must be a socket's path, or an address of this machine such as "
                    + "\"127.0.0.1:9050\", not \"192.0.2.1:9050\""
            ),
            (
                "[network]\ncontrol = \"tor:9051\"",
                "2:11: network.control: must be a socket's path, an address of this machine such as "
                    + "\"127.0.0.1:9051\", or \"none\", not \"tor:9051\""
            ),
            ("[network]\ntor = false", "2:7: network.tor: must be \"required\" or \"off\", not false"),
            ("[gateway]\necho = 1", "2:8: gateway.echo: must be true or false, not 1"),
            ("[gateway]\necho = []", "2:8: gateway.echo: must be true or false, not an empty list"),
            ("[gateway]\necho = 2020-01-01", "2:8: gateway.echo: must be true or false, not a date or time"),
            (
                "state_directory = \"var\"",
                "1:19: state_directory: must be an absolute path of at most 100 bytes, not \"var\""
            ),
            (
                "[location]\ncell = \"U4PRUY\"",
                "2:8: location.cell: must be a lower-case geohash of 6 to 12 characters, not \"U4PRUY\""
            ),
            (
                "[location]\ncell = \"u4pru\"",
                "2:8: location.cell: must be a lower-case geohash of 6 to 12 characters, not \"u4pru\""
            ),
            (
                "[location]\nlatitude = 91\nlongitude = 1",
                "2:12: location.latitude: must be a number from -90 to 90, not 91"
            ),
        ]
        for (text, expected) in cases { XCTAssertEqual(problems(text), ["b.toml:" + expected], text) }
    }

    func testBadListElementsNameTheElementsPlace() {
        let cases: [(String, String)] = [
            (
                "[gateway]\nchannels = [\"u4pruy\",\n  \"U\"]",
                "3:3: gateway.channels: \"U\" is no lower-case geohash of 1 to 12 characters"
            ),
            ("[gateway]\nchannels = [\"u\", 3]", "2:18: gateway.channels: must be a list of geohashes, not of 3"),
            ("[gateway]\nchannels = [\"u\", \"u\"]", "2:18: gateway.channels: \"u\" is listed twice"),
            (
                "[gateway]\nchannels = [\"0\",\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\"]",
                "2:12: gateway.channels: must be a list of at most 8 geohashes, not a list of 9"
            ),
            (
                "[bridge]\nextra_cells = [\"u4p\"]",
                "2:16: bridge.extra_cells: \"u4p\" is no lower-case geohash of at least 6 characters"
            ),
        ]
        for (text, expected) in cases { XCTAssertEqual(problems(text), ["b.toml:" + expected], text) }
    }

    func testRelayAddressesAreNormalisedAndClearTextStaysOnThisMachine() throws {
        XCTAssertEqual(
            try read("[nostr]\nrelays = [\"WSS://Relay.Example.com:443/\", \"ws://abc.onion\", \"ws://[::1]:7\"]").nostr
                .relays.map(\.text), ["wss://relay.example.com", "ws://abc.onion", "ws://[::1]:7"])
        for bad in ["ftp://h", "ws://relay.example.com", "wss://user@h", "", "wss://", "wss://exämple.com"] {
            let found = problems("[nostr]\nrelays = [\"\(bad)\"]")
            XCTAssertEqual(found.count, 1, bad)
            XCTAssertTrue(found.first?.hasPrefix("b.toml:2:11: nostr.relays: ") == true, found.first ?? bad)
        }
    }

    func testKeysThatExcludeOrNeedEachOtherAreChecked() {
        XCTAssertEqual(
            problems("[location]\ncell = \"u4pruy\"\nlatitude = 1\nlongitude = 2"),
            [
                "b.toml:3:1: location.latitude: must not stand beside location.cell: give one of them",
                "b.toml:4:1: location.longitude: must not stand beside location.cell: give one of them",
            ])
        XCTAssertEqual(
            problems("[location]\nlatitude = 1"), ["b.toml:2:1: location.latitude: needs location.longitude"])
        XCTAssertEqual(
            problems("[location]\nlongitude = 1"), ["b.toml:2:1: location.longitude: needs location.latitude"])
        XCTAssertEqual(
            problems("[location]\ncell = \"u4pruy\"\n[bridge]\nextra_cells = [\"u4pruy\"]"),
            ["b.toml:4:1: bridge.extra_cells: must not list location.cell itself"])
    }

    func testSyntaxErrorsNameTheirPlaceAndTheMistake() {
        let cases: [(String, String)] = [
            ("a = 1\nb = = 2\n", "2:5: not TOML: "),
            ("nickname = \n", "1:12: not TOML: expected value, saw the end of the line"),
            ("nickname = \"x\n", "1:14: not TOML: a text must end on the line it begins on"),
            ("nickname = \"ö\n", "1:14: not TOML: a text must end on the line it begins on"),
            ("nickname = \"a\u{1}b\"\n", "1:14: not TOML: unescaped control characters other than TAB (U+0009) are"),
            ("a = 1\na = 2", "2:5: a stands here for the second time"),
            ("[air]\nmtu = 185\n[air]\n", "3:1: air stands here for the second time"),
        ]
        for (text, expected) in cases {
            let found = problems(text)
            XCTAssertEqual(found.count, 1)
            XCTAssertTrue(found.first?.hasPrefix("b.toml:" + expected) == true, "\(found)")
        }
        XCTAssertEqual(problems("a = \"\u{0}").count, 1)
    }

    func testLineEndsAndByteOrderMarksOfOtherSystemsAreRead() throws {
        XCTAssertEqual(try read("\u{FEFF}nickname = \"x\"\r\n[air]\r\nmtu = 185\r\n").air.mtu, 185)
        XCTAssertEqual(
            problems("nickname = \"x\"\r\n[air]\r\nmtu = 5\r\n").first?.hasPrefix("b.toml:3:7: air.mtu: "), true)
    }

    private func fault(_ path: String) -> StationFault? {
        do {
            _ = try Configuration(contentsOf: path)
            return nil
        } catch { return error }
    }

    func testWhatIsNoReadableFileIsNamedAsSuch() throws {
        XCTAssertEqual(
            fault("/nonexistent/b.toml"),
            .configurationMissing(
                "/nonexistent/b.toml: there is no such file; bitgate config defaults prints one to begin with"))
        XCTAssertEqual(fault("/tmp"), .configurationMissing("/tmp: is a directory, not a file"))
        XCTAssertNil(fault("/dev/null"))
        XCTAssertEqual(fault("/dev/zero"), .configuration("/dev/zero is larger than 65536 bytes"))
    }

    func testAllMistakesAreReportedInFileOrder() {
        let found = problems("x = 1\n[air]\nmtu = 1\n[gateway]\necho = 3\nbogus = 1")
        XCTAssertEqual(
            found.map { $0.split(separator: " ")[0] }, ["b.toml:1:1:", "b.toml:3:7:", "b.toml:5:8:", "b.toml:6:1:"])
    }

    func testHostileTextInAFileReachesNoTerminal() {
        let found = problems("[air]\nname = \"\\u001b[2J\\u202e\"").joined() + problems("\"\\u001b[0m\" = 1").joined()
        XCTAssertFalse(found.unicodeScalars.contains { $0.value == 0x1b || $0.value == 0x202e }, found)
        XCTAssertTrue(found.contains("\\u{1B}"))
    }

    func testTheDefaultFileIsTheTablesText() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = try String(contentsOf: root.appendingPathComponent("etc/bitgate.toml"), encoding: .utf8)
        XCTAssertEqual(file, ConfigurationText.defaults, "run: bitgate config defaults > etc/bitgate.toml")
        XCTAssertEqual(try read(file), Configuration())
    }

    func testTheDefaultsWrittenOutReadBackAsTheDefaults() throws {
        let unset: Set = [
            "nickname", "air.name", "location.cell", "location.latitude", "location.longitude",
            "network.control_cookie", "panel.status", "panel.mesh", "panel.internet", "panel.mail", "panel.button",
        ]
        var text = ""
        for setting in ConfigurationTable.settings {
            guard let standard = setting.standard else {
                XCTAssertTrue(unset.contains(setting.key), setting.key)
                XCTAssertEqual(
                    problems(setting.key + " = " + (setting.example ?? "")).count { !$0.contains("needs") }, 0)
                continue
            }
            text += "\(setting.key) = \(standard)\n"
        }
        XCTAssertEqual(try read(text), Configuration())
    }
}
