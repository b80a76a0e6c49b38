import Basics
import Crypto
import EventLoop
import Foundation
import Nostr
import Uplink
import Vault
import XCTest

@testable import Station

/// Chapter 05 §14.1–14.3: which list of relays is used, and how it is renewed.
final class DirectoryKeeperTests: XCTestCase {
    private let loop = EmbeddedLoop(
        start: Now(monotonic: .zero, wall: WallTime(milliseconds: 1_800_000_000_000)))
    private var folder = ""
    private var vault: Vault!
    private let fetcher = Fetcher()
    private var isRouteOpen = true
    private var changes = 0

    private final class Fetcher: DocumentFetcher {
        var asked: [(url: String, role: IsolationKeys.Role, limit: Int)] = []
        var answer: ((Result<[UInt8], DocumentFailure>) -> Void)?

        func fetch(
            _ url: NostrRelayURL, as role: IsolationKeys.Role, accept: String?, limit: Int, timeout: Interval,
            completion: @escaping (Result<[UInt8], DocumentFailure>) -> Void
        ) {
            asked.append((url.text, role, limit))
            answer = completion
        }
    }

    override func setUpWithError() throws {
        folder = NSTemporaryDirectory() + "directory-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        openVault()
    }

    override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

    private func openVault() {
        vault?.close()
        vault = Vault(
            in: folder, masterKey: SecretBytes(copying: [UInt8](repeating: 7, count: 32)), stores: BoxStores.all,
            loop: loop, random: SeededRandom(seed: 1))
    }

    private func keeper(_ change: (inout Configuration.Nostr) -> Void = { _ in }) -> DirectoryKeeper {
        let keeper = DirectoryKeeper(loop: loop, archive: NostrArchive(vault), fetcher: fetcher)
        keeper.isRouteOpen = { [unowned self] in isRouteOpen }
        keeper.onChange = { [unowned self] in changes += 1 }
        var settings = Configuration.Nostr()
        settings.directory = folder + "/relays.csv"
        change(&settings)
        keeper.load(settings)
        return keeper
    }

    private func csv(_ names: Range<Int>) -> [UInt8] {
        Array(("relay url,latitude,longitude\n" + names.map { "r\($0).example.com,1,2\n" }.joined()).utf8)
    }

    private func install(_ csv: [UInt8], changedAt seconds: TimeInterval) throws {
        let path = folder + "/relays.csv"
        try Data(csv).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: seconds)], ofItemAtPath: path)
    }

    func testWithoutAnyListOneIsFetchedAndKeptOverARestart() {
        let first = keeper()
        XCTAssertEqual(first.source, .none)
        XCTAssertNotNil(first.fileProblem)
        XCTAssertEqual(fetcher.asked.map(\.url), ["wss://" + Configuration.Nostr().directoryURL.dropFirst(8)])
        XCTAssertEqual(fetcher.asked.map(\.role), [.directory])
        XCTAssertEqual(fetcher.asked.map(\.limit), [524_288])
        fetcher.answer?(.success(csv(0..<60)))
        XCTAssertEqual(first.directory.entries.count, 60)
        XCTAssertEqual(first.source, .fetched(loop.now.wall))
        XCTAssertEqual(changes, 1)

        first.stop()
        openVault()
        fetcher.asked.removeAll()
        let second = keeper()
        XCTAssertEqual(second.directory.entries.count, 60)
        XCTAssertEqual(second.source, .fetched(loop.now.wall))
        loop.advance(by: .hours(23))
        XCTAssertTrue(fetcher.asked.isEmpty, "once a day, not at every start")
        loop.advance(by: .hours(2))
        XCTAssertEqual(fetcher.asked.count, 1)
    }

    func testNothingIsFetchedWhileTheRouteIsClosed() {
        isRouteOpen = false
        let keeper = keeper()
        loop.advance(by: .hours(5))
        XCTAssertTrue(fetcher.asked.isEmpty)
        isRouteOpen = true
        keeper.routeOpened()
        XCTAssertEqual(fetcher.asked.count, 1)
    }

    /// Chapter 05 §14.3: Tor becoming ready forces a fetch, also of a list that is young.
    func testARouteThatOpensForcesAFetchAndARelayOfAnOpenOneDoesNot() {
        NostrArchive(vault).keep(directory: csv(0..<60), fetchedAt: loop.now.wall)
        loop.advance(by: .hours(2))
        let keeper = keeper()
        XCTAssertTrue(fetcher.asked.isEmpty)
        keeper.routeOpened()
        XCTAssertTrue(fetcher.asked.isEmpty)
        isRouteOpen = false
        loop.advance(by: .seconds(60))
        isRouteOpen = true
        keeper.routeOpened()
        XCTAssertEqual(fetcher.asked.count, 1)
        fetcher.answer?(.failure(DocumentFailure(text: "no way")))
        loop.advance(by: .seconds(60))
        XCTAssertEqual(fetcher.asked.count, 2, "and that it failed, a retry")
        fetcher.answer?(.success(csv(0..<60)))
        isRouteOpen = false
        loop.advance(by: .seconds(59))
        keeper.routeOpened()
        isRouteOpen = true
        keeper.routeOpened()
        XCTAssertEqual(fetcher.asked.count, 2, "not within a minute of a success")
    }

    func testAFailureIsToldAndTriedAgainWithGrowingPauses() {
        let keeper = keeper()
        var times: [Int64] = []
        for _ in 0..<4 {
            fetcher.answer?(.failure(DocumentFailure(text: "no way")))
            XCTAssertEqual(keeper.fetchProblem, "no way")
            let before = loop.now.monotonic
            let count = fetcher.asked.count
            while fetcher.asked.count == count { loop.advance(by: .seconds(60)) }
            times.append((loop.now.monotonic - before).milliseconds / 60_000)
        }
        XCTAssertEqual(times, [1, 2, 4, 8])
        fetcher.answer?(.success(csv(0..<60)))
        XCTAssertNil(keeper.fetchProblem)
    }

    func testAListThatIsTooShortTooDifferentOrNoneIsRefusedAndTheOldOneStays() throws {
        try install(csv(0..<100), changedAt: 1_799_000_000)
        let keeper = keeper()
        XCTAssertEqual(keeper.source, .file)
        for bad in [csv(0..<49), csv(51..<200), Array("<html>".utf8), []] {
            fetcher.answer?(.success(bad))
            XCTAssertNotNil(keeper.fetchProblem)
            XCTAssertEqual(keeper.directory.entries.count, 100)
            XCTAssertEqual(keeper.source, .file)
            loop.advance(by: .hours(2))
        }
        XCTAssertEqual(changes, 0)
        fetcher.answer?(.success(csv(50..<200)))
        XCTAssertEqual(keeper.directory.entries.count, 150)
        XCTAssertEqual(changes, 1)
    }

    func testOfTheFileAndTheFetchedListTheNewerCounts() throws {
        NostrArchive(vault).keep(directory: csv(0..<60), fetchedAt: WallTime(milliseconds: 1_799_500_000_000))
        try install(csv(0..<3), changedAt: 1_799_000_000)
        XCTAssertEqual(keeper().directory.entries.count, 60)
        try install(csv(0..<3), changedAt: 1_799_900_000)
        let keeper = keeper()
        XCTAssertEqual(keeper.directory.entries.count, 3)
        XCTAssertEqual(keeper.source, .file)
    }

    func testOwnRelaysNeedNoListAndAnEmptyAddressFetchesNone() {
        let own = keeper { $0.useBuiltInRelays = false }
        XCTAssertEqual(own.source, .unneeded)
        XCTAssertNil(Configuration().relayChoice(own).directory)
        let offline = keeper { $0.directoryURL = "" }
        XCTAssertEqual(offline.source, .none)
        loop.advance(by: .hours(30))
        XCTAssertTrue(fetcher.asked.isEmpty)
    }

    func testWhatWasFetchedForOtherSettingsIsIgnored() {
        let keeper = keeper()
        let old = fetcher.answer
        keeper.load(Configuration.Nostr())
        old?(.success(csv(0..<60)))
        XCTAssertEqual(keeper.source, .none)
        keeper.stop()
        fetcher.answer?(.success(csv(0..<60)))
        XCTAssertEqual(keeper.source, .none)
    }
}
