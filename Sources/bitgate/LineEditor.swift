import Clibedit
import EventLoop
import Glibc
import Station

/// A line being edited at the bottom of a terminal, with other lines printed above it: libedit's callback interface on
/// the event loop. At most one is open at a time.
final class LineEditor {
    var onLine: ((String) -> Void)?
    /// Given what stands before the cursor: what to insert there, and what to choose from where that is not all.
    var onComplete: ((String) -> (insertion: String, choices: [String]))?
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
    /// Whether the prompt and what has been typed are on the screen.
    private var isEditing = false

    /// Whether both ends are a terminal that can move its cursor.
    static var isPossible: Bool {
        let kind = getenv("TERM").map { String(cString: $0) } ?? ""
        return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && kind != "" && kind != "dumb"
    }

    init(loop: any EventLoop) { self.loop = loop }

    func open(prompt: String) {
        LineEditor.useUTF8()
        LineEditor.current = self
        libedit_leave_signals_alone()
        self.prompt = prompt
        isOpen = true
        edit()
        // The library's own completion would list the files of the directory.
        rl_add_defun("complete-line", { _, _ in LineEditor.current?.complete() ?? 0 }, 9)
        stifle_history(LineEditor.historySize)
        watch = loop.watch(STDIN_FILENO, .read) { _ in rl_callback_read_char() }
        loop.onSignal(SIGWINCH) { [weak self] in self?.resized() }
        loop.onSignal(SIGTSTP) { [weak self] in self?.stopped() }
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
        guard isEditing else { return Output.write(line + "\n") }
        clear()
        Output.write(line + "\n")
        redraw()
    }

    var columns: Int {
        var height: Int32 = 0
        var width: Int32 = 0
        rl_get_screen_size(&height, &width)
        return Int(width)
    }

    private var typed: String {
        let typed = UnsafeRawBufferPointer(start: libedit_line(), count: max(0, Int(libedit_cursor())))
        return String(decoding: typed, as: UTF8.self)
    }

    private func complete() -> Int32 {
        guard let (insertion, choices) = onComplete?(typed) else { return 0 }
        if !choices.isEmpty { printAbove(choices.joined(separator: " ")) }
        if !insertion.isEmpty {
            clear()
            rl_insert_text(insertion)
            redraw()
        }
        return 0
    }

    /// Text is UTF-8 on the mesh and here, also where the login did not say so.
    private static func useUTF8() {
        setlocale(LC_CTYPE, "")
        if String(cString: nl_langinfo(Int32(CODESET))) != "UTF-8" { setlocale(LC_CTYPE, "C.UTF-8") }
    }

    private func edit() {
        isEditing = true
        rl_callback_handler_install(prompt) { LineEditor.current?.entered($0) }
    }

    /// Removes the edited line from the screen, all its rows.
    private func clear() {
        let row = TerminalCursor.row(
            after: prompt + typed, columns: columns,
            width: { Int(libedit_width(wchar_t($0.value))) })
        Output.write((row > 0 ? "\u{1B}[\(row)A" : "") + "\r\u{1B}[J")
    }

    private func redraw() {
        rl_on_new_line()
        rl_forced_update_display()
    }

    private func resized() {
        guard isEditing else { return }
        // A narrower terminal has wrapped the line again.
        rl_resize_terminal()
        clear()
        redraw()
    }

    /// Ctrl-Z: gives the terminal to the shell, and takes it back when in the foreground again.
    private func stopped() {
        guard isEditing else { return }
        clear()
        rl_deprep_terminal()
        kill(getpid(), SIGSTOP)
        rl_prep_terminal(1)
        redraw()
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
        // The library leaves its callback mode with each finished line; installing the handler brings it back.
        if isOpen { edit() }
    }
}
