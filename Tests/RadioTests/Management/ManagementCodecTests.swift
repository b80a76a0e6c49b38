import Basics
import Radio
import XCTest

/// Expected bytes follow the layouts of the mgmt-api document.
final class ManagementCodecTests: XCTestCase {
    private let phone = ManagementAddress(value: 0xC0FF_EE01_0203, type: 2)
    private let phoneBytes: [UInt8] = [0x03, 0x02, 0x01, 0xee, 0xff, 0xc0, 0x02]

    private func parse(_ bytes: [UInt8]) -> ManagementEvent.Parsed {
        bytes.withUnsafeBytes { ManagementEvent.parse($0) }
    }

    // MARK: Commands

    func testCommandsHaveTheLayoutsOfTheDocument() {
        let instance = AdvertisingInstance(number: 1, advertisement: [0x02, 0x0a, 0x00], scanResponse: [0x01])
        let expected: [(ManagementCommand, String)] = [
            (.readVersion, "0100 0200 0000"), (.readCommands, "0200 0200 0000"), (.readIndexList, "0300 0200 0000"),
            (.readInformation, "0400 0200 0000"), (.setPowered(true), "0500 0200 0100 01"),
            (.setPowered(false), "0500 0200 0100 00"), (.setConnectable(true), "0700 0200 0100 01"),
            (.setBondable(false), "0900 0200 0100 00"), (.setLowEnergy(true), "0d00 0200 0100 01"),
            (.setClassic(false), "2a00 0200 0100 00"), (.setAdvertising(false), "2900 0200 0100 00"),
            (.setStaticAddress(0xC0FF_EE01_0203), "2b00 0200 0600 030201eeffc0"),
            (.setPrivacyOff, "2f00 0200 1100 00 00000000000000000000000000000000"),
            (.setInputOutputCapability(3), "1800 0200 0100 03"), (.forgetLongTermKeys, "1300 0200 0200 0000"),
            (.forgetIdentityKeys, "3000 0200 0200 0000"), (.forgetDevices, "3400 0200 0700 00000000000000"),
            (.setDefaults([DefaultParameter(type: 0x001a, value: 500)]), "4c00 0200 0500 1a00 02 f401"),
            (.disconnect(phone), "1400 0200 0700 030201eeffc0 02"), (.readConnections, "1500 0200 0000"),
            (.startDiscovery, "2300 0200 0100 06"), (.stopDiscovery, "2400 0200 0100 06"),
            (
                .startServiceDiscovery(.meshService),
                "3a00 0200 1400 06 7f 0100 5c4b3a2c1d8e3f9b5a4c9e4a2d5e7bf4"
            ),
            (.readAdvertisingFeatures, "3d00 0200 0000"),
            (.addAdvertising(instance), "3e00 0200 0f00 01 03000000 0000 0000 03 01 020a00 01"),
            (
                .setAdvertisingParameters(instance),
                "5400 0200 1200 01 03400100 0000 0000 a0000000 f4000000 7f"
            ),
            (.setAdvertisingData(instance), "5500 0200 0700 01 03 01 020a00 01"),
            (.removeAdvertising(1), "3f00 0200 0100 01"), (.denyPIN(phone), "1700 0200 0700 030201eeffc0 02"),
            (.denyConfirmation(phone), "1d00 0200 0700 030201eeffc0 02"),
            (.denyPasskey(phone), "1f00 0200 0700 030201eeffc0 02"),
        ]
        for (command, hex) in expected {
            XCTAssertEqual(
                Hex.encode(command.message(to: 2)), hex.replacing(" ", with: ""), "\(command)")
        }
    }

    func testAnInstanceWithoutAScanResponseDoesNotPromiseOne() {
        let instance = AdvertisingInstance(number: 1, advertisement: [1])
        XCTAssertEqual(
            Hex.encode(ManagementCommand.setAdvertisingParameters(instance).message(to: 0).dropFirst(6)),
            "01034000000000" + "0000" + "a0000000" + "f4000000" + "7f")
    }

    func testAdvertisingDataLeavesRoomForTheFlagsTheKernelAdds() {
        let instance = AdvertisingInstance(
            number: 1, advertisement: [UInt8](repeating: 7, count: 40), scanResponse: [UInt8](repeating: 8, count: 40))
        XCTAssertEqual(instance.advertisement.count, 28)
        XCTAssertEqual(instance.scanResponse.count, 31)
    }

    // MARK: Events

    func testEventsAreReadByTheLayoutsOfTheDocument() {
        let expected: [(String, ManagementEvent)] = [
            (
                "0100 0300 0700 0500 00 01020304",
                .answer(command: 5, status: .success, parameters: [1, 2, 3, 4])
            ),
            ("0200 0300 0300 2300 0a", .answer(command: 0x23, status: .busy, parameters: [])),
            ("0300 0300 0100 42", .controllerError(0x42)), ("0400 0300 0000", .indexAdded),
            ("0500 0300 0000", .indexRemoved), ("0600 0300 0400 01020000", .newSettings([.powered, .lowEnergy])),
            ("0b00 0300 0d00 030201eeffc0 02 00000000 0000", .deviceConnected(phone, isOutgoing: false)),
            ("0b00 0300 0f00 030201eeffc0 02 08000000 0200 0102", .deviceConnected(phone, isOutgoing: true)),
            ("0c00 0300 0800 030201eeffc0 02 03", .deviceDisconnected(phone, reason: 3)),
            ("0d00 0300 0800 030201eeffc0 02 07", .connectFailed(phone, .noResources)),
            (
                "0e00 0300 0800 030201eeffc0 00 00",
                .pairingQuestion(.pin, ManagementAddress(value: phone.value, type: 0))
            ),
            ("0f00 0300 0c00 030201eeffc0 02 01 00000000", .pairingQuestion(.confirmation, phone)),
            ("1000 0300 0700 030201eeffc0 02", .pairingQuestion(.passkey, phone)),
            (
                "1200 0300 1100 030201eeffc0 02 c4 00000000 0300 02011a",
                .deviceFound(DeviceReport(address: phone, rssi: -60, data: [0x02, 0x01, 0x1a]))
            ),
            (
                "1200 0300 0e00 030201eeffc0 02 7f 04000000 0000",
                .deviceFound(DeviceReport(address: phone, rssi: nil, isConnectable: false, data: []))
            ),
            ("1300 0300 0200 06 01", .discovering(true)), ("1300 0300 0200 06 00", .discovering(false)),
            ("2300 0300 0100 01", .advertisingAdded(1)), ("2400 0300 0100 02", .advertisingRemoved(2)),
        ]
        for (hex, event) in expected {
            let bytes = Hex.decode(hex.replacing(" ", with: ""))
            XCTAssertEqual(bytes.map { parse($0) }, .event(event, index: 3), hex)
        }
    }

    func testWhatNewerKernelsAppendIsLeftUnread() {
        XCTAssertEqual(parse([0x06, 0, 3, 0, 5, 0, 1, 0, 0, 0, 9]), .event(.newSettings(.powered), index: 3))
    }

    func testUnknownEventsAreIgnored() {
        XCTAssertEqual(parse([0x25, 0, 0, 0, 2, 0, 1, 2]), .ignored(code: 0x25))
        XCTAssertEqual(parse([0xff, 0xff, 0, 0, 0, 0]), .ignored(code: 0xffff))
    }

    func testEveryTruncationOfAnEventIsMalformed() {
        let kinds: [(UInt8, Int)] = [
            (0x01, 3), (0x02, 3), (0x03, 1), (0x06, 4), (0x0b, 11), (0x0c, 8), (0x0d, 8), (0x0e, 7), (0x0f, 7),
            (0x10, 7), (0x12, 14), (0x13, 2), (0x23, 1), (0x24, 1),
        ]
        for (code, size) in kinds {
            for length in 0..<size {
                let event = [code, 0, 0, 0, UInt8(length), 0] + [UInt8](repeating: 0, count: length)
                XCTAssertEqual(parse(event), .malformed, "event \(code) of \(length) bytes")
            }
            let whole = [code, 0, 0, 0, UInt8(size), 0] + [UInt8](repeating: 0, count: size)
            if case .event = parse(whole) {} else { XCTFail("event \(code) of \(size) bytes") }
        }
    }

    func testALengthThatDisagreesWithTheMessageIsMalformed() {
        XCTAssertEqual(parse([]), .malformed)
        XCTAssertEqual(parse([4, 0, 0, 0, 0]), .malformed)
        XCTAssertEqual(parse([4, 0, 0, 0, 1, 0]), .malformed)
        XCTAssertEqual(parse([4, 0, 0, 0, 0, 0, 9]), .malformed)
        XCTAssertEqual(parse([4, 0, 0, 0, 0xff, 0xff]), .malformed)
    }

    func testAReportThatPromisesMoreDataThanItHasIsMalformed() {
        XCTAssertEqual(parse([0x12, 0, 0, 0, 15, 0] + phoneBytes + [0xc4, 0, 0, 0, 0, 2, 0, 1]), .malformed)
        XCTAssertEqual(parse([0x12, 0, 0, 0, 15, 0] + phoneBytes + [0xc4, 0, 0, 0, 0, 0xff, 0xff, 1]), .malformed)
    }

    func testAnyBytesAtAllAreReadWithoutATrap() {
        var random = SeededRandom(seed: 5)
        for _ in 0..<20_000 {
            let length = Int.random(in: 0...40, using: &random)
            var bytes = random.bytes(length)
            if length >= 6 {
                bytes[0] = UInt8.random(in: 0...0x30, using: &random)
                bytes[1] = 0
                bytes[4] = UInt8(length - 6)
                bytes[5] = 0
            }
            _ = parse(bytes)
            _ = ControllerInformation(parsing: bytes)
            _ = AdvertisingFeatures(parsing: bytes)
            _ = ControllerList(parsing: bytes)
            _ = ConnectionList(parsing: bytes)
            _ = ManagementCommandList(parsing: bytes)
            _ = ManagementVersion(parsing: bytes)
        }
    }

    // MARK: Answers

    func testAnswersAreReadByTheLayoutsOfTheDocument() throws {
        let version = try XCTUnwrap(ManagementVersion(parsing: [1, 0x17, 0]))
        XCTAssertEqual(version.version, 1)
        XCTAssertEqual(version.revision, 23)

        let commands = try XCTUnwrap(ManagementCommandList(parsing: [2, 0, 1, 0, 0x54, 0, 0x55, 0, 0x13, 0]))
        XCTAssertEqual(commands.commands, [0x54, 0x55])
        XCTAssertNil(ManagementCommandList(parsing: [2, 0, 1, 0, 0x54, 0, 0x55]))

        XCTAssertEqual(ControllerList(parsing: [2, 0, 1, 0, 0, 0])?.indexes, [0, 1])
        XCTAssertNil(ControllerList(parsing: [0xff, 0xff, 1, 0]))
        XCTAssertNil(ControllerList(parsing: [1]))

        let connections = try XCTUnwrap(ConnectionList(parsing: [1, 0] + phoneBytes))
        XCTAssertEqual(connections.addresses, [phone])
        XCTAssertNil(ConnectionList(parsing: [2, 0] + phoneBytes))

        let features = try XCTUnwrap(AdvertisingFeatures(parsing: [3, 0, 0, 0, 31, 31, 5, 2, 1, 4]))
        XCTAssertEqual(features.instances, [1, 4])
        XCTAssertEqual(features.mostInstances, 5)
        XCTAssertTrue(features.canBeConnected)
        XCTAssertNil(AdvertisingFeatures(parsing: [3, 0, 0, 0, 31, 31, 5, 3, 1, 4]))
    }

    func testInformationOfAControllerIsReadWithoutItsNames() throws {
        let names = [UInt8](repeating: 0, count: 3 + 249 + 11)
        let bytes: [UInt8] = [0x05, 0x00, 0x5e, 0xa1, 0x00, 0x02, 9, 0x0f, 0, 0xff, 0xbe, 0, 0, 0x91, 0x02, 0, 0]
        let information = try XCTUnwrap(ControllerInformation(parsing: bytes + names))
        XCTAssertEqual(information.address, BluetoothAddress(value: 0x0200_A15E_0005, kind: .public))
        XCTAssertEqual(information.version, 9)
        XCTAssertEqual(information.manufacturer, 15)
        XCTAssertEqual(information.supported.rawValue, 0xbeff)
        XCTAssertEqual(information.current, [.powered, .bondable, .classic, .lowEnergy])
        XCTAssertNil(ControllerInformation(parsing: Array(bytes.dropLast())))
        let nameless = try XCTUnwrap(ControllerInformation(parsing: [0, 0, 0, 0, 0, 0] + bytes.dropFirst(6)))
        XCTAssertNil(nameless.address, "a controller without a public address")
    }
}
