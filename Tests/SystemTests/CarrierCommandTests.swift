import Foundation
import XCTest

/// What the operator sees and does about letters and the board, with a daemon that runs.
final class CarrierCommandTests: XCTestCase {
    private var scratch: Scratch!

    override func setUpWithError() throws { scratch = try Scratch() }
    override func tearDown() { scratch = nil }

    private func configuration(_ more: String = "") throws -> String {
        try scratch.write(
            """
            nickname = "box"
            state_directory = "\(scratch.path)/state"
            control_socket = "\(scratch.path)/socket"
            radio.kind = "air"
            air.room = "\(scratch.path)/room"
            network.tor = "off"
            nostr.use_builtin_relays = false
            clock.trust_system = true
            \(more)
            """, as: "c.toml")
    }

    private func start(_ file: String) throws -> Programs.Running {
        let running = try Programs.start(
            Programs.folder.appendingPathComponent("bitgated").path, ["--config", file], in: scratch)
        XCTAssertTrue(try Programs.eventually { try bitgate("status").status == 0 }, running.errors.text)
        return running
    }

    private func bitgate(_ arguments: String...) throws -> Programs.Outcome {
        try Programs.start(
            Programs.folder.appendingPathComponent("bitgate").path, arguments + ["--socket", scratch.path + "/socket"],
            in: scratch
        ).wait()
    }

    private func json(_ arguments: String...) throws -> Any? {
        let answer = try Programs.start(
            Programs.folder.appendingPathComponent("bitgate").path,
            arguments + ["--json", "--socket", scratch.path + "/socket"], in: scratch
        ).wait()
        XCTAssertEqual(answer.status, 0, answer.errors)
        return try JSONSerialization.jsonObject(with: Data(answer.output.utf8))
    }

    func testMailAndLimitsTellNumbers() throws {
        let daemon = try start(try configuration())
        let mail = try XCTUnwrap((try json("mail") as? [String: Any])?["mail"] as? [String: Any])
        XCTAssertEqual(mail["enabled"] as? Bool, true)
        XCTAssertEqual(mail["working"] as? Bool, true)
        XCTAssertEqual(mail["using_relays"] as? Bool, false)
        XCTAssertEqual((mail["tiers"] as? [[String: Any]])?.map { $0["limit"] as? Int }, [200, 160])
        XCTAssertTrue(try bitgate("mail").output.hasPrefix("on, without relays: by hand only\n"))
        XCTAssertTrue(try bitgate("status").output.contains("\nmail      on, 0 of 200 letters waiting\n"))

        let limits = try XCTUnwrap((try json("limits") as? [String: Any])?["limits"] as? [[String: Any]])
        let parts = Set(limits.compactMap { $0["part"] as? String })
        XCTAssertEqual(parts, ["mesh", "gateway", "bridge", "mail", "relays", "storage"])
        for limit in limits {
            XCTAssertLessThanOrEqual(limit["used"] as? Int ?? 0, try XCTUnwrap(limit["limit"] as? Int), "\(limit)")
        }
        XCTAssertEqual(try bitgate("limits").output.split(separator: "\n").count, limits.count + 1)
        for line in try bitgate("limits").output.split(separator: "\n") { XCTAssertLessThanOrEqual(line.count, 80) }

        _ = try configuration("courier.enabled = false")
        kill(daemon.process.processIdentifier, SIGHUP)
        XCTAssertTrue(
            try Programs.eventually { try bitgate("mail").output.hasPrefix("off: no letters are taken in") })
        XCTAssertTrue(try bitgate("status").output.contains("\nmail      off\n"))
        XCTAssertEqual(daemon.stop().status, 0)
    }

    func testASixthPostIsRefusedWithItsReasonAndWhatIsListedAsOwnCanBeTakenDown() throws {
        let daemon = try start(try configuration())
        for number in 1...5 {
            XCTAssertEqual(try bitgate("board", "post", "note \(number)", "--place", "u4pruydq").status, 0)
        }
        let refused = try bitgate("board", "post", "note 6", "--place", "u4pruydq")
        XCTAssertNotEqual(refused.status, 0)
        XCTAssertTrue(refused.errors.contains("5 posts of this box are, as many as a board keeps"), refused.errors)
        let board = try bitgate("board").output
        XCTAssertEqual(board.components(separatedBy: ", its copy waits for a relay").count, 6, board)
        let posts = try XCTUnwrap(
            ((try json("board") as? [String: Any])?["posts"] as? [[String: Any]]))
        XCTAssertEqual(posts.compactMap { $0["copy"] as? String }, [String](repeating: "waiting", count: 5))
        for post in posts {
            XCTAssertEqual(post["own"] as? Bool, true)
            XCTAssertEqual(try bitgate("board", "remove", post["id"] as? String ?? "").status, 0)
        }
        XCTAssertEqual(try bitgate("board").output, "nothing is pinned\n")
        XCTAssertEqual(daemon.stop().status, 0)
    }

    func testThePostsOfTheBoardAreListedPinnedAndTakenDown() throws {
        let file = try configuration()
        var daemon = try start(file)
        XCTAssertEqual(try bitgate("board").output, "nothing is pinned\n")
        let pinned = try bitgate("board", "post", "water at the gate", "--days", "2", "--urgent")
        XCTAssertEqual(pinned.status, 0, pinned.errors)
        XCTAssertTrue(
            pinned.output.hasPrefix("box, 0 s ago, gone in 2 d, urgent, yours: ")
                || pinned.output.hasPrefix("box, 0 s ago, gone in 1 d 23 h, urgent, yours: "), pinned.output)
        XCTAssertTrue(pinned.output.hasSuffix("\n  water at the gate\n"), pinned.output)
        XCTAssertEqual(try bitgate("board", "post", "x", "--place", "u4pruydq").status, 0)

        // It stays over a restart.
        XCTAssertEqual(daemon.stop().status, 0)
        daemon = try start(file)
        let posts = try XCTUnwrap(
            ((try json("board", "list") as? [String: Any])?["posts"] as? [[String: Any]]))
        XCTAssertEqual(posts.map { $0["text"] as? String }, ["water at the gate", "x"])
        XCTAssertEqual(posts.map { $0["place"] as? String }, [nil, "u4pruydq"])
        let id = try XCTUnwrap(posts[0]["id"] as? String)
        XCTAssertEqual(try bitgate("board", "remove", id).status, 0)
        XCTAssertFalse(try bitgate("board").output.contains("water"))
        XCTAssertTrue(
            try bitgate("board", "remove", id).errors.contains("this box has pinned no such post"))
        for (arguments, status) in [
            (["post"], 64), (["post", "x", "--days", "9"], 64), (["tear"], 64),
        ] as [([String], Int32)] {
            let outcome = try Programs.start(
                Programs.folder.appendingPathComponent("bitgate").path, ["board"] + arguments, in: scratch
            ).wait()
            XCTAssertEqual(outcome.status, status, outcome.errors)
        }
        XCTAssertEqual(daemon.stop().status, 0)
    }
}
