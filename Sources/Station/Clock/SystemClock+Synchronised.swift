import Ctimex
import EventLoop

extension SystemClock {
    /// Whether the kernel calls its clock synchronised.
    static var isSynchronised: Bool {
        var state = timex()
        let result = adjtimex(&state)
        return result >= 0 && result != TIME_ERROR && state.status & STA_UNSYNC == 0
    }
}
