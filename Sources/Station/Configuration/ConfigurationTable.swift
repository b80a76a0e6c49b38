/// Every key of the configuration file: parsing, `bitgate config check`, `bitgate config defaults` and the packaged
/// default file all come from these rows.
enum ConfigurationTable {
    /// Sections in their documented order, each with its purpose.
    static let sections: [(name: String, summary: String)] = [
        ("", ""),
        ("radio", "The radio over which the box meets its neighbours."),
        ("air", "Virtual air: processes on one machine share a room instead of Bluetooth."),
        ("location", "The location of the box. It sends only the 6-character cell; coordinates never leave this file."),
        ("gateway", "The gateway carries public location channels between the mesh and Nostr relays."),
        (
            "bridge",
            "The bridge joins this mesh with other meshes of the area. It carries only messages signed for the bridge."
        ),
        (
            "courier",
            "The courier carries sealed letters for absent people until they are in reach. The box cannot read them; "
                + "bitgate mail shows how many there are."
        ),
        ("nostr", "Nostr relays."),
        ("network", "The route to the internet."),
        ("panic", "bitgate wipe destroys all data of the box and its identity."),
        (
            "panel",
            "Optional lamps and a button on GPIO lines. bitgate panel explains the lamp patterns, docs/hardware.md the "
                + "wiring."
        ),
        (
            "clock",
            "Peers ignore a box whose clock is more than two minutes off, so the box publishes nothing by a doubtful "
                + "clock. Without a synchronised system clock it takes the time from relays or, for the mesh alone, "
                + "from three peers that agree. bitgate clock shows and sets it."
        ),
        ("log", "The log goes to standard error. It never contains names, messages, identifiers or places."),
    ]

    static var settings: [Setting] {
        [
            Setting(
                "nickname", \.nickname, .nickname, example: #""gate-1a2b""#,
                "The name phones see. Unset: gate- and 4 hex digits of the box's peer ID.", .reload),
            Setting(
                "state_directory", \.stateDirectory, .path,
                "Directory of the identity keys and all other state. It must belong to the daemon and have mode 0700."),
            Setting(
                "storage", \.storage, .choice,
                "\"persistent\" keeps identity, history and board over a restart, sealed. \"amnesic\" keeps nothing "
                    + "on disk: each start makes a new box, and cutting the power is a wipe."),
            Setting(
                "control_socket", \.controlSocket, .path,
                "The socket on which the daemon answers the bitgate command."),

            Setting(
                "radio.kind", \.radio.kind, .choice,
                "\"bluetooth\" talks to phones; \"air\" is virtual air, for trials on one machine."),
            Setting(
                "radio.adapters", \.radio.adapters, .adapters,
                "The Bluetooth controllers to use: hci0, or an address such as \"00:1A:7D:DA:71:13\", which stays "
                    + "the same when others are plugged in. Empty: all controllers. A controller may be plugged in "
                    + "later, removed and returned. No other program may use it meanwhile."),
            Setting(
                "radio.address", \.radio.address, .choice,
                "The Bluetooth address: \"random\" stays the same until a wipe; \"public\" is the controller's "
                    + "built-in address, which no wipe changes."),
            Setting(
                "radio.service", \.radio.service, .choice,
                "\"release\" meets the published apps; \"debug\" meets developers' builds for iOS, which form a "
                    + "separate mesh."),
            Setting(
                "radio.links", \.radio.links, .integer(SettingLimits.links),
                "Maximum links per controller. If a controller refuses that many, the box detects it and uses fewer."),
            Setting(
                "radio.outgoing_links", \.radio.outgoingLinks, .integer(SettingLimits.outgoingLinks),
                "Maximum outgoing links per controller. Two links stay reserved for incoming connections; of two links "
                    + "one, of a single one none."),

            Setting(
                "air.room", \.air.room, .path,
                "The room: a directory in which every node keeps a socket. It is created if missing."),
            Setting(
                "air.name", \.air.name, .airName, example: #""gate-1a2b""#,
                "This node's name in the room. Unset: gate- and 4 hex digits of the box's peer ID."),
            Setting(
                "air.mtu", \.air.mtu, .integer(SettingLimits.airMTU),
                "ATT MTU offered to neighbours; phones offer 185 to 517. A link too narrow for a whole announcement, "
                    + "about 300 bytes, still carries messages, but its node does not count as a neighbour."),
            Setting(
                "air.loss", \.air.loss, .number(0...1),
                "Share of received frames to drop, for trials."),
            Setting(
                "air.delay", \.air.delay, .delay,
                "Delay of received frames, for trials."),
            Setting(
                "air.seed", \.air.seed, .integer(0...Int64.max),
                "Seed of loss and delay, to repeat a trial."),

            Setting(
                "location.cell", \.location.cell, .cell, example: #""u4pruy""#,
                "Geohash of the place, cut to 6 characters: about 1.2 by 0.6 kilometres. Cannot be combined with "
                    + "coordinates."),
            Setting(
                "location.latitude", \.location.latitude, .number(-90...90), example: "57.64911",
                "Degrees north; needs longitude."),
            Setting(
                "location.longitude", \.location.longitude, .number(-180...180), example: "10.40744",
                "Degrees east; needs latitude."),

            Setting(
                "gateway.enabled", \.gateway.isEnabled, .boolean,
                "Be a gateway for location channels.", .reload),
            Setting(
                "gateway.echo", \.gateway.echo, .boolean,
                "Repeat each message sent to relays once on the mesh, so that other phones without internet see it "
                    + "too.", .reload),
            Setting(
                "gateway.channels", \.gateway.channels, .geohashes(atMost: 8),
                "Location channels (geohashes) always carried to the mesh.", .reload),
            Setting(
                "gateway.demand_channels", \.gateway.demandChannels, .boolean,
                "Also carry the channels (blocks or larger) in which neighbours write, until an hour after their last "
                    + "message.", .reload),

            Setting(
                "gateway.presence", \.gateway.presence, .boolean,
                "Announce a person in the location channels of the region, province and city, about once a minute. "
                    + "Needs a location. The box then counts as one person.", .reload),

            Setting(
                "bridge.enabled", \.bridge.isEnabled, .boolean,
                "Be a bridge; needs a location.", .reload),
            Setting(
                "bridge.extra_cells", \.bridge.extraCells, .cells(atMost: 8),
                "Cells of distant venues to join as well. Tell your guests: people there can read their messages.",
                .reload),

            Setting(
                "bridge.presence", \.bridge.presence, .boolean,
                "Announce a person to other meshes of the area every few minutes. The box then counts as one person.",
                .reload),

            Setting(
                "courier.enabled", \.courier.isEnabled, .boolean,
                "Carry letters that neighbours leave, for a day at most.", .reload),
            Setting(
                "courier.drops", \.courier.drops, .boolean,
                "Leave copies of letters at relays, where another box can fetch them for the addressee, and fetch "
                    + "letters for the people nearby. Relays learn whose mail is fetched; the box asks only for "
                    + "people in reach.", .reload),
            Setting(
                "courier.trusted", \.courier.trusted, .fingerprints,
                "Fingerprints (64 hex digits; /fingerprint in a chat shows yours) of people who may leave 20 letters "
                    + "each instead of 8, and whose letters are kept when space runs out.", .reload),

            Setting(
                "nostr.relays", \.nostr.relays, .relays,
                "Additional relays: wss:// anywhere; ws:// for .onion names, and for this machine when network.tor "
                    + "is \"off\".", .reload),
            Setting(
                "nostr.use_builtin_relays", \.nostr.useBuiltInRelays, .boolean,
                "Also use the relays that phones use. When false, only nostr.relays are used, as in a separate "
                    + "network.", .reload),

            Setting(
                "nostr.directory", \.nostr.directory, .path,
                "The list of relays and their coordinates, from which phones choose the relays of a place: CSV, "
                    + "first line relay url,latitude,longitude. Optional if directory_url works; used only if newer "
                    + "than the last download.", .reload),
            Setting(
                "nostr.directory_url", \.nostr.directoryURL, .documentURL,
                "URL of that list, downloaded once a day over the same route as relays. Empty: never. Ignored when "
                    + "use_builtin_relays is false.", .reload),

            Setting(
                "network.tor", \.network.tor, .choice,
                "\"required\" connects through Tor or not at all; with \"off\", relays see this box's address. The "
                    + "packaged service reaches only tor's socket: for \"off\", or tor on a port, install its "
                    + "drop-in bitgated-network.conf (/usr/share/doc/bitgate/examples)."),
            Setting(
                "network.socks", \.network.socks, .localEndpoint,
                "tor's SocksPort: a Unix socket, or a port on this machine (relay names are sent to it in clear). "
                    + "With the socket, bitgated itself needs no network, and the packaged service has none."),
            Setting(
                "network.control", \.network.control, .portOrSocket,
                "tor's ControlSocket or ControlPort, from which the box reads tor's progress. It changes nothing "
                    + "there. With \"none\" the box knows only the state of its own connections."),
            Setting(
                "network.control_cookie", \.network.controlCookie, .path, example: #""/run/tor/control.authcookie""#,
                "tor's CookieAuthFile, which the daemon must be able to read. Unset: the path tor reports."),

            Setting(
                "panic.resume", \.panic.resume, .boolean,
                "After a wipe, keep using this whole file. When false, the box only relays on its mesh, without "
                    + "place, relays or name, until bitgate wipe --provision."),
            Setting(
                "panic.marker_directory", \.panic.markerDirectory, .path,
                "A second directory that records an unfinished wipe, best on another file system than the state. It "
                    + "may be missing or read-only."),

            Setting(
                "panic.helper", \.panic.helper, .pathOrNone,
                "Directory for requests to the root helper, which deletes traces kept by the journal, tor and the "
                    + "Bluetooth service. If it is missing, or with \"none\", those traces remain."),

            Setting(
                "panel.wiring", \.panel.wiring, .choice,
                "\"header\": wired to the 40-pin header as in docs/hardware.md: GPIO17, GPIO27, GPIO22 and GPIO23 "
                    + "are lamps, GPIO24 is the button. \"header-one-lamp\": the same, but GPIO17 is the only lamp "
                    + "and shows the internet state too. \"none\": only the lines named below."),
            Setting(
                "panel.status", \.panel.status, .panelLine, example: #""GPIO17""#,
                "The lamp that shows the state of the box. If it is the only lamp, it shows the internet state too."),
            Setting(
                "panel.mesh", \.panel.mesh, .panelLine, example: #""GPIO27""#,
                "The lamp that shows the state of the mesh."),
            Setting(
                "panel.internet", \.panel.internet, .panelLine, example: #""GPIO22""#,
                "The lamp that shows the state of the internet connection."),
            Setting(
                "panel.mail", \.panel.mail, .panelLine, example: #""GPIO23""#,
                "The lamp that shows whether letters for absent people are held."),
            Setting(
                "panel.button", \.panel.button, .panelLine, example: #""GPIO24""#,
                "The button. A tap shows the status; to wipe, hold it for five seconds, release it, and hold it "
                    + "again for one second."),
            Setting(
                "panel.lamps_active_low", \.panel.lampsAreActiveLow, .boolean,
                "Whether a low voltage lights the lamps (wired from 3.3 V to the line)."),
            Setting(
                "panel.button_active_low", \.panel.buttonIsActiveLow, .boolean,
                "Whether pressing the button makes the voltage low (wired from the line to ground)."),
            Setting(
                "panel.button_bias", \.panel.buttonBias, .choice,
                "The resistor that holds the line while the button is not pressed; \"none\" if the board has its own."),
            Setting(
                "panel.debounce_ms", \.panel.debounce, .integer(SettingLimits.debounce),
                "How long the button's level must stay the same to count, in milliseconds. Increase it for a button "
                    + "that bounces."),
            Setting(
                "panel.quiet", \.panel.isQuiet, .boolean,
                "Keep the lamps dark until the button is tapped, except for faults and a wipe."),

            Setting(
                "clock.trust_system", \.clock.trustSystem, .boolean,
                "Trust the system clock even if the kernel does not report it as synchronised."),

            Setting(
                "log.level", \.log.level, .choice,
                "Minimum severity to log.", .reload),
        ]
    }
}
