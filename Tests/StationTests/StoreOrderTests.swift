import Basics
import Crypto
import EventLoop
import Foundation
import Gateway
import TestSupport
import Vault
import Wire
import XCTest

@testable import Mesh
@testable import Messenger
@testable import Station

/// Where memory lets go of one thing and the vault of another, a restart forgets what is in use and brings back what
/// was let go of.
final class StoreOrderTests: XCTestCase {
    private let loop = EmbeddedLoop(
        start: Now(monotonic: .zero, wall: WallTime(milliseconds: 1_800_000_000_000)))
    private let key = SecretBytes(copying: [UInt8](repeating: 7, count: 32))
    private var folder = ""

    override func setUpWithError() throws { folder = try makeFolder() }
    override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

    private func vault(_ stores: [VaultStore]) -> Vault {
        Vault(in: folder, masterKey: key, stores: stores, loop: loop, random: SeededRandom(seed: 3))
    }

    private func bytes(_ number: Int) -> [UInt8] { SHA256.hash(Array("\(number)".utf8)) }
    private func time(_ hours: Int) -> WallTime {
        WallTime(milliseconds: loop.now.wall.milliseconds + UInt64(hours) * 3_600_000)
    }

    func testPrekeysOfOthersAreKeptOrForgottenInMemoryAndOnDiskAlike() throws {
        let first = vault(BoxStores.chat)
        let archive = MessengerArchive(first, in: folder, masterKey: key)
        var bundles = PeerPrekeys()
        func owner(_ number: Int) throws -> NoisePublicKey { try XCTUnwrap(NoisePublicKey(bytes(number))) }
        func keep(_ number: Int) throws {
            archive.keep(.bundle(try XCTUnwrap(bundles.record(of: owner(number)))))
        }
        func take(_ number: Int, at hours: Int) throws {
            let bundle = PrekeyBundle(
                noisePublicKey: bytes(number), prekeys: [.init(id: 1, publicKey: bytes(0))],
                generatedAt: time(hours), signature: [UInt8](repeating: 0, count: 64))
            guard case .kept(let forgotten) = bundles.store(bundle) else { return XCTFail("\(number)") }
            if let forgotten { archive.forgetBundle(of: forgotten) }
            try keep(number)
        }
        for number in 0..<200 { try take(number, at: 0) }
        // Half of them are seen again, so that they are not the longest unchanged. One that is used stays where it is.
        for number in 0..<100 { try take(number, at: 1) }
        XCTAssertNotNil(bundles.prekey(for: "letter", to: try owner(150), at: time(1)))
        try keep(150)
        for number in 200..<280 { try take(number, at: 1) }
        first.close()

        let second = vault(BoxStores.chat)
        var restored = PeerPrekeys()
        restored.restore(second.read(BoxStores.bundles) { PeerPrekeys.Record(key: $0, value: $1) })
        XCTAssertEqual(restored.records, bundles.records, "the same ones, in the order in which they go")
        XCTAssertEqual(restored.count, 200)
        XCTAssertNotNil(restored.record(of: try owner(0)))
        second.close()
    }

    /// Chapter 06 §5.8: 512 of each.
    func testEventsAndLettersDoNotPushEachOtherOut() {
        let first = vault(BoxStores.all)
        let mail = MailArchive(first)
        let letters = (0..<512).map { Array(bytes($0).suffix(16)) }
        for number in 0..<512 {
            mail.keep(DealtDrop(name: bytes(number), at: time(0)), at: loop.now.monotonic)
            mail.keep(DealtDrop(name: letters[number], at: time(0)), at: loop.now.monotonic)
        }
        first.close()
        let second = vault(BoxStores.all)
        let dealt = Set(MailArchive(second).dealt.map(\.name))
        XCTAssertEqual(dealt, Set((0..<512).map { bytes($0) } + letters))
        second.close()
    }

    func testWhatIsRememberedAnewIsNotWhatTheVaultForgetsFirst() throws {
        let first = vault(BoxStores.all + BoxStores.chat)
        let (mail, letters) = (MailArchive(first), MessengerArchive(first, in: folder, masterKey: key))
        func keep(_ number: Int, at hours: Int) {
            mail.keep(DealtDrop(name: bytes(number), at: time(hours)), at: loop.now.monotonic)
            letters.keep(.drop(PublishedDrop(key: "\(number)", at: time(hours))))
        }
        let limit = CourierLimits.rememberedDrops
        for number in 0..<limit { keep(number, at: 0) }
        keep(0, at: 25)
        for number in limit..<(limit + 88) { keep(number, at: 26) }
        first.close()

        let second = vault(BoxStores.all + BoxStores.chat)
        let dealt = MailArchive(second).dealt
        XCTAssertEqual(dealt.first { $0.name == bytes(0) }?.at, time(25))
        XCTAssertFalse(dealt.contains { $0.name == bytes(1) })
        XCTAssertEqual(dealt.last?.name, bytes(limit + 87))
        let own = MessengerArchive(second, in: folder, masterKey: key).memory.drops
        XCTAssertEqual(own.first { $0.key == "0" }?.at, time(25))
        XCTAssertFalse(own.contains { $0.key == "1" })
        second.close()
    }

    func testPinnedIdentitiesAreForgottenOnDiskWhenTheMeshForgetsThem() throws {
        let first = vault(BoxStores.all)
        let archive = MeshArchive(first)
        let book = IdentityBook(capacity: 50, displacementBurst: 1_000)
        func record(_ number: Int) throws -> IdentityRecord {
            IdentityRecord(
                noiseKey: try XCTUnwrap(NoisePublicKey(bytes(number))),
                signingKey: try XCTUnwrap(SigningPublicKey(bytes(number))), nickname: "")
        }
        for number in 0..<120 {
            let newcomer = try record(number)
            XCTAssertEqual(book.learn(newcomer, at: .zero), .news)
            if let displaced = book.displaced { archive.forget(displaced) }
            archive.keep(newcomer, at: loop.now.monotonic)
            // A regular visitor, pinned first of all.
            _ = book.learn(try record(0), at: .zero)
        }
        first.close()
        let second = vault(BoxStores.all)
        let kept = second.read(BoxStores.identities) { IdentityRecord(key: $0, value: $1) }
        XCTAssertEqual(kept.count, 50)
        XCTAssertTrue(kept.allSatisfy { book[$0.peerID] != nil })
        XCTAssertTrue(kept.contains(try record(0)))
        second.close()
    }
}
