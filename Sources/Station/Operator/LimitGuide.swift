/// What the names of `limits` mean, for the help and the manual.
public enum LimitGuide {
    struct Entry {
        let parts: [String]
        /// A name; with `…` at its end, whatever begins so.
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
        Entry("mesh", names: ["duplicates"], "packets remembered, to know their copies"),
        Entry("mesh", names: ["links", "peers"], "connections, and who is in reach"),
        Entry("mesh", names: ["departures"], "who said goodbye a moment ago"),
        Entry("mesh", names: ["identities"], "peers whose keys are remembered"),
        Entry("mesh", names: ["pending_relays"], "packets about to be passed on"),
        Entry("mesh", names: ["directed_spool"], "packets for peers out of reach for a moment"),
        Entry("mesh", names: ["fragment_trains", "assemblies", "assembly_bytes"], "long messages, in pieces"),
        Entry("mesh", names: ["gossip_…", "history_changes"], "what is held for who comes late, by kind"),
        Entry("mesh", names: ["sync_…"], "who asks for that, and is answered"),
        Entry("mesh", names: ["board_…"], "posts on the board, and deletions"),
        Entry("mesh", names: ["noise_…"], "encrypted sessions, and what waits for one"),
        Entry("mesh", names: ["parked_prekeys"], "keys for letters, of people not heard yet"),
        Entry("gateway", "bridge", names: ["carriers_a_minute", "bytes_a_minute"], "what goes to the mesh for phones"),
        Entry("gateway", "bridge", names: ["waiting_…"], "messages kept until they can go on"),
        Entry("gateway", "bridge", names: ["deposits_of_one_peer_a_minute"], "what one peer may hand in"),
        Entry("gateway", names: ["channels_in_use"], "channels that people of the mesh brought up"),
        Entry(
            "bridge", names: ["events_of_relays_a_minute", "signature_checks_in_a_burst"], "what relays may bring"),
        Entry("bridge", names: ["people"], "people across the bridge"),
        Entry("mail", names: ["letters", "letters_…"], "sealed letters carried, and of whom"),
        Entry("mail", names: ["sent_on_chance_in_a_burst"], "letters sent towards who may be there"),
        Entry(
            "mail", names: ["fetched_and_undelivered", "neighbours_watched", "copies_published_at_once"],
            "letters from relays and to them"),
        Entry("relays", names: ["subscriptions"], "what relays are asked for"),
        Entry("relays", names: ["events_waiting", "kept_until_confirmed"], "what is still to be published"),
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
