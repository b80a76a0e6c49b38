/// The test list of chapter 06 §22, line by line. Each is a test whose name is the line: its words in order, without
/// what is neither letter nor digit.
enum ChapterSixLines {
    static let gateway = """
        verified deposit published and shown
        forged signature, wrong kind, geohash mismatch, stale → nothing
        off → nothing
        11th deposit in a minute dropped, other depositor unaffected, window slides
        6th queued per depositor refused
        21st evicts oldest
        flush on reconnect
        repeat deposit once
        refused deposit not shown
        mesh-carried never published/rebroadcast/re-uplinked
        relay event rebroadcast once
        uplinked event not echoed
        forged broadcast does not poison
        35 events → 30 then rest after window, also by timer alone
        stale backfill and mismatch cost no budget
        carried event injected once over two paths
        wrong-direction carriers dropped
        switch persists
        switch-off clears queues
        """
    static let bridge = """
        ring of 9
        no cell → fix requested
        fallback cell
        off closes and clears
        own message tags
        m[1] unique per message
        nearby-only suppresses
        offline → toBridge
        own event ignored incl. after restart
        remote message injected and, after jitter, downlinked
        other gateway's broadcast cancels ours
        neighbour cell accepted, out-of-ring refused
        radio copy present → neither shown nor sent nor counted
        bridge-first then radio → row replaced, downlink cancelled
        spoofed coordinates do not suppress
        legacy m accepted
        duplicate once
        presence counts
        128 participants cap
        per-signer 120
        720 verification attempts then refill
        stale refused
        budget 20
        fromBridge accepted with switch off
        directed fromBridge dropped
        tampered refused
        deposit published/queued/limited
        deposited event never downlinked
        """
    static let drops = """
        seal and publish once
        off → nothing
        rejection leaves retryable
        IDs scoped by recipient
        legacy IDs wildcard for 24 h
        wipe invalidates in-flight
        switch-off cancels
        offline queue and flush
        evicted stays retryable
        oversize suppressed, bounded and expiring
        dedup survives relaunch (published, seen) but not for merely queued
        failed handoff retryable
        stale watch-set event not consumed
        distinct throwaway keys
        held publish cooldown only after confirmation, single-flight
        subscription tag counts 3/6
        debounce trailing refresh
        mislabelled and expired ignored
        """
    static let store = """
        unreadable-file merge
        fragment mid-train rejection
        replay not replenishing
        """
    static let panic = """
        order stop → begin → wipe → complete → restart
        keychain failure keeps everything stopped
        pending marker handled before transport start
        """

    static let all = [gateway, bridge, drops, store, panic].flatMap { $0.split(separator: "\n").map(String.init) }

    /// The test's name.
    static func name(of line: String) -> String {
        let words = line.split { !$0.isASCII || !($0.isLetter || $0.isNumber) && $0 != "'" }
        return "test" + words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined().filter { $0 != "'" }
    }
}
