import Basics
import EventLoop
import Radio

/// What a person must know of their radio: whether it works, and what to do if it does not.
extension ChatPeer {
    /// An adapter gets so long to come up before anything is said, and is looked at so often.
    private static let radioCheck = Interval.seconds(3)

    func watch(_ radio: any ObservedRadio) {
        if let bluetooth = radio as? BluetoothRadio {
            bluetooth.findRival = { ProcessTable().rival(isProven: $0) }
            bluetooth.onAdapterChange = { [weak self] index, isUsable in
                if isUsable { self?.show(.notice("hci\(index) is ready")) }
            }
        }
        check(radio, known: [])
    }

    /// Says what is wrong with it, once each time that it comes to be wrong.
    private func check(_ radio: any ObservedRadio, known: Set<String>) {
        loop.schedule(after: ChatPeer.radioCheck) { [weak self, weak radio] in
            guard let self, let radio else { return }
            let problems = RadioAdvice.attention(of: radio, at: self.loop.now.monotonic)
            for problem in problems where !known.contains(problem.message) {
                self.show(.problem("\(problem.message) \(problem.remedy)"))
            }
            self.check(radio, known: Set(problems.map(\.message)))
        }
    }
}
