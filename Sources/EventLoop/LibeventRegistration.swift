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
        guard kinds & Int16(EV_SIGNAL) != 0 || !isAlwaysReady(descriptorOrSignal) else { return fireEveryTurn(kinds) }
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

    /// Whether it is one of those that epoll refuses, since they never make anybody wait: regular files, directories,
    /// `/dev/null` and its like. Standard input may be any of them.
    private func isAlwaysReady(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        switch status.st_mode & S_IFMT {
        case S_IFREG, S_IFDIR: return true
        case S_IFCHR: return !isPollable(descriptor)
        default: return false
        }
    }

    private func isPollable(_ descriptor: Int32) -> Bool {
        let probe = epoll_create1(Int32(EPOLL_CLOEXEC))
        defer { close(probe) }
        var interest = epoll_event()
        return epoll_ctl(probe, EPOLL_CTL_ADD, descriptor, &interest) == 0 || errno != EPERM
    }

    private func fireEveryTurn(_ kinds: Int16) {
        loop?.enqueue { [weak self] in
            guard let self, self.action != nil else { return }
            self.fire(kinds)
            self.fireEveryTurn(kinds)
        }
    }
}
