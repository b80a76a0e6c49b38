import Basics
import EventLoop
import Foundation
import Radio
import Wire
import XCTest

/// A wipe as an operator does it, looked at from outside: the process' memory, the files and the air.
final class WipeTests: XCTestCase {
    private var scratch: Scratch!
    private static let name = "the-lantern-pub"
    private static let cell = "ezs42e"
    private static let secretText = "meet behind the old boathouse at nine"

    override func setUpWithError() throws { scratch = try Scratch() }
    override func tearDown() { scratch = nil }

    private var state: String { scratch.path + "/state" }
    private var socket: String { scratch.path + "/socket" }

    private func configuration(_ more: String = "") throws -> String {
        try scratch.write(
            """
            nickname = "\(WipeTests.name)"
            state_directory = "\(state)"
            control_socket = "\(socket)"
            radio.kind = "air"
            air.room = "\(scratch.path)/room"
            panic.marker_directory = "\(scratch.path)"
            clock.trust_system = true
            location.cell = "\(WipeTests.cell)"
            \(more)
            """, as: "c.toml")
    }

    private func start(_ file: String) throws -> Programs.Running {
        let running = try Programs.start(
            Programs.folder.appendingPathComponent("bitgated").path, ["--config", file], in: scratch)
        XCTAssertTrue(try Programs.eventually { try status() != nil }, running.errors.text)
        return running
    }

    private func status() throws -> [String: Any]? {
        let answer = try Programs.run("bitgate", "status", "--json", "--socket", socket, in: scratch)
        guard answer.status == 0 else { return nil }
        let top = try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any]
        return top?["status"] as? [String: Any]
    }

    private func records() throws -> Int { (try status()?["storage"] as? [String: Any])?["records"] as? Int ?? 0 }

    private func messagesHeard() throws -> Int {
        let answer = try Programs.run("bitgate", "counters", "--json", "--socket", socket, in: scratch)
        let top = try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any]
        let mesh = (top?["counters"] as? [String: Any])?["mesh"] as? [String: Int]
        return try XCTUnwrap(mesh?["messages_delivered"])
    }

    /// Somebody in the room who says this and leaves.
    private func say(_ text: String, as name: String) throws {
        let input = Pipe()
        let person = try Programs.start(
            Programs.folder.appendingPathComponent("bitgate").path,
            ["chat", "--room", scratch.path + "/room", "--name", name], in: scratch, input: input)
        XCTAssertTrue(Programs.eventually { person.output.text.contains(" came") }, person.errors.text)
        let heard = try messagesHeard()
        input.fileHandleForWriting.write(Data((text + "\n").utf8))
        XCTAssertTrue(try Programs.eventually { try messagesHeard() > heard }, person.errors.text)
        try input.fileHandleForWriting.close()
        XCTAssertEqual(person.wait().status, 0)
    }

    private func files() throws -> Data {
        var all = Data()
        for name in try FileManager.default.subpathsOfDirectory(atPath: scratch.path) where !name.hasPrefix("out-") {
            all += Data(name.utf8) + (FileManager.default.contents(atPath: scratch.path + "/" + name) ?? Data())
        }
        return all
    }

    /// Everything a process can read of itself.
    private func memory(of process: Int32) throws -> Data {
        guard let maps = try? String(contentsOfFile: "/proc/\(process)/maps", encoding: .utf8) else {
            throw XCTSkip("/proc/\(process)/maps cannot be read")
        }
        let file = open("/proc/\(process)/mem", O_RDONLY)
        guard file >= 0 else { throw XCTSkip("the memory of another process cannot be read here") }
        defer { close(file) }
        var all = Data()
        for line in maps.split(separator: "\n") {
            let words = line.split(separator: " ")
            let range = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            guard range.count == 2, words[1].hasPrefix("r"), words.last != "[vvar]", words.last != "[vsyscall]" else {
                continue
            }
            var buffer = [UInt8](repeating: 0, count: Int(range[1] - range[0]))
            let count = pread(file, &buffer, buffer.count, off_t(range[0]))
            if count > 0 { all.append(contentsOf: buffer.prefix(count)) }
        }
        return all
    }

    private func wipe() throws -> Programs.Outcome {
        try Programs.run("bitgate", "wipe", "--yes", "destroy", "--socket", socket, in: scratch)
    }

    func testAfterAWipeNothingIsLeftInFilesInMemoryOrOnTheAir() throws {
        let file = try configuration()
        let daemon = try start(file)
        try say(WipeTests.secretText, as: "bertha")
        let peer = try XCTUnwrap(try status()?["peer"] as? String)
        let key = try XCTUnwrap(FileManager.default.contents(atPath: state + "/master.key"))
        let sealed = try XCTUnwrap(FileManager.default.contents(atPath: state + "/identity.sealed"))
        let pid = daemon.process.processIdentifier
        // The search must be able to find what it looks for.
        let before = try memory(of: pid)
        for needle in [WipeTests.secretText, WipeTests.name, WipeTests.cell, "bertha"] {
            XCTAssertNotNil(before.range(of: Data(needle.utf8)), needle)
        }

        let outcome = try wipe()
        XCTAssertEqual(outcome.status, 0, outcome.output + outcome.errors + daemon.errors.text)
        XCTAssertTrue(outcome.output.hasPrefix("wiped"), outcome.output)
        XCTAssertTrue(daemon.process.isRunning, "the same process goes on")
        let after = try XCTUnwrap(try status())
        let newPeer = try XCTUnwrap(after["peer"] as? String)
        XCTAssertNotEqual(newPeer, peer)

        let frames = try listen(for: "anon")
        XCTAssertFalse(frames.isEmpty, "the new identity announces itself")
        var texts = [WipeTests.secretText, WipeTests.name, "bertha", peer, WipeTests.cell].map { Data($0.utf8) }
        texts += [key, Data(key.map { String(format: "%02x", $0) }.joined().utf8), sealed.suffix(48)]
        texts.append(
            Data(
                stride(from: 0, to: 16, by: 2).map { offset in
                    let start = peer.index(peer.startIndex, offsetBy: offset)
                    return UInt8(peer[start..<peer.index(start, offsetBy: 2)], radix: 16) ?? 0
                }))
        for (place, bytes) in [("files", try files()), ("memory", try memory(of: pid)), ("air", frames)] {
            for (index, text) in texts.enumerated() {
                XCTAssertNil(bytes.range(of: text), "\(place): needle \(index)")
            }
        }
        XCTAssertNotNil(frames.range(of: Data("anon".utf8)), "under a name nobody chose")
        let report = try Programs.run("bitgate", "wipe", "--status", "--socket", socket, in: scratch)
        XCTAssertEqual(report.status, 0)
        XCTAssertEqual(daemon.stop().status, 0)
    }

    /// Where nothing takes a note, the process that knows has to be a fresh one: seized, it tells what the card does.
    func testAWipeThatIsNotedNowhereLeavesNothingInMemoryAndKeepsTheBoxOffTheAir() throws {
        let file = try configuration("panic.helper = \"none\"")
        let daemon = try start(file)
        try say(WipeTests.secretText, as: "bertha")
        let pid = daemon.process.processIdentifier
        XCTAssertNotNil(try memory(of: pid).range(of: Data(WipeTests.secretText.utf8)))
        let marker = "/bitgate-wiping-" + Hex.encode(SHA256.hash(Array(state.utf8)).prefix(4))
        // Every place a marker is written in, and the configuration.
        let obstacles = [file + ".new", state + "/wiping.new", scratch.path + marker + ".new"]
        for path in obstacles {
            // Deeper than a wipe goes.
            try FileManager.default.createDirectory(
                atPath: path + String(repeating: "/x", count: 12), withIntermediateDirectories: true)
        }

        let outcome = try wipe()
        XCTAssertEqual(outcome.status, 1, outcome.output + daemon.errors.text)
        XCTAssertTrue(daemon.process.isRunning, "the same process goes on")
        XCTAssertEqual(try Programs.run("bitgate", "mail", "--socket", socket, in: scratch).status, 76)
        XCTAssertNil(try memory(of: pid).range(of: Data(WipeTests.secretText.utf8)))
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: scratch.path + "/room"), [])
        for path in obstacles { try FileManager.default.removeItem(atPath: path) }
        XCTAssertEqual(try wipe().status, 0, daemon.errors.text)
        XCTAssertNotNil(try status())
        XCTAssertEqual(daemon.stop().status, 0)
    }

    /// All frames a newcomer to the room hears until one holds this text, and for a second after it.
    private func listen(for text: String) throws -> Data {
        final class Ear: LinkPortDelegate {
            var frames = Data()
            var onFrame: (() -> Void)?
            func linkUp(_ link: LinkID, role: LinkRole, frameLimit: Int, neighbour: UInt64?) {}
            func linkChanged(_ link: LinkID, frameLimit: Int) {}
            func linkReceived(_ frame: UnsafeRawBufferPointer, on link: LinkID) {
                frames.append(contentsOf: frame)
                onFrame?()
            }
            func linkDown(_ link: LinkID) {}
            func peer(on link: LinkID) -> PeerID? { nil }
            func provenPeer(on link: LinkID) -> PeerID? { nil }
        }
        let loop = try LibeventLoop()
        let name = try XCTUnwrap(AirName("ear"))
        let air = VirtualAir(
            loop: loop, configuration: VirtualAirConfiguration(room: scratch.path + "/room", name: name))
        let ear = Ear()
        air.delegate = ear
        try air.start()
        ear.onFrame = { [unowned ear] in
            guard ear.frames.range(of: Data(text.utf8)) != nil else { return }
            ear.onFrame = nil
            loop.schedule(after: .seconds(1)) { loop.stop() }
        }
        loop.schedule(after: .seconds(20)) { loop.stop() }
        loop.run()
        air.stop()
        return ear.frames
    }

    func testAKilledDaemonServesItsHistoryAgainAndHasTheSameIdentity() throws {
        let file = try configuration("storage = \"persistent\"")
        let first = try start(file)
        let peer = try status()?["peer"] as? String
        try say("before the power cut", as: "bertha")
        // Archived within 30 s and gathered for 60 s: too long to wait for here. A stop writes at once.
        XCTAssertEqual(first.stop().status, 0)
        let second = try start(file)
        XCTAssertGreaterThanOrEqual(try records(), 2, "message and pinned identity")
        _ = second.stop(SIGKILL)
        let third = try start(file)
        XCTAssertGreaterThanOrEqual(try records(), 2)
        XCTAssertEqual(try status()?["peer"] as? String, peer)
        XCTAssertEqual(third.stop().status, 0)
        XCTAssertNil(try files().range(of: Data("before the power cut".utf8)), "sealed")
    }

    func testAWipeThatWasCutShortIsCompletedBeforeTheRadioOpens() throws {
        let file = try configuration()
        let first = try start(file)
        let peer = try status()?["peer"] as? String
        _ = first.stop(SIGKILL)
        XCTAssertTrue(FileManager.default.createFile(atPath: state + "/wiping", contents: Data("panic".utf8)))
        chmod(state + "/wiping", 0o600)
        let second = try start(file)
        XCTAssertNotEqual(try status()?["peer"] as? String, peer)
        XCTAssertEqual(
            try Programs.run("bitgate", "wipe", "--status", "--socket", socket, in: scratch).output.prefix(5), "wiped")
        XCTAssertEqual(
            try Programs.run("bitgate", "wipe", "--acknowledge", "--socket", socket, in: scratch).status, 0)
        XCTAssertEqual(try Programs.run("bitgate", "wipe", "--provision", "--socket", socket, in: scratch).status, 0)
        XCTAssertTrue(
            try Programs.eventually { try status()?["nickname"] as? String == "gate-" + (peerNow().prefix(4)) },
            "the emptied file counts again")
        XCTAssertEqual(second.stop().status, 0)
    }

    private func peerNow() throws -> String { try status()?["peer"] as? String ?? "" }

    func testAWipeThatCannotCompleteSaysSoAndKeepsTheBoxOffTheAir() throws {
        let file = try configuration()
        let first = try start(file)
        _ = first.stop()
        try FileManager.default.createDirectory(
            atPath: state + "/wiping/stuck", withIntermediateDirectories: true)
        let second = try Programs.start(
            Programs.folder.appendingPathComponent("bitgated").path, ["--config", file], in: scratch)
        XCTAssertTrue(
            try Programs.eventually {
                try Programs.run("bitgate", "wipe", "--status", "--socket", socket, in: scratch).status == 1
            })
        XCTAssertEqual(try Programs.run("bitgate", "status", "--socket", socket, in: scratch).status, 76)
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: scratch.path + "/room"), [])
        let outcome = try wipe()
        XCTAssertEqual(outcome.status, 1)
        XCTAssertTrue(outcome.output.contains("INCOMPLETE"), outcome.output)
        try FileManager.default.removeItem(atPath: state + "/wiping")
        XCTAssertEqual(try wipe().status, 0)
        XCTAssertNotNil(try status())
        XCTAssertEqual(second.stop().status, 0)
    }

    func testAWipeIsNotBegunByAccident() throws {
        let daemon = try start(try configuration())
        let peer = try peerNow()
        for arguments in [[], ["--yes", "yes"], ["--yes"], ["destroy"], ["--status", "--yes", "destroy"], ["--json"]] {
            let outcome = try Programs.start(
                Programs.folder.appendingPathComponent("bitgate").path, ["wipe", "--socket", socket] + arguments,
                in: scratch
            ).wait()
            XCTAssertEqual(outcome.status, 64, "\(arguments)")
        }
        XCTAssertEqual(try peerNow(), peer)
        XCTAssertEqual(daemon.stop().status, 0)
        XCTAssertEqual(try wipe().status, 69)
    }
}
