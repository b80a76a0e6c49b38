import Clibevent
import Glibc

/// One descriptor watch or signal handler. The loop owns it until it is cancelled; libevent holds only its address.
final class LibeventRegistration: Cancellable {
    private weak var loop: LibeventLoop?
    private var event: OpaquePointer?
    private var action: ((IOInterest) -> Void)?

    init(loop: LibeventLoop, _ action: @escaping (IOInterest) -> Void) {
        self.loop = loop
        self.action = action
    }

    func activate(_ base: OpaquePointer, _ descriptorOrSignal: Int32, _ kinds: Int16) {
        // epoll refuses regular files (standard input from a file, say), which are always ready.
        guard kinds & Int16(EV_SIGNAL) != 0 || !isRegularFile(descriptorOrSignal) else { return fireEveryTurn(kinds) }
        let address = Unmanaged.passUnretained(self).toOpaque()
        event = event_new(
            base, descriptorOrSignal, kinds,
            { _, kinds, address in
                guard let address else { return }
                Unmanaged<LibeventRegistration>.fromOpaque(address).takeUnretainedValue().fire(kinds)
            }, address)
        guard let event, event_add(event, nil) == 0 else {
            preconditionFailure("cannot watch \(descriptorOrSignal): \(SystemError.text(errno))")
        }
    }

    func cancel() {
        release()
        loop?.forget(self)
    }

    /// Lets go of the event and the action; nothing fires afterwards.
    func release() {
        if let event { event_free(event) }
        event = nil
        action = nil
    }

    private func fire(_ kinds: Int16) {
        var ready = IOInterest()
        if kinds & Int16(EV_READ) != 0 { ready.insert(.read) }
        if kinds & Int16(EV_WRITE) != 0 { ready.insert(.write) }
        action?(ready)
    }

    private func isRegularFile(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    private func fireEveryTurn(_ kinds: Int16) {
        loop?.enqueue { [weak self] in
            guard let self, self.action != nil else { return }
            self.fire(kinds)
            self.fireEveryTurn(kinds)
        }
    }
}
