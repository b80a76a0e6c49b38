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

final class SecretArenaTests: XCTestCase {
    /// The arena keeps its pages, so that what a secret leaves behind can be looked at.
    func testMemoryOfAReleasedSecretIsZero() {
        for size in [1, 32, 33, 64, 100, 256] {
            var secret: SecretBytes? = SecretBytes(copying: [UInt8](repeating: 0xa7, count: size))
            let address = secret?.withBytes { $0.baseAddress }
            XCTAssertEqual(address?.load(as: UInt8.self), 0xa7)
            secret = nil
            let left = UnsafeRawBufferPointer(start: address, count: size)
            XCTAssertEqual([UInt8](left), [UInt8](repeating: 0, count: size), "\(size)")
        }
    }

    func testSecretsDoNotShareMemory() {
        let secrets = (0..<3_000).map { number in
            SecretBytes(count: [0, 1, 31, 32, 64, 65, 200, 256, 257, 5_000][number % 10]) { memory in
                XCTAssertTrue(memory.allSatisfy { $0 == 0 })
                for index in memory.indices { memory[index] = UInt8(truncatingIfNeeded: number) }
            }
        }
        for (number, secret) in secrets.enumerated() {
            XCTAssertTrue(secret.withBytes { $0.allSatisfy { $0 == UInt8(truncatingIfNeeded: number) } })
        }
    }

    func testMemoryIsUsedAgain() {
        func address() -> UInt { SecretBytes(count: 40) { _ in }.withBytes { UInt(bitPattern: $0.baseAddress) } }
        XCTAssertEqual(Set((0..<1_000).map { _ in address() }).count, 1)
    }
}
