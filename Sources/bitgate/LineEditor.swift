import Clibedit
import EventLoop
import Glibc

/// A line being edited at the bottom of a terminal, with other lines printed above it: libedit's callback interface on
/// the event loop. At most one is open at a time.
final class LineEditor {
    var onLine: ((String) -> Void)?
    /// Ctrl-D on an empty line.
    var onEnd: (() -> Void)?
    var prompt = "" {
        didSet {
            guard isEditing, prompt != oldValue else { return }
            rl_set_prompt(prompt)
            redraw()
        }
    }

    private static let historySize: Int32 = 200
    // The library calls back without a context; everything here runs on the one thread.
    nonisolated(unsafe) private static weak var current: LineEditor?

    private let loop: any EventLoop
    private var watch: (any Cancellable)?
    private var isOpen = false
    /// The line is on the screen: not while a finished one is being dealt with.
    private var isEditing = false

    init(loop: any EventLoop) { self.loop = loop }

    func open(prompt: String) {
        setlocale(LC_CTYPE, "")
        LineEditor.current = self
        libedit_leave_signals_alone()
        self.prompt = prompt
        isOpen = true
        beginLine()
        stifle_history(LineEditor.historySize)
        watch = loop.watch(STDIN_FILENO, .read) { _ in rl_callback_read_char() }
    }

    /// Gives the terminal back as it was.
    func close() {
        guard isOpen else { return }
        if isEditing { Output.write("\r\u{1B}[J") }
        isOpen = false
        isEditing = false
        watch?.cancel()
        rl_callback_handler_remove()
    }

    /// Prints a line where the edited one stands, which moves down.
    func printAbove(_ line: String) {
        Output.write((isEditing ? "\r\u{1B}[J" : "") + line + "\n")
        if isEditing { redraw() }
    }

    /// The library leaves its callback mode with each finished line; installing the handler brings it back.
    private func beginLine() {
        rl_callback_handler_install(prompt) { LineEditor.current?.entered($0) }
        isEditing = true
    }

    private func redraw() {
        rl_on_new_line()
        rl_forced_update_display()
    }

    private func entered(_ text: UnsafeMutablePointer<CChar>?) {
        isEditing = false
        if let text {
            let line = String(cString: text)
            if !line.isEmpty { add_history(text) }
            free(text)
            onLine?(line)
        } else {
            onEnd?()
        }
        if isOpen { beginLine() }
    }
}
