/// Every key of the configuration file: parsing, `bitgate config check`, `bitgate config defaults` and the packaged
/// default file all come from these rows.
enum ConfigurationTable {
    /// Sections in the order they are documented, each with what it is about.
    static let sections: [(name: String, summary: String)] = [
        ("", ""),
        ("radio", "How this box hears its neighbours."),
        ("air", "Virtual air: a room of processes on one machine, in place of Bluetooth."),
        ("location", "Where the box stands. Only the 6-character cell is ever sent; coordinates stay in this file."),
        ("gateway", "Carrying public location channels between the mesh and Nostr relays."),
        ("bridge", "Joining this mesh with other meshes of the same area. Carries only what its author signed for it."),
        (
            "courier",
            "Sealed letters for people who are away, carried until they come by. The box cannot read them; bitgate "
                + "mail tells how many there are."
        ),
        ("nostr", "Nostr relays."),
        ("network", "The way to the internet."),
        ("panic", "The wipe: bitgate wipe destroys all the box remembers, and its identity."),
        (
            "panel",
            "Lamps and a button on GPIO lines, and none of it is needed: bitgate panel tells what lamps say, "
                + "docs/hardware.md how they are wired."
        ),
        (
            "clock",
            "Peers ignore a box whose clock is more than two minutes off, so nothing is published on a doubtful one. "
                + "Without a synchronised system clock the time comes from relays, or for the mesh alone from three "
                + "peers who agree; bitgate clock tells, and can set it."
        ),
        ("log", "The log on standard error. It never holds names, messages, identifiers or places."),
    ]

    static var settings: [Setting] {
        [
            Setting(
                "nickname", \.nickname, .nickname, example: #""gate-1a2b""#,
                "The name phones see; unset: gate- and 4 hex digits of the box's peer ID.", .reload),
            Setting(
                "state_directory", \.stateDirectory, .path,
                "Where the identity keys and all other state live; the daemon's own, mode 0700."),
            Setting(
                "storage", \.storage, .choice,
                "\"persistent\" keeps identity, history and board over a restart, sealed; \"amnesic\" keeps nothing on "
                    + "the disk, so that the box is a new one whenever it starts and pulling the plug is a wipe."),
            Setting("control_socket", \.controlSocket, .path, "Where the bitgate command reaches the daemon."),

            Setting(
                "radio.kind", \.radio.kind, .choice,
                "\"bluetooth\" meets phones; \"air\" is virtual air, for trials on one machine."),
            Setting(
                "radio.adapters", \.radio.adapters, .adapters,
                "The Bluetooth controllers to use, each as hci0 or by its address such as \"00:1A:7D:DA:71:13\", which "
                    + "stays the same when others are plugged in. Empty: all there are. One may come later, or go and "
                    + "come back; nothing else may use it meanwhile."),
            Setting(
                "radio.address", \.radio.address, .choice,
                "What controllers are called on the air: \"random\" is an address that stays until a wipe, \"public\" "
                    + "the one they were built with, which no wipe changes."),
            Setting(
                "radio.service", \.radio.service, .choice,
                "\"release\" meets everybody's app, \"debug\" the developers' builds for iOS: a mesh apart."),
            Setting(
                "radio.links", \.radio.links, .integer(SettingLimits.links),
                "Links each controller may have. A controller that refuses as many is found out and asked for fewer."),
            Setting(
                "radio.outgoing_links", \.radio.outgoingLinks, .integer(SettingLimits.outgoingLinks),
                "How many of them this box may open itself. Two stay free for phones that call it; one of two, none of "
                    + "one."
            ),

            Setting(
                "air.room", \.air.room, .path,
                "The room: a directory in which every node keeps a socket; made if absent."),
            Setting(
                "air.name", \.air.name, .airName, example: #""gate-1a2b""#,
                "This node's name in the room; unset: gate- and 4 hex digits of the box's peer ID."),
            Setting(
                "air.mtu", \.air.mtu, .integer(SettingLimits.airMTU),
                "ATT MTU offered to neighbours; phones offer from 185 to 517. A node on a link too narrow for a whole "
                    + "announcement, about 300, is heard but not taken for a neighbour."),
            Setting("air.loss", \.air.loss, .number(0...1), "Share of received frames that get lost, for trials."),
            Setting("air.delay", \.air.delay, .delay, "How long received frames are held back, for trials."),
            Setting("air.seed", \.air.seed, .integer(0...Int64.max), "Seed of loss and delay, to repeat a trial."),

            Setting(
                "location.cell", \.location.cell, .cell, example: #""u4pruy""#,
                "Geohash of the place, cut to 6 characters: about 1.2 by 0.6 kilometres. Not together with coordinates."
            ),
            Setting(
                "location.latitude", \.location.latitude, .number(-90...90), example: "57.64911",
                "Degrees north; needs longitude."),
            Setting(
                "location.longitude", \.location.longitude, .number(-180...180), example: "10.40744",
                "Degrees east; needs latitude."),

            Setting("gateway.enabled", \.gateway.isEnabled, .boolean, "Be a gateway for location channels.", .reload),
            Setting(
                "gateway.echo", \.gateway.echo, .boolean,
                "Repeat an uplinked message on the mesh once, so that others without internet see it too.", .reload),
            Setting(
                "gateway.channels", \.gateway.channels, .geohashes(atMost: 8),
                "Geohash channels always brought to the mesh.", .reload),
            Setting(
                "gateway.demand_channels", \.gateway.demandChannels, .boolean,
                "Also bring the channels neighbours write in, for an hour after their last message.", .reload),

            Setting(
                "gateway.presence", \.gateway.presence, .boolean,
                "Tell the location channels of the region, province and city that somebody is here, about once a "
                    + "minute; needs a location. Counts the box as a person.", .reload),

            Setting("bridge.enabled", \.bridge.isEnabled, .boolean, "Be a bridge; needs a location.", .reload),
            Setting(
                "bridge.extra_cells", \.bridge.extraCells, .cells(atMost: 8),
                "Cells of distant venues to join as well; say so to your guests, it widens who reads them.", .reload),

            Setting(
                "bridge.presence", \.bridge.presence, .boolean,
                "Tell other meshes of the area that somebody is here, every few minutes. Counts the box as a person.",
                .reload),

            Setting(
                "courier.enabled", \.courier.isEnabled, .boolean,
                "Carry letters that neighbours leave, for a day at most.", .reload),
            Setting(
                "courier.drops", \.courier.drops, .boolean,
                "Leave copies at the relays, where another box finds them for whoever they are for, and fetch what "
                    + "lies there for the people nearby. Relays learn whose mail somebody asks for; nothing is asked "
                    + "for anybody who is not in reach.", .reload),
            Setting(
                "courier.trusted", \.courier.trusted, .fingerprints,
                "Fingerprints (64 hex digits, /fingerprint in a chat) of people who may leave 20 letters each instead "
                    + "of 8, and whose letters stay when there is no room.", .reload),

            Setting(
                "nostr.relays", \.nostr.relays, .relays,
                "Added relays: wss:// anywhere; ws:// for .onion names, and on this machine when network.tor is "
                    + "\"off\".",
                .reload),
            Setting(
                "nostr.use_builtin_relays", \.nostr.useBuiltInRelays, .boolean,
                "Use the relays phones use as well. When false, nostr.relays alone carry everything, as in a "
                    + "network apart.",
                .reload),

            Setting(
                "nostr.directory", \.nostr.directory, .path,
                "The list of relays and where they stand, by which phones choose those of a place: CSV whose first "
                    + "line is relay url,latitude,longitude. May be missing where directory_url is reached; counts "
                    + "when it is newer than the last one fetched.", .reload),
            Setting(
                "nostr.directory_url", \.nostr.directoryURL, .documentURL,
                "Where that list is fetched once a day, over the same route as relays; empty: never. Not fetched "
                    + "when use_builtin_relays is false.", .reload),

            Setting(
                "network.tor", \.network.tor, .choice,
                "\"required\" goes through Tor or not at all; \"off\" shows relays this box's address. The packaged "
                    + "service has no network but tor's socket: \"off\", and tor on a port, need its drop-in "
                    + "bitgated-network.conf (/usr/share/doc/bitgate/examples)."),
            Setting(
                "network.socks", \.network.socks, .localEndpoint,
                "Where tor takes connections: its SocksPort. On this machine only, since the names of relays go there "
                    + "in clear. Over the socket, bitgated itself needs no network and its service is given none."),
            Setting(
                "network.control", \.network.control, .portOrSocket,
                "Where tor tells how far it is: its ControlSocket or ControlPort. It is only read; with \"none\" the "
                    + "box knows of Tor what its own connections show."),
            Setting(
                "network.control_cookie", \.network.controlCookie, .path, example: #""/run/tor/control.authcookie""#,
                "Tor's CookieAuthFile, which the daemon must be able to read; unset: where tor says it is."),

            Setting(
                "panic.resume", \.panic.resume, .boolean,
                "After a wipe, go on with this file as it is. When false, the box becomes a mere relay of its mesh "
                    + "that knows no place, no relays and no name, until bitgate wipe --provision."),
            Setting(
                "panic.marker_directory", \.panic.markerDirectory, .path,
                "A second place to note that a wipe is under way, best on another file system than the state; it may "
                    + "be missing or read-only."),

            Setting(
                "panic.helper", \.panic.helper, .pathOrNone,
                "Where the system's helper is asked to take away what the journal, tor and the Bluetooth service kept; "
                    + "where this is not there, nobody is asked. With \"none\" they keep it."),

            Setting(
                "panel.wiring", \.panel.wiring, .choice,
                "\"header\": lamps and button are where docs/hardware.md has them on the 40-pin header: GPIO17, "
                    + "GPIO27, GPIO22 and GPIO23 are lamps, GPIO24 is the button; \"header-one-lamp\": the same with "
                    + "GPIO17 as the only lamp, which then tells of the internet too; \"none\": only lines named "
                    + "here."),
            Setting(
                "panel.status", \.panel.status, .panelLine, example: #""GPIO17""#,
                "The lamp that tells how the box is. If it is the only one, it tells of the internet too."),
            Setting(
                "panel.mesh", \.panel.mesh, .panelLine, example: #""GPIO27""#, "The lamp that tells of the mesh."),
            Setting(
                "panel.internet", \.panel.internet, .panelLine, example: #""GPIO22""#,
                "The lamp that tells of the way to the internet."),
            Setting(
                "panel.mail", \.panel.mail, .panelLine, example: #""GPIO23""#,
                "The lamp that tells of letters for people who are not here."),
            Setting(
                "panel.button", \.panel.button, .panelLine, example: #""GPIO24""#,
                "The button: a tap shows the status; held for five seconds, let go and held again for one it wipes."),
            Setting(
                "panel.lamps_active_low", \.panel.lampsAreActiveLow, .boolean,
                "Whether lamps are lit by a low voltage: wired from 3.3 V to the line."),
            Setting(
                "panel.button_active_low", \.panel.buttonIsActiveLow, .boolean,
                "Whether pressing makes the voltage low: wired from the line to ground."),
            Setting(
                "panel.button_bias", \.panel.buttonBias, .choice,
                "How the line is held while nobody presses; \"none\" where the board has a resistor of its own."),
            Setting(
                "panel.debounce_ms", \.panel.debounce, .integer(SettingLimits.debounce),
                "How long the button's level must hold to count, in milliseconds; more for one that bounces long."),
            Setting(
                "panel.quiet", \.panel.isQuiet, .boolean,
                "Lamps stay dark until the button is tapped, but for faults and a wipe."),

            Setting(
                "clock.trust_system", \.clock.trustSystem, .boolean,
                "Believe the system clock although the kernel does not call it synchronised."),

            Setting("log.level", \.log.level, .choice, "The least important lines written.", .reload),
        ]
    }
}
