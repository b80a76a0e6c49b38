/// Meanings of the names in `limits`, for the help and the manual.
public enum LimitGuide {
    struct Entry {
        let parts: [String]
        /// A name; a final `…` matches any ending.
        let names: [String]
        let meaning: String

        init(_ parts: String..., names: [String], _ meaning: String) {
            self.parts = parts
            self.names = names
            self.meaning = meaning
        }

        func explains(_ report: LimitReport) -> Bool {
            parts.contains(report.part)
                && names.contains { $0.hasSuffix("…") ? report.name.hasPrefix($0.dropLast()) : report.name == $0 }
        }
    }

    static let entries = [
        Entry("mesh", names: ["duplicates"], "packets remembered, to recognise copies"),
        Entry("mesh", names: ["links", "peers"], "connections, and peers in reach"),
        Entry("mesh", names: ["departures"], "peers that just said goodbye"),
        Entry("mesh", names: ["identities"], "peers whose keys are remembered"),
        Entry("mesh", names: ["pending_relays"], "packets about to be relayed"),
        Entry("mesh", names: ["directed_spool"], "packets for peers briefly out of reach"),
        Entry("mesh", names: ["fragment_trains", "assemblies", "assembly_bytes"], "long messages, in pieces"),
        Entry("mesh", names: ["gossip_…", "history_changes"], "history for peers that come later, by kind"),
        Entry("mesh", names: ["sync_…"], "requests for that history"),
        Entry("mesh", names: ["board_…"], "posts on the board, and deletions"),
        Entry("mesh", names: ["noise_…"], "encrypted sessions, and packets waiting for one"),
        Entry("mesh", names: ["parked_prekeys"], "keys for letters, of peers not heard yet"),
        Entry(
            "gateway", "bridge", names: ["carriers_a_minute", "bytes_a_minute"],
            "messages sent to the mesh for phones"),
        Entry("gateway", "bridge", names: ["waiting_…"], "messages waiting to be sent"),
        Entry("gateway", "bridge", names: ["deposits_of_one_peer_a_minute"], "messages one peer may hand in"),
        Entry("gateway", names: ["channels_in_use"], "channels carried because peers wrote there"),
        Entry(
            "bridge", names: ["events_of_relays_a_minute", "signature_checks_in_a_burst"], "events accepted from relays"
        ),
        Entry("bridge", names: ["people"], "people across the bridge"),
        Entry("mail", names: ["letters", "letters_…"], "sealed letters carried, by kind of sender"),
        Entry("mail", names: ["sent_on_chance_in_a_burst"], "letters sent in case the addressee is in reach"),
        Entry(
            "mail", names: ["fetched_and_undelivered", "neighbours_watched", "copies_published_at_once"],
            "letters fetched from and published to relays"),
        Entry("relays", names: ["subscriptions"], "subscriptions at relays"),
        Entry("relays", names: ["events_waiting", "kept_until_confirmed"], "events still to be published"),
        Entry("storage", names: ["…"], "records kept over a restart, as docs/privacy.md lists them"),
    ]

    private static let margin = String(repeating: " ", count: 20)

    /// Each entry as a list item of the help.
    public static var text: String {
        entries.map { entry in
            let names = entry.names == ["…"] ? "" : ": " + entry.names.joined(separator: ", ")
            return "  " + entry.parts.joined(separator: ", ") + names + "\n" + margin + entry.meaning + "\n"
        }.joined()
    }
}
