import Basics
import XCTest

@testable import Radio

final class AdvertisingDataTests: XCTestCase {
    private func parse(_ hex: String, service: BluetoothUUID = .meshService) -> AdvertisingData {
        bytes(hex).withUnsafeBytes { AdvertisingData(parsing: $0, service: service) }
    }

    private let advertisement = "02 01 06 11 07 \(serviceHex)"
    private let scanResponse = "19 21 \(serviceHex) 00 11 22 33 44 55 66 77"

    /// Chapter 03 D1.
    func testWhatWeAdvertise() {
        XCTAssertEqual(AdvertisingData.advertisement(), bytes(advertisement))
        XCTAssertEqual(AdvertisingData.advertisement().count, 21)
        XCTAssertEqual(AdvertisingData.advertisement(withFlags: false), bytes("11 07 \(serviceHex)"))
        let debug = AdvertisingData.advertisement(service: .debugMeshService)
        XCTAssertEqual(debug, bytes("02 01 06 11 07 5a \(serviceHex.dropFirst(2))"))
    }

    func testAServiceInAListOrInServiceDataIsTheMesh() {
        XCTAssertEqual(parse(advertisement).offersMesh, true)
        XCTAssertNil(parse(advertisement).peerHint)
        XCTAssertTrue(parse("11 06 \(serviceHex)").offersMesh, "an incomplete list")
        XCTAssertTrue(parse("21 07 \(characteristicHex) \(serviceHex)").offersMesh, "second in a list")
        XCTAssertTrue(parse("11 21 \(serviceHex)").offersMesh, "service data without data")
        let joined = parse(advertisement + scanResponse)
        XCTAssertTrue(joined.offersMesh)
        XCTAssertEqual(joined.peerHint, 0x0011_2233_4455_6677)
    }

    func testTheScanResponseIsFoundBehindFilledUpAdvertisingData() {
        let joined = parse(advertisement + "00 00 00 00 00 00 00 00 00 00" + scanResponse)
        XCTAssertEqual(joined.peerHint, 0x0011_2233_4455_6677)
    }

    func testOtherStructuresAreNotTheMesh() {
        XCTAssertFalse(parse("").offersMesh)
        XCTAssertFalse(parse("02 01 06").offersMesh)
        XCTAssertFalse(parse("11 07 \(characteristicHex)").offersMesh)
        XCTAssertFalse(parse("11 15 \(serviceHex)").offersMesh, "solicited, not offered")
        XCTAssertFalse(parse("11 ff \(serviceHex)").offersMesh, "manufacturer data")
        XCTAssertFalse(parse("11 09 \(serviceHex)").offersMesh, "a name")
        XCTAssertFalse(parse("11 07 5a \(serviceHex.dropFirst(2))").offersMesh, "a debug build")
        XCTAssertTrue(parse("11 07 5a \(serviceHex.dropFirst(2))", service: .debugMeshService).offersMesh)
        XCTAssertNil(parse("19 21 \(characteristicHex) 00 11 22 33 44 55 66 77").peerHint)
    }

    func testAHintHasExactlyEightBytes() {
        for (length, data) in [("18", "00 11 22 33 44 55 66"), ("1a", "00 11 22 33 44 55 66 77 88")] {
            let parsed = parse("\(length) 21 \(serviceHex) \(data)")
            XCTAssertTrue(parsed.offersMesh)
            XCTAssertNil(parsed.peerHint)
        }
        let twice = parse(scanResponse + "19 21 \(serviceHex) ff ff ff ff ff ff ff ff")
        XCTAssertEqual(twice.peerHint, 0x0011_2233_4455_6677, "the first counts")
    }

    func testAStructureThatRunsPastTheEndIsLeftOut() {
        for cut in 0..<bytes(advertisement).count {
            let cut = Array(bytes(advertisement).prefix(cut))
            XCTAssertFalse(cut.withUnsafeBytes { AdvertisingData(parsing: $0) }.offersMesh)
        }
        XCTAssertFalse(parse("12 07 \(serviceHex)").offersMesh)
        XCTAssertFalse(parse("ff 07 \(serviceHex)").offersMesh)
        XCTAssertTrue(parse("12 07 \(serviceHex) 00").offersMesh, "an odd byte behind a whole UUID")
        XCTAssertFalse(parse("10 07 \(serviceHex)").offersMesh, "a UUID cut by its own length")
        XCTAssertFalse(parse("00 00 01 01 01 01").offersMesh)
    }

    func testLongReportsAreReadToTheEnd() {
        let filler = String(repeating: "fe ff", count: 1) + String(repeating: "00", count: 0xFD)
        XCTAssertTrue(parse(String(repeating: filler, count: 250) + scanResponse).offersMesh)
    }
}

final class BluetoothUUIDTests: XCTestCase {
    func testBothFormsOfOneUUIDAreEqual() {
        let long = bytes("fb 34 9b 5f 80 00 00 80 00 10 00 00 02 29 00 00")
        XCTAssertEqual(BluetoothUUID(littleEndian: long), BluetoothUUID(0x2902))
        XCTAssertEqual(BluetoothUUID(littleEndian: bytes("02 29")), BluetoothUUID(0x2902))
        XCTAssertEqual(BluetoothUUID(0x2902).longBytes, long)
        XCTAssertEqual(BluetoothUUID(0x2902).bytes, bytes("02 29"))
        XCTAssertEqual(BluetoothUUID(0x2902).short, 0x2902)
    }

    func testAUUIDOutsideTheBaseHasNoShortForm() {
        XCTAssertNil(BluetoothUUID.meshService.short)
        XCTAssertEqual(BluetoothUUID.meshService.bytes, bytes(serviceHex))
        XCTAssertEqual(BluetoothUUID.meshCharacteristic.longBytes, bytes(characteristicHex))
        XCTAssertNil(BluetoothUUID(littleEndian: bytes("fb 34 9b 5f 80 00 00 80 00 10 00 00 02 29 01 00"))?.short)
    }

    func testOnlyTwoOrSixteenBytesAreAUUID() {
        for count in 0...17 where count != 2 && count != 16 {
            XCTAssertNil(BluetoothUUID(littleEndian: [UInt8](repeating: 0, count: count)))
        }
    }
}
