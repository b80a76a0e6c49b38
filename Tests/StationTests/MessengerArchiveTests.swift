import Basics
import Crypto
import EventLoop
import Foundation
import Gateway
import Messenger
import TestSupport
import Vault
import Wire
import XCTest

@testable import Station

/// Prekeys that others are told of outlive whatever happens to the disk.
final class MessengerArchiveTests: XCTestCase {
    private var folder = ""
    private var file: String { folder + "/prekeys.sealed" }
    private let key = SecretBytes(copying: [UInt8](repeating: 7, count: 32))

    override func setUpWithError() throws { folder = try makeFolder() }
    override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

    private func makeArchive() -> MessengerArchive {
        let vault = Vault(
            in: folder, masterKey: key, stores: BoxStores.chat, loop: EmbeddedLoop(),
            random: SystemRandomNumberGenerator())
        return MessengerArchive(vault, in: folder, masterKey: key)
    }

    func testKeysThatTheDiskDoesNotTakeAreNotToldToOthers() throws {
        let archive = makeArchive()
        XCTAssertTrue(archive.keepsPrekeys(), "there are none")
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        archive.keep(.prekeys(OwnPrekeys().snapshot))
        XCTAssertFalse(archive.keepsPrekeys())
        try FileManager.default.removeItem(atPath: file)
        XCTAssertTrue(archive.keepsPrekeys())
        XCTAssertTrue(FileManager.default.fileExists(atPath: file))
    }

    func testAFileOfKeysThatCannotBeReadIsLeftAsItIsAndNoOthersAreOffered() throws {
        let damaged = Data("not what was written".utf8)
        try damaged.write(to: URL(fileURLWithPath: file))
        let archive = makeArchive()
        var random = SystemRandomNumberGenerator()
        _ = archive.makeDesk(.generate(using: &random), random: random)
        archive.keep(.prekeys(OwnPrekeys().snapshot))
        XCTAssertFalse(archive.keepsPrekeys())
        XCTAssertEqual(try Data(contentsOf: URL(fileURLWithPath: file)), damaged)
    }

    func testHeldLettersAreToldApartByAllTheySay() throws {
        let genuine = CourierEnvelope(
            recipientTag: [UInt8](repeating: 1, count: 16), expiry: WallTime(milliseconds: 9_000), ciphertext: [1, 2])
        var altered = genuine
        altered.prekeyID = 7
        let archive = makeArchive()
        archive.keep(.held(altered))
        archive.keep(.held(genuine))
        XCTAssertEqual(archive.memory.held, [altered, genuine])
        archive.discard(held: altered)
        XCTAssertEqual(archive.memory.held, [genuine])
        archive.discard(held: genuine)
        XCTAssertEqual(archive.memory.held, [])
    }
}
