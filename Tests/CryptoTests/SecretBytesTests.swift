import Basics
import XCTest

@testable import Crypto

final class SecretBytesTests: XCTestCase {
    func testMemoryIsZeroWhenItIsReleased() {
        final class Observation: @unchecked Sendable { var released: [UInt8]? }
        let observation = Observation()
        var secret: SecretBytes? = SecretBytes(copying: Array(1...64)) { memory in
            observation.released = [UInt8](memory)
            memory.deallocate()
        }
        XCTAssertEqual(secret?.count, 64)
        XCTAssertNil(observation.released)
        secret = nil
        XCTAssertEqual(observation.released, [UInt8](repeating: 0, count: 64))
    }

    func testEqualityIsThatOfTheBytes() {
        XCTAssertEqual(SecretBytes(copying: [1, 2, 3]), SecretBytes(copying: [1, 2, 3]))
        XCTAssertNotEqual(SecretBytes(copying: [1, 2, 3]), SecretBytes(copying: [1, 2, 4]))
        XCTAssertNotEqual(SecretBytes(copying: [1, 2, 3]), SecretBytes(copying: [1, 2]))
        XCTAssertEqual(SecretBytes(copying: []), SecretBytes(copying: []))
    }

    func testRandomBytesComeFromTheGivenGeneratorOnly() {
        var first = SeededRandom(seed: 7)
        var second = SeededRandom(seed: 7)
        XCTAssertEqual(SecretBytes.random(count: 33, using: &first).exposed, second.bytes(33))
    }

    /// Every secret type, through every way Swift has of turning a value into text.
    func testNoSecretIsPrinted() throws {
        let marker = [UInt8](repeating: 0x5a, count: 32)
        let secret = SecretBytes(copying: marker)
        let signing = try XCTUnwrap(SigningKey(seed: marker))
        let noise = try XCTUnwrap(NoiseStaticKey(privateKey: marker))
        let values: [(Any, String)] = [
            (secret, "SecretBytes(…)"), (signing, "SigningKey(…)"), (noise, "NoiseStaticKey(…)"),
            (NodeIdentity(noise: noise, signing: signing), "NodeIdentity(…)"),
            (try XCTUnwrap(NostrSecretKey(marker)), "NostrSecretKey(…)"),
            (try XCTUnwrap(DeviceSeed(marker)), "DeviceSeed(…)"),
        ]
        for (value, expected) in values {
            XCTAssertEqual(String(describing: value), expected)
            XCTAssertEqual(String(reflecting: value), expected)
            XCTAssertEqual("\(value)", expected)
            XCTAssertEqual(Mirror(reflecting: value).children.count, 0)
            var dumped = ""
            dump(value, to: &dumped)
            for leak in ["5a5a", "5A5A", "90, 90", "0x"] { XCTAssertFalse(dumped.contains(leak), dumped) }
        }
    }

    func testSecretsInsideOtherValuesAreNotPrintedEither() {
        let holder = SecretHolder(secret: SecretBytes(copying: [90, 90, 90]))
        XCTAssertEqual("\(holder)", "SecretHolder(secret: Optional(SecretBytes(…)))")
        XCTAssertEqual("\([holder.secret])", "[Optional(SecretBytes(…))]")
    }
}

/// Not nested: the printed name of a local type holds an address.
struct SecretHolder {
    let secret: SecretBytes?
}
