/// What the Bluetooth radio did, refused and dropped.
public enum BluetoothEvent: String, CaseIterable, Sendable {
    case accepted, connected
    /// The link carries frames: as central, and as peripheral.
    case outgoingUp = "outgoing_up"
    case incomingUp = "incoming_up"
    /// A neighbour that did not answer within 8 s.
    case connectTimedOut = "connect_timed_out"
    case connectFailed = "connect_failed"
    /// It called us while we called it.
    case crossedConnect = "crossed_connect"
    /// The kernel held a link to a neighbour of which we have none, and was told to end it.
    case staleLinkEnded = "stale_link_ended"
    /// A connection that ended from outside.
    case linkLost = "link_lost"
    /// A connection given up by its ATT side; the reasons are counted apart.
    case linkGivenUp = "link_given_up"
    /// A socket that took nothing, however large its buffer.
    case linkStuck = "link_stuck"
    /// The controller refused one link more, which taught us its limit.
    case limitLearned = "limit_learned"
    /// An incoming link when every slot was taken.
    case noFreeLink = "no_free_link"
    /// An incoming link when too many were bound to nobody, or to a peer that has another one.
    case tooManyUnbound = "too_many_unbound"
    /// A link that was bound to nobody for a minute, or made room for a newcomer.
    case unboundDropped = "unbound_dropped"
    /// Our second link to a peer, given up for want of slots.
    case redundantClosed = "redundant_closed"
    /// A second connection of one address: the first was over before we heard of it.
    case replaced
    /// A neighbour connected and no socket came: somebody else answers on the ATT channel.
    case noSocket = "no_socket"
    /// An adapter that does not let us listen.
    case listenFailed = "listen_failed"
    case adapterUp = "adapter_up"
    case adapterDown = "adapter_down"

    /// A neighbour sent more than the MTU it agreed to; the frame was accepted (chapter 03 A7).
    case beyondMTU = "beyond_mtu"
    /// A frame of ours that the link cannot carry whole.
    case frameTooLong = "frame_too_long"
    /// A frame of ours for a neighbour that has not subscribed.
    case nobodyListens = "nobody_listens"
    /// Trimmed from a full outbound queue.
    case queueOverflow = "queue_overflow"
}
