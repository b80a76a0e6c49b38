import Foundation
import Station
import TestSupport
import XCTest

/// Lessons 44 and 45 with real processes and a real relay: programs that are killed, without a chance to tidy up, and
/// started again. A witness between them and the relay says what went by.
final class RestartTests: XCTestCase {
    private static let restarts = 20
    private static let backlog = 100

    private var scratch: Scratch!
    private var python = ""
    private var relay: Programs.Running?
    private var witness: Programs.Running?
    private var listener: Programs.Running?

    override func setUpWithError() throws {
        try TorStage.requireRelays()
        python = TorStage.python
        scratch = try Scratch()
        relay = try Programs.start(python, ["deploy/lib/relay.py", "rust", "0"], in: scratch)
    }

    override func tearDown() {
        for running in [listener, witness, relay].compactMap({ $0 }) where running.process.isRunning {
            _ = running.stop()
        }
        scratch = nil
    }

    private func port(of running: Programs.Running?) throws -> Int {
        let running = try XCTUnwrap(running)
        XCTAssertTrue(Programs.eventually { running.output.text.contains("ready ") }, running.errors.text)
        let text = running.output.text.split(separator: "\n").first { $0.hasPrefix("ready ") } ?? ""
        return try XCTUnwrap(text.split(separator: ":").last.flatMap { Int($0) })
    }

    private func startWitness(at place: Int = 0) throws -> Int {
        witness = try Programs.start(
            python, ["Tests/Netlab/witness.py", "\(place)", "\(try port(of: relay))"], in: scratch)
        return try port(of: witness)
    }

    /// What the witness has said so far.
    private struct Testimony {
        var events: [(id: Substring, time: Double)] = []
        var answered: Set<Substring> = []
        /// Published although the process before, or this one, had the relay's answer.
        var repeated: [Substring] = []
        var left = 0
        var held = 0

        init(_ text: String) {
            for line in text.split(separator: "\n").filter({ !$0.hasPrefix("ready") }) {
                let words = line.split(separator: " ")
                switch words.first {
                case "event" where words.count == 4:
                    if answered.contains(words[1]) { repeated.append(words[1]) }
                    events.append((words[1], Double(words[2]) ?? 0))
                case "ok" where words.count == 3: answered.insert(words[1])
                case "left": left += 1
                case "held": held += 1
                default: break
                }
            }
        }
    }

    private var testimony: Testimony { Testimony(witness?.output.text ?? "") }

    /// The clock the witness reads.
    private var uptime: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    /// Kills the process and waits until all it has sent has come in.
    private func kill(_ process: Programs.Running) {
        let left = testimony.left
        _ = process.stop(SIGKILL)
        XCTAssertTrue(Programs.eventually { testimony.left > left })
    }

    /// A process sends nothing in its first second, since the one before it may have sent three events in its last, and
    /// three a second after that. Whatever is late on the way makes the times seen later, never earlier.
    private func assertPace(_ events: [(id: Substring, time: Double)], since launched: Double, line: UInt = #line) {
        for (index, event) in events.enumerated() {
            XCTAssertGreaterThanOrEqual(event.time - launched, Double(1 + index / 3), "\(index)", line: line)
        }
    }

    // MARK: What goes out

    private var control: ControlClient { ControlClient(path: scratch.path + "/control") }

    private func startDaemon(_ relay: Int) throws -> Programs.Running {
        let file = try scratch.write(
            """
            state_directory = "\(scratch.path)/state"
            control_socket = "\(scratch.path)/control"
            radio.kind = "air"
            air.room = "\(scratch.path)/room"
            location.cell = "u4pruy"
            nostr.relays = ["ws://127.0.0.1:\(relay)"]
            nostr.use_builtin_relays = false
            network.tor = "off"
            clock.trust_system = true
            """, as: "gate.toml")
        return try Programs.start(
            Programs.folder.appendingPathComponent("bitgated").path, ["--config", file], in: scratch)
    }

    func testABacklogIsPublishedOnceAndSlowlyByADaemonThatIsKilledTwentyTimes() throws {
        listener = try Programs.start(
            python, ["deploy/lib/listen.py", "ws://127.0.0.1:\(try port(of: relay))", "1"], in: scratch)
        XCTAssertTrue(Programs.eventually { listener?.output.text.contains("listening") ?? false })
        // Nobody is there yet.
        let place = try TorNetwork.freePort()
        var daemon = try startDaemon(place)
        XCTAssertTrue(Programs.eventually { (try? control.line("ping")) != nil }, daemon.errors.text)
        let texts = (0...RestartTests.backlog).map { "note number \($0)." }
        for text in texts {
            let request = NoteRequest(place: "u4pruydq", hours: 24, isUrgent: false, text: text)
            _ = try control.ask("note_post", for: NotesReport.self, argument: request.argument)
        }
        XCTAssertTrue(
            Programs.eventually {
                (try? control.ask("status", for: StatusReport.self))?.storage.waitingBytes == 0
            })
        _ = daemon.stop(SIGKILL)
        XCTAssertEqual(try startWitness(at: place), place)

        var random = SystemRandomNumberGenerator()
        var published = 0
        for round in 1...RestartTests.restarts {
            let launched = uptime
            daemon = try startDaemon(place)
            let share = texts.count * round / RestartTests.restarts
            XCTAssertTrue(Programs.eventually { testimony.events.count >= share }, daemon.errors.text)
            usleep(useconds_t.random(in: 0...300_000, using: &random))
            kill(daemon)
            let events = testimony.events
            assertPace(Array(events[published...]), since: launched)
            published = events.count
        }
        daemon = try startDaemon(place)
        XCTAssertTrue(Programs.eventually { testimony.answered.count == texts.count }, daemon.errors.text)
        XCTAssertTrue(
            Programs.eventually {
                (try? control.ask("notes", for: NotesReport.self, argument: "u4pruydq"))?.unconfirmed == 0
            })
        XCTAssertEqual(daemon.stop().status, 0)

        let end = testimony
        XCTAssertEqual(end.repeated, [], "published again although its OK was there")
        XCTAssertEqual(Set(end.events.map(\.id)).count, texts.count, "each is one event, whoever publishes it")
        for text in texts {
            let seen = listener?.output.text.split(separator: "\n").count { $0.contains("\"\(text)\"") }
            XCTAssertEqual(seen, 1, text)
        }
    }

    // MARK: What comes in

    private struct Stuck: Error {
        let lines: [String]
    }

    private func person(_ name: String, _ relay: Int) throws -> Person {
        try Person(
            name, ["--relay", "ws://127.0.0.1:\(relay)", "--tor", "off", "--trust-clock"], room: "room-" + name,
            in: scratch)
    }

    private func code(of person: Person) throws -> String {
        person.types("/verify")
        XCTAssertTrue(Programs.eventually { person.lines.contains { $0.hasPrefix("bitchat://verify?") } })
        return try XCTUnwrap(person.lines.last { $0.hasPrefix("bitchat://verify?") })
    }

    func testMailIsShownOnceAndAnsweredSlowlyByAReaderWhoIsKilledTwentyTimes() throws {
        let anna = try person("anna", try port(of: relay))
        let place = try startWitness()
        var bella = try person("bella", place)
        let codes = (try code(of: anna), try code(of: bella))
        anna.types("/add " + codes.1)
        bella.types("/add " + codes.0)
        XCTAssertTrue(anna.sees("* bella made you a favourite"), "\(anna.lines)")
        XCTAssertTrue(bella.sees("* anna made you a favourite"), "\(bella.lines)")
        // What a person decides may take two seconds to reach the disk.
        XCTAssertEqual(bella.leaves().status, 0)

        // They come while she starts again and again; each time the relay has them all for her.
        var written = 0
        var shown: [String: Int] = [:]
        var published = testimony.events.count
        func read() throws {
            while written < RestartTests.backlog, written < shown.count + 5 {
                written += 1
                anna.types("/msg bella letter \(written).")
            }
            let launched = uptime
            let known = Set(shown.keys)
            bella = try person("bella", place)
            let isNews = Programs.eventually {
                bella.lines.contains { $0.hasPrefix("[private]") && !known.contains($0) }
                    || known.count == RestartTests.backlog && bella.lines.contains("* a relay is connected")
            }
            guard isNews else { throw Stuck(lines: bella.lines + anna.lines.suffix(3)) }
            let held = testimony.held
            Foundation.kill(try XCTUnwrap(witness).process.processIdentifier, SIGUSR1)
            XCTAssertTrue(Programs.eventually { testimony.held > held })
            kill(bella.running)
            for line in bella.lines where line.hasPrefix("[private]") { shown[line, default: 0] += 1 }
            let events = testimony.events
            assertPace(Array(events[published...]), since: launched)
            published = events.count
        }
        for _ in 1...RestartTests.restarts { try read() }
        for _ in 1...60 where shown.count < RestartTests.backlog { try read() }
        XCTAssertEqual(
            Set(shown.keys), Set((1...RestartTests.backlog).map { "[private] <anna> letter \($0)." }), "nothing is lost"
        )
        XCTAssertEqual(shown.filter { $0.value > 1 }, [:], "each once")
        XCTAssertEqual(anna.leaves().status, 0)
    }
}
