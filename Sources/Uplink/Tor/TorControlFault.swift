/// Why the control port cannot be read, in words for the operator.
public enum TorControlFault: Error, Equatable, Sendable {
    /// Nothing is there: tor does not run, or has no control port.
    case absent(String)
    /// The system does not let us connect.
    case forbidden(String)
    case cookieAbsent(String)
    case cookieForbidden(String)
    case cookieUnusable(String)
    /// Tor offers no way of authentication that is known here.
    case noMethod(String)
    /// Tor did not accept the cookie, or did not know it itself.
    case refused(String)
    /// No answer in time.
    case silent
    /// Not tor's protocol.
    case malformed(String)
    /// The connection ended.
    case ended

    /// A stable name.
    public var code: String {
        switch self {
        case .absent: "absent"
        case .forbidden: "forbidden"
        case .cookieAbsent: "cookie-absent"
        case .cookieForbidden: "cookie-forbidden"
        case .cookieUnusable: "cookie-unusable"
        case .noMethod: "no-method"
        case .refused: "refused"
        case .silent: "silent"
        case .malformed: "malformed"
        case .ended: "ended"
        }
    }

    public var message: String {
        switch self {
        case .absent(let text): text
        case .forbidden(let text): text
        case .cookieAbsent(let path): "\(path) is not there"
        case .cookieForbidden(let path): "no permission to read \(path)"
        case .cookieUnusable(let text): text
        case .noMethod(let methods): "tor wants another authentication than its cookie: \(methods)"
        case .refused(let text): "tor refuses: \(text)"
        case .silent: "tor does not answer"
        case .malformed(let text): "what answers is not tor: \(text)"
        case .ended: "tor has closed the connection"
        }
    }

    public var remedy: String {
        switch self {
        case .absent: "See that tor runs, and that network.control names its ControlPort or ControlSocket."
        case .forbidden, .cookieForbidden:
            "Add the daemon's user to tor's group (usermod -a -G debian-tor bitgate) and restart bitgated."
        case .cookieAbsent, .cookieUnusable:
            "Set CookieAuthentication 1 in tor's configuration, or network.control_cookie to its CookieAuthFile."
        case .noMethod: "Set CookieAuthentication 1 in tor's configuration and remove HashedControlPassword."
        case .refused:
            "See that network.control_cookie is the CookieAuthFile of the tor that listens at network.control."
        case .silent: "See what tor is doing: it is stopped, or the machine is overloaded."
        case .malformed: "See that network.control names tor's control port, not another port."
        case .ended: "Nothing to do if tor is being restarted; otherwise see its log."
        }
    }
}
