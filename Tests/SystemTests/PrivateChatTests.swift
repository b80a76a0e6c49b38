import Foundation
import XCTest

/// People in a room of virtual air who hear each other only through a third.
final class PrivateChatTests: XCTestCase {
    private var scratch: Scratch!

    override func setUpWithError() throws { scratch = try Scratch() }
    override func tearDown() { scratch = nil }

    func testTwoPeopleTalkInPrivateAcrossAThirdVerifyEachOtherAndBlock() throws {
        try FileManager.default.createDirectory(atPath: scratch.path + "/room", withIntermediateDirectories: true)
        _ = try scratch.write("anna mid\nmid bob\n", as: "room/range")
        let mid = try Person("mid", in: scratch)
        let anna = try Person("anna", in: scratch)
        let bob = try Person("bob", in: scratch)
        XCTAssertTrue(anna.sees("* bob came"), "\(anna.lines)")
        XCTAssertTrue(bob.sees("* anna came"), "\(bob.lines)")

        for person in [anna, bob] { XCTAssertTrue(person.sees("* mid came"), "\(person.lines)") }
        anna.types("/msg bob the key is under the stone")
        XCTAssertTrue(bob.sees("[private] <anna> the key is under the stone"), "\(bob.lines)")
        for state in ["sent", "delivered", "read"] { XCTAssertTrue(anna.sees("* 1 to bob: \(state)"), "\(anna.lines)") }

        for (verified, verifier, name) in [(bob, anna, "bob"), (anna, bob, "anna")] {
            verified.types("/verify")
            XCTAssertTrue(Programs.eventually { verified.lines.contains { $0.hasPrefix("bitchat://verify?") } })
            verifier.types("/verify " + (verified.lines.first { $0.hasPrefix("bitchat://verify?") } ?? ""))
            XCTAssertTrue(verifier.sees("* \(name) is verified"), "\(verifier.lines)")
        }
        bob.types("/msg anna I have it")
        XCTAssertTrue(anna.sees("[private, verified] <bob> I have it"), "\(anna.lines)")

        anna.types("/block bob")
        XCTAssertTrue(anna.sees("* bob is blocked"))
        bob.types("/msg anna one more thing")
        XCTAssertTrue(bob.sees("* 2 to anna: sent"), "\(bob.lines)")
        mid.types("/msg anna still there?")
        XCTAssertTrue(anna.sees("[private] <mid> still there?"), "\(anna.lines)")
        XCTAssertFalse(anna.lines.contains { $0.contains("one more thing") })
        XCTAssertFalse(bob.lines.contains("* 2 to anna: delivered"))

        XCTAssertEqual(bob.leaves().status, 0)
        XCTAssertTrue(bob.lines.last?.hasPrefix("! a private message is not known to have arrived") ?? false)
        for person in [anna, mid] {
            let end = person.leaves()
            XCTAssertEqual(end.status, 0, end.errors)
            XCTAssertEqual(end.errors, "")
        }
        for text in ["the key", "I have it", "one more thing"] {
            XCTAssertFalse(mid.lines.contains { $0.contains(text) }, text)
        }
    }

    func testABlockIsStillThereAfterARestartAndNothingIsReadableOnTheDisk() throws {
        let bob = try Person("bob", in: scratch)
        var anna = try Person("anna", in: scratch)
        XCTAssertTrue(anna.sees("* bob came"), "\(anna.lines)")
        anna.types("/block bob")
        XCTAssertTrue(anna.sees("* bob is blocked"))
        XCTAssertEqual(anna.leaves().status, 0)
        anna = try Person("anna", in: scratch)
        anna.types("/who")
        XCTAssertTrue(anna.sees("*   bob (blocked)"), "\(anna.lines)")
        bob.types("/msg anna let me in")
        XCTAssertTrue(bob.sees("* 1 to anna: sent"), "\(bob.lines)")
        anna.types("/unblock bob")
        XCTAssertTrue(anna.sees("* bob is not blocked any more"))
        XCTAssertEqual(bob.leaves().status, 0)
        XCTAssertEqual(anna.leaves().status, 0)
        XCTAssertFalse(anna.lines.contains { $0.contains("let me in") })
        for file in try FileManager.default.contentsOfDirectory(atPath: scratch.path + "/state-anna") {
            let bytes = FileManager.default.contents(atPath: scratch.path + "/state-anna/" + file) ?? Data()
            XCTAssertNil(bytes.range(of: Data("bob".utf8)), file)
        }
    }

    /// A peer that types and leaves waits for the receipt of what it wrote.
    func testAPipedPrivateMessageArrivesBeforeItsWriterLeaves() throws {
        let bob = try Person("bob", in: scratch)
        let room = scratch.path + "/room"
        XCTAssertTrue(
            Programs.eventually { (try? FileManager.default.contentsOfDirectory(atPath: room))?.isEmpty == false })
        let program = Programs.folder.appendingPathComponent("bitgate").path
        let outcome = try Programs.start(
            "/bin/sh",
            ["-c", "echo /msg bob hello | \(program) chat --room \(scratch.path)/room --name ann"], in: scratch
        ).wait()
        XCTAssertEqual(outcome.status, 0, outcome.errors)
        XCTAssertTrue(outcome.output.hasSuffix("* 1 to bob: delivered\n* 1 to bob: read\n"), outcome.output)
        XCTAssertTrue(bob.sees("[private] <ann> hello"), "\(bob.lines)")
        XCTAssertEqual(bob.leaves().status, 0)
    }
}
