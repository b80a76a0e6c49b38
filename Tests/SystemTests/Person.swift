import Foundation

/// Somebody at `bitgate chat`, in a room of the scratch folder.
final class Person {
    let running: Programs.Running
    private let input: Pipe

    init(_ name: String, _ more: [String] = [], room: String = "room", in scratch: Scratch) throws {
        input = Pipe()
        running = try Programs.start(
            Programs.folder.appendingPathComponent("bitgate").path,
            ["chat", "--room", scratch.path + "/" + room, "--name", name, "--state", scratch.path + "/state-" + name]
                + more,
            in: scratch, input: input)
    }

    var lines: [String] { running.output.text.split(separator: "\n").map(String.init) }
    func types(_ line: String) { input.fileHandleForWriting.write(Data((line + "\n").utf8)) }
    func sees(_ line: String, within seconds: Int = 10) -> Bool {
        Programs.eventually(within: seconds) { lines.contains(line) }
    }
    func leaves() -> Programs.Outcome {
        types("/quit")
        return running.wait()
    }
}
