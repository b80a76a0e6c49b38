import Basics
import EventLoop
import Glibc
import Station

/// `bitgate chat`: puts a peer on the air and joins it to the terminal or the pipe.
enum ChatProgram {
    static func run(_ arguments: [String]) throws -> Int32 {
        let arguments = try Arguments(
            arguments, flags: ["--trust-clock"],
            options: [
                "--radio", "--room", "--name", "--nick", "--state", "--bridge", "--relay", "--config", "--tor",
            ])
        try arguments.expectWords(atMost: 0)
        let options = try ChatOptions(arguments)
        CoreDumps.disable()
        signal(SIGPIPE, SIG_IGN)
        let loop: any EventLoop
        do { loop = try LibeventLoop() } catch { throw StationFault.system("\(error)") }
        let session = ChatSession(peer: try ChatPeer(options, loop: loop), loop: loop)
        for number in [SIGINT, SIGTERM, SIGHUP] { loop.onSignal(number) { session.peer.leave() } }
        return try session.run()
    }
}

/// One sitting: lines in, lines out, until the input ends or the person leaves.
final class ChatSession {
    let peer: ChatPeer
    private let loop: any EventLoop
    private var status = ExitStatus.ok

    init(peer: ChatPeer, loop: any EventLoop) {
        self.peer = peer
        self.loop = loop
    }

    func run() throws -> Int32 {
        peer.onEnd = { [loop] in loop.stop() }
        if LineEditor.isPossible {
            let editor = LineEditor(loop: loop)
            defer { editor.close() }
            peer.onLine = { editor.printAbove(ChatSession.drawing(of: $0, columns: editor.columns)) }
            editor.onComplete = { [peer] in peer.complete($0) }
            editor.onLine = { [peer] line in
                peer.enter(line)
                editor.prompt = peer.place + "> "
            }
            editor.onEnd = { [peer] in peer.leave() }
            try start()
            editor.open(prompt: peer.place + "> ")
            loop.run()
        } else {
            peer.onLine = { [weak self] in self?.print($0.text + "\n") }
            let pipe = PipeInput(loop: loop)
            let lines = PipedLines(peer: peer, loop: loop) { [weak self] in self?.nobodyCame(for: $0) }
            pipe.onLine = { lines.enter($0) }
            pipe.onEnd = { lines.end() }
            lines.onDemand = { [weak pipe] isThere in if isThere { pipe?.resume() } else { pipe?.pause() } }
            try start()
            pipe.start()
            loop.run()
        }
        return status
    }

    /// As a terminal shows it: codes so that a phone can read them, and as text for who can not.
    private static func drawing(of line: ChatLine, columns: Int) -> String {
        guard case .code(let code) = line, let drawing = QRCode.drawing(of: code, columns: columns) else {
            return line.text
        }
        return drawing + "\n" + line.text
    }

    private func start() throws(StationFault) {
        do { try peer.start() } catch { throw .radio(error, room: "--room", name: "--name") }
    }

    private func nobodyCame(for unsaid: Int) {
        let what = unsaid == 1 ? "a line was" : "\(unsaid) lines were"
        status = Output.fail(
            "nobody came into reach within \(Int(PipedLines.patience.seconds)) seconds: \(what) not said",
            ExitStatus.unavailable)
    }

    /// Nobody is listening to a peer whose output is gone: it leaves.
    private func print(_ text: String) {
        guard let error = Output.tryWrite(text), status == ExitStatus.ok else { return }
        status = ExitStatus.outputError
        // The reader of a pipe that has seen enough is no reason to complain.
        if error != EPIPE { _ = Output.fail("cannot write: \(SystemError.text(error))", status) }
        peer.leave()
    }
}
