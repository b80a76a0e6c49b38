import Basics
import Ctimex
import EventLoop
import Glibc

extension SystemClock {
    /// Whether the kernel calls its clock synchronised.
    static var isSynchronised: Bool {
        var state = timex()
        let result = adjtimex(&state)
        // The service is kept from all that could set the clock, and the same call asks.
        if result < 0, errno == EPERM { return TimesyncMark().isFresh(at: wall) }
        return result >= 0 && result != TIME_ERROR && state.status & STA_UNSYNC == 0
    }
}

/// The file that systemd-timesyncd touches whenever it has synchronised the clock (systemd-timesyncd.service(8)).
struct TimesyncMark {
    /// It asks its servers every 34 minutes at the least; three answers may be lost.
    static let lifetime: UInt64 = 2 * 3_600 * 1_000

    var path = "/run/systemd/timesync/synchronized"

    func isFresh(at now: WallTime) -> Bool {
        var info = stat()
        guard stat(path, &info) == 0, info.st_mtim.tv_sec >= 0 else { return false }
        let touched = UInt64(info.st_mtim.tv_sec) * 1_000
        // A mark from the future was made by another clock than this one.
        return touched <= now.milliseconds && now.milliseconds - touched < TimesyncMark.lifetime
    }
}
