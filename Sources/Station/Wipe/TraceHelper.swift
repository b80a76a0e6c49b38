import EventLoop
import Glibc
import Vault

/// What does the part of a wipe that the daemon may not: it removes journal, Tor's client data, and the caches of the
/// system's Bluetooth service (chapter 06 §11.5 G), and keeps a note on the boot partition where the daemon's own
/// cannot be written. It runs as root, started by the service manager when a file appears, and is told nothing else.
struct TraceHelper {
    /// Milliseconds; longer than `bitgate-erase.service` may take, and `bitgate-boot.service`.
    static let patience = (erasing: 45_000, boot: 25_000)
    /// How often the service manager is told that a process that waits is alive, in milliseconds: a wipe of up to four
    /// waits is not to be ended half-way by a watchdog.
    static let feeding = 1_000
    private static let answerLimit = 4_096

    /// `nil`: there is none, by configuration.
    let folder: String?
    /// Whether the note on the boot partition is this box's.
    var keepsNote = true
    /// Lets so many milliseconds pass, and returns them.
    var pause: () -> Int
    /// Tells that the process lives.
    var alive: () -> Void = {}

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Nil where no helper is installed: there is nothing to ask.
    private var present: String? { folder.flatMap { access($0, F_OK) == 0 ? $0 : nil } }

    /// Asks, and waits until it is done.
    /// - Parameter settings: also what tells who runs the box: copies of the configuration, bridges, and what lies
    ///   on the boot partition.
    func erase(settings: Bool) throws {
        guard let folder = present else { return }
        let boot = Result { if settings { try clearBoot(folder) } }
        let also = folder + "/ask/settings"
        if settings { try put(also) } else { unlink(also) }
        try ask(folder, "now", within: TraceHelper.patience.erasing, unit: "bitgate-erase.path")
        let answer = try read(folder + "/outcome")
        guard answer == "ok" else { throw Failure(description: "left behind: \(answer)") }
        try boot.get()
    }

    private func clearBoot(_ folder: String) throws {
        try ask(folder, "clear", within: TraceHelper.patience.boot, unit: "bitgate-boot.path")
        guard access(folder + "/uncleared", F_OK) != 0 else {
            throw Failure(description: "left behind: files on the boot partition")
        }
    }

    enum Note: Equatable { case absent, present, unknown }

    /// Whether the boot partition has the note of a wipe of this box. Where it cannot be read, that is not known.
    var note: Note {
        guard keepsNote, let folder else { return .absent }
        if access(folder + "/pending", F_OK) == 0 { return .present }
        return access(folder + "/unknown", F_OK) == 0 ? .unknown : .absent
    }

    /// Asks for a note of a wipe on the boot partition, and does not wait for it.
    func requestNote() throws {
        guard keepsNote, let folder = present else { throw Failure(description: "no helper takes a note of this box") }
        try put(folder + "/ask/note")
    }

    /// Waits until the note that was asked for is there, or cannot be had.
    func takesNote() -> Bool {
        guard let folder = present else { return false }
        try? wait(folder, "note", within: TraceHelper.patience.boot, unit: "bitgate-boot.path")
        return note == .present
    }

    /// Takes the note away, and looks whether it is gone.
    func forget() throws {
        guard note != .absent, let folder else { return }
        try ask(folder, "forget", within: TraceHelper.patience.boot, unit: "bitgate-boot.path")
        switch note {
        case .absent: return
        case .present: throw Failure(description: "the note on the boot partition cannot be taken away")
        case .unknown:
            throw Failure(description: "the boot partition cannot be read: it is not known whether it has a note")
        }
    }

    private func put(_ path: String) throws {
        let raw = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard raw >= 0 else { throw SystemError.last("open", subject: path) }
        close(raw)
    }

    private func ask(_ folder: String, _ what: String, within limit: Int, unit: String) throws {
        try put(folder + "/ask/" + what)
        try wait(folder, what, within: limit, unit: unit)
    }

    private func wait(_ folder: String, _ what: String, within limit: Int, unit: String) throws {
        let request = folder + "/ask/" + what
        var waited = 0
        var fed = -TraceHelper.feeding
        while access(request, F_OK) == 0 {
            guard waited < limit else {
                unlink(request)
                throw Failure(description: "no response to \(request): is \(unit) running?")
            }
            if waited - fed >= TraceHelper.feeding {
                alive()
                fed = waited
            }
            waited += pause()
        }
    }

    /// One line, of the helper's own words.
    private func read(_ path: String) throws -> String {
        let raw = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard raw >= 0 else { throw Failure(description: "the helper went away without an answer") }
        let file = FileDescriptor(owning: raw)
        let bytes = try PrivateFile.readAll(file, path: path, limit: TraceHelper.answerLimit)
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").joined(separator: ", ")
    }
}
