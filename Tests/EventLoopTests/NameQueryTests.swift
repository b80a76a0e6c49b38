import Basics
import XCTest

@testable import EventLoop

final class NameQueryTests: XCTestCase {
    private func look(up host: String) throws -> Result<[String], NameQuery.Failure>? {
        let loop = try LibeventLoop()
        var result: Result<[String], NameQuery.Failure>?
        let query = NameQuery(host, loop: loop) {
            result = $0
            loop.stop()
        }
        XCTAssertNil(result, "never from inside the call")
        loop.schedule(after: .seconds(20)) { loop.stop() }
        loop.run()
        withExtendedLifetime(query) {}
        return result
    }

    func testAddressesAndLocalNamesNeedNoServer() throws {
        XCTAssertEqual(try look(up: "192.0.2.7"), .success(["192.0.2.7"]))
        XCTAssertEqual(try look(up: "2001:db8::7"), .success(["2001:db8::7"]))
        let local = try XCTUnwrap(try look(up: "localhost")).get()
        XCTAssertTrue(local.contains("127.0.0.1") || local.contains("::1"), "\(local)")
    }

    private func run(_ loop: LibeventLoop) {
        loop.schedule(after: .milliseconds(100)) { loop.stop() }
        loop.run()
    }

    func testCancelledOrReleasedQueryEndsWithoutAWord() throws {
        let loop = try LibeventLoop()
        var isAnswered = false
        for host in ["localhost", "192.0.2.7"] + [String](repeating: "relay.invalid", count: 100) {
            NameQuery(host, loop: loop) { _ in isAnswered = true }.cancel()
            _ = NameQuery(host, loop: loop) { _ in isAnswered = true }
        }
        run(loop)
        XCTAssertFalse(isAnswered)
    }

    func testQueryMayBeCancelledWhileItsAnswerIsOnTheWay() throws {
        let loop = try LibeventLoop()
        for delay in [0, 1, 20] {
            let query = NameQuery("relay.invalid", loop: loop) { _ in }
            loop.schedule(after: .milliseconds(delay)) { query.cancel() }
            run(loop)
        }
    }
}
