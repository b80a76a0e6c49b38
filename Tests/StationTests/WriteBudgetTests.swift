import Basics
import Crypto
import EventLoop
import Foundation
import Gateway
import Mesh
import Radio
import TestSupport
import Vault
import Wire
import XCTest

@testable import Station

/// How much a box writes to its card (docs/performance.md), by the system's own count.
final class WriteBudgetTests: XCTestCase {
    private let loop = EmbeddedLoop(
        start: Now(monotonic: .zero, wall: WallTime(milliseconds: 1_800_000_000_000)))
    private var folder = ""
    private var random = SeededRandom(seed: 21)

    override func setUpWithError() throws { folder = try makeFolder() }
    override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

    /// Bytes this process made the system write.
    private func written() throws -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/io", encoding: .utf8) else {
            throw XCTSkip("this kernel does not count what a process writes (/proc/self/io)")
        }
        let line = try XCTUnwrap(text.split(separator: "\n").first { $0.hasPrefix("write_bytes") })
        return try XCTUnwrap(Int(line.drop { !$0.isNumber }))
    }

    /// - Returns: the bytes written by the system's count.
    @discardableResult
    private func measure(_ what: String, atMost limit: Int, in vault: Vault, _ body: () -> Void) throws -> Int {
        let ledger = vault.status.writtenToday
        let before = try written()
        body()
        let own = vault.status.writtenToday - ledger
        let system = try written() - before
        print(
            "write budget: \(what): \((own + 1_023) / 1_024) KiB by the vault's count, "
                + "\((system + 1_023) / 1_024) KiB by the system's")
        XCTAssertLessThanOrEqual(own, limit, what)
        XCTAssertLessThanOrEqual(system, limit, what)
        return system
    }

    /// The fair of the simulation's venue scenario: 150 messages and 165 visitors an hour, and a post now and then.
    func testABusyHourWritesAMebibyteAtMostAndAnIdleOneNextToNothing() throws {
        let vault = Vault(
            in: folder, masterKey: MasterKey.generate(using: &random), stores: BoxStores.all, loop: loop,
            random: SeededRandom(seed: 1))
        let archive = MeshArchive(vault)
        var identities = 0
        var message: UInt64 = 0
        var arrivals: [(PacketID, WallTime)] = []

        /// Thirty seconds of the fair, as the engine hands them over.
        func halfMinute() {
            for _ in 0..<2 where Int.random(in: 0..<160, using: &random) < 110 {
                loop.advance(by: random.interval(.zero, .seconds(14)))
                let node = NodeIdentity.generate(using: &random)
                identities += 1
                archive.keep(
                    IdentityRecord(
                        noiseKey: node.noise.publicKey, signingKey: node.signing.publicKey,
                        nickname: "visitor \(identities)"),
                    at: loop.now.monotonic)
            }
            var puts: [HistoryRecord] = []
            for _ in 0..<5 where Bool.random(using: &random) && Bool.random(using: &random) {
                message += 1
                let id = PacketID(high: random.next(), low: message)
                arrivals.append((id, loop.now.wall))
                puts.append(
                    HistoryRecord(
                        id: id, timestamp: loop.now.wall, arrival: message,
                        frame: random.bytes(Int.random(in: 120...260, using: &random))))
            }
            let cutoff = loop.now.wall.milliseconds - 6 * 3_600_000
            while let first = arrivals.first, first.1.milliseconds < cutoff {
                arrivals.removeFirst()
                puts.append(HistoryRecord(id: first.0, timestamp: first.1, arrival: 0, frame: nil))
            }
            archive.keep(HistoryBatch(replacesEverything: false, puts: puts, deletes: []))
        }

        func hour() {
            let end = loop.now.monotonic + .hours(1)
            var nextBatch = loop.now.monotonic
            var post: UInt64 = 0
            while loop.now.monotonic < end {
                halfMinute()
                nextBatch = nextBatch + .seconds(30)
                if nextBatch > loop.now.monotonic { loop.advance(by: nextBatch - loop.now.monotonic) }
                post += 1
                if post.isMultiple(of: 10) {
                    archive.keep(
                        BoardBatch(
                            puts: [
                                BoardRecord(
                                    id: PacketID(high: 7, low: random.next()), arrival: post,
                                    frame: random.bytes(400), retention: nil)
                            ], deletes: []))
                }
            }
        }

        let busy = try measure("first hour of a fair", atMost: 1 << 20, in: vault) { hour() }
        XCTAssertGreaterThan(vault.status.writtenToday, 0)
        if busy == 0 { print("write budget: \(folder) is in memory: only the vault's count is checked") }
        for _ in 0..<6 { hour() }
        try measure("eighth hour, with as much to forget", atMost: 1 << 20, in: vault) { hour() }
        XCTAssertEqual(vault.counts[.evicted], 0)
        loop.advance(by: VaultLimits.relaxed)
        try measure("idle hour", atMost: 16 << 10, in: vault) { loop.advance(by: .hours(1)) }
        XCTAssertNil(loop.nextDeadline)
    }
}
