import Wire

/// How the station sees a radio: links come up, deliver frames and go down. Kernel Bluetooth and virtual air stand
/// behind the same port.
public protocol LinkPort: AnyObject {
    var delegate: (any LinkPortDelegate)? { get set }

    func start() throws
    /// Closes every link and stops accepting new ones. No delegate call follows.
    func stop()

    /// Queues one frame on a link within the link's bounds (chapter 03 A10); an unknown link is ignored.
    func send(_ frame: [UInt8], on link: LinkID, priority: WritePriority)

    /// Closes one link; `linkDown` follows.
    func close(_ link: LinkID)
}

/// Calls arrive on the event loop, in the order things happened on each link.
public protocol LinkPortDelegate: AnyObject {
    /// - Parameters:
    ///   - frameLimit: the largest frame the link carries: min(ATT MTU − 3, 512).
    ///   - neighbour: the same number for links of the same remote address, so that reconnecting does not draw an
    ///     announce each time (chapter 03 A9); nil when unknown. It means nothing outside the process.
    func linkUp(_ link: LinkID, role: LinkRole, frameLimit: Int, neighbour: UInt64?)
    /// The link's MTU changed after it came up.
    func linkChanged(_ link: LinkID, frameLimit: Int)
    /// One whole frame, as far as the link layer can tell; valid only during the call.
    func linkReceived(_ frame: UnsafeRawBufferPointer, on link: LinkID)
    func linkDown(_ link: LinkID)
    /// Who is believed to be at the far end of a link (chapter 03 A11); nil while nobody is. Asked when slots are
    /// short, and to tell links that are no use (chapter 03 A13.6).
    func peer(on link: LinkID) -> PeerID?
    /// Who has proved by a handshake to be there (chapter 03 A11.4); nil while nobody has. Asked before a link is given
    /// up for another one of the same peer.
    func provenPeer(on link: LinkID) -> PeerID?
}
