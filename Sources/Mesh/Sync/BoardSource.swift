import Basics
import Wire

/// The owner of bulletin-board posts. The board has a store of its own, with rules of its own (chapter 04 §11.4); sync
/// asks it what it offers.
protocol BoardSource: AnyObject {
    /// Packets of all posts in order of arrival, then of all tombstones.
    func offered(at now: Now) -> [GossipEntry]
    /// One of them; nil when it is offered no more.
    func offered(_ id: PacketID, at now: Now) -> GossipEntry?
}
