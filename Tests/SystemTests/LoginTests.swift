import Foundation
import XCTest

/// What a login shell has of the package.
final class LoginTests: XCTestCase {
    private func bash(_ words: String, interactive: Bool = false) throws -> String {
        let scratch = try Scratch()
        let outcome = try Programs.start(
            "/bin/bash", (interactive ? ["--norc", "-i"] : []) + ["-c", words], in: scratch,
            environment: ["PATH": Programs.folder.path + ":/usr/bin:/bin"]
        ).wait()
        return outcome.output
    }

    func testTabCompletesCommandsAndWhatTheyTake() throws {
        for (words, number, word, expected) in [
            ("bitgate sta", 1, "sta", "status"), ("bitgate --v", 1, "--v", "--version"),
            ("bitgate clock s", 2, "s", "set"),
            ("bitgate panel --m", 2, "--m", "--markdown"), ("bitgate help wi", 2, "wi", "wipe"),
            ("bitgated --c", 1, "--c", "--config"),
        ] {
            let program = words.split(separator: " ")[0]
            let completed = try bash(
                """
                . etc/bash-completion/bitgate
                COMP_WORDS=(\(words)) COMP_CWORD=\(number)
                _bitgate \(program) \(word) \(words.split(separator: " ")[number - 1])
                echo "${COMPREPLY[*]}"
                """)
            XCTAssertTrue(
                completed.split(whereSeparator: { $0 == " " || $0 == "\n" }).contains(Substring(expected)), words)
        }
    }

    func testOnlyWhoMayAskTheBoxIsToldAtALoginAndNoScriptIs() throws {
        let greeting = "bitgate() { echo asked $*; }; timeout() { shift; \"$@\"; }; . etc/profile.d/bitgate.sh"
        XCTAssertEqual(try bash(greeting), "")
        let mayAsk = getuid() == 0 || FileManager.default.isExecutableFile(atPath: "/run/bitgate")
        XCTAssertEqual(try bash(greeting, interactive: true), mayAsk ? "asked status\n" : "")
    }
}
