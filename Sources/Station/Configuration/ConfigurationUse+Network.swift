import Basics
import EventLoop
import Uplink

extension Configuration.Network {
    /// The one way out that is configured. With Tor required, nothing is made that could connect without it.
    /// - Parameters:
    ///   - resolver: for direct mode alone, and made only there.
    ///   - time: the best time known, by which certificates are judged.
    func route(
        on loop: any EventLoop, resolver: @autoclosure () -> any NameResolver, time: @escaping () -> WallTime
    ) throws(StationFault) -> any NetworkRoute {
        let trust: TLSTrust
        do {
            trust = try TLSTrust()
        } catch {
            throw .system("TLS: \(error)")
        }
        switch tor {
        case .required:
            return TorRoute(
                loop: loop,
                configuration: TorRoute.Configuration(socks: socks, control: control, cookie: controlCookie),
                trust: trust, time: time)
        case .off:
            let dialer = NetworkDialer(loop: loop, policy: .direct(resolver()), trust: trust, time: time)
            let route = DirectRoute(dialer)
            dialer.readiness = { [weak route] in
                route?.isProven ?? false ? .open : .closed("the network is switched off")
            }
            return route
        }
    }
}
