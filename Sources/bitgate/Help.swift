import Station

/// The help texts.
enum Help {
    /// All commands with their summaries, from the table that runs them.
    static var overview: String {
        let commands = Bitgate.subcommands.map { command in
            let margin = String(repeating: " ", count: max(2, "help --man PAGE   ".count - command.name.count))
            return "  \(command.name)\(margin)\(command.summary)\n"
        }
        return """
            bitgate controls and inspects bitgated, the bitchat gateway.

            usage: bitgate COMMAND [OPTIONS]

            \(commands.joined())
              help COMMAND      show a command's options and exit statuses
              help --man PAGE   print a manual page: bitgate.1, bitgated.8 or
                                bitgate.toml.5
              --version         print the version

            """
    }

    private static let socket = """
          --socket PATH   the daemon's control socket
                          (default \(Configuration().controlSocket))
        """

    private static let statuses = """
        Exit status: 0 done, 64 wrong usage, 69 no daemon answers, 74 cannot write the
        output, 75 the daemon is busy, 76 the daemon refused or its answer was not
        understood, 77 no permission.

        """

    static let status = """
        usage: bitgate status [--json] [--socket PATH]

        Shows the state of the daemon. Problems come first, marked !, each with its
        remedy.

          --json          print one line of JSON; its keys are stable
        \(socket)

        \(statuses)
        """

    static let peers = """
        usage: bitgate peers [--json] [--socket PATH]
               bitgate peers forget ID [--json] [--socket PATH]

        Lists the peers heard on the mesh. Peers choose their names and offers
        themselves; the box cannot verify them.

        The box rejects a known ID that arrives with another signing key. forget makes
        it accept the next key of that ID permanently, as on first contact.

          WHERE           neighbour: linked directly; in reach: heard through other
                          peers; gone: silent, and soon forgotten
          OFFERS          gateway: carries location channels; bridge: joins this mesh
                          with other meshes of the area it names

          --json          one line of JSON; its keys are stable
        \(socket)

        \(statuses)
        """

    static let counters = """
        usage: bitgate counters [--json] [--socket PATH]

        Prints the counters since the daemon started, leaving out those at zero.

          mesh                packets and frames of the mesh node
          mesh_drops          packets the mesh node refused or skipped, by reason
          bluetooth           Bluetooth links: how they ended and what they dropped
          bluetooth_adapters  controllers: commands, failures and recoveries
          att_drops           attribute protocol requests refused
          att_failures        links closed for attribute protocol errors, by reason
          air_drops           frames virtual air refused
          nostr               connections, frames and events of all relays
          nostr_answers       relays' answers to published events, by NIP-01 prefix
          nostr_drops         relay input refused, and events not sent, by reason
          nostr_failures      how connections to relays ended
          channel_deposits    location channels: messages peers handed in for relays
          channel_broadcasts  messages another gateway brought to this mesh
          channel_downlinks   relay messages for this mesh, and echoes of deposits
          bridge_deposits, bridge_broadcasts, bridge_downlinks
                              the same for bridged messages
          mail                letters taken in, handed over, left at relays, fetched
                              from them, and the reasons when one was not
          control             requests on the control socket
          vault               records kept over a restart

        In the channel and bridge groups, published, queued, heard, held, sent, echoed
        and counted are successes. The others give the reason why a message was not
        carried. The most common is repeated: the gateway had seen it before.

          --json          print one line of JSON, zeros included; names are stable
        \(socket)

        \(statuses)
        """

    static let metrics = """
        usage: bitgate metrics [--socket PATH]

        Prints the counts of bitgate counters, zeros included, in the text format that
        Prometheus reads. Each group is one metric, bitgate_GROUP_total; the label
        "what" names the count. The counts name neither people nor places, and begin
        at zero when the daemon starts.

        The box itself listens on no port for this. To collect the counts, run the
        command from a timer and let node_exporter read the file it writes.

        \(socket)

        \(statuses)
        """

    static let clock = """
        usage: bitgate clock [--json] [--socket PATH]
               bitgate clock set TIME | accept [--socket PATH]

        Shows the box's clock and its source, best first:

          synchronised    the kernel keeps the system clock synchronised
          configured      clock.trust_system vouches for the system clock
          relays          two relays agree (one suffices if only one is configured)
          set             you set it
          mesh            at least three peers agree; enough for the mesh, but
                          nothing is published
          last-known      no source: the box only relays, unless nearby peers agree
                          with its clock

        The clock never goes back before the last known time unless you allow it.

          set TIME        set the clock, for example to 2026-05-01T13:45:07Z or, in
                          another zone, 2026-05-01T15:45:07+02:00. Better sources
                          overrule it.
          accept          accept the best source even if its time is earlier than the
                          last known time
          --json          print one line of JSON; its keys are stable
        \(socket)

        \(statuses)
        """

    static let channels = """
        usage: bitgate channels [--json] [--socket PATH]

        Lists the location channels the gateway carries to the mesh.

          WHY             configured: listed in gateway.channels; in use: a peer on
                          the mesh wrote there within the last hour
          PEOPLE          people who wrote or announced their presence there in the
                          last five minutes; ? in small channels, where phones do not
                          announce presence
          RELAYS          how many of the place's relays have accepted the subscription

          --json          print one line of JSON; its keys are stable
        \(socket)

        \(statuses)
        """

    static let mail = """
        usage: bitgate mail [--json] [--socket PATH]

        Shows how many sealed letters the box carries for absent people, and what
        became of others. It never shows senders, recipients or contents; the box
        cannot read them.

          FROM            trusted: people in courier.trusted; verified: all others
          LETTERS, LIMIT  letters held, and the maximum. When space runs out, letters
                          of verified peers make room for those of trusted peers, and
                          letters with a copy at a relay make room for new ones.
          OLDEST          age of the oldest letter in whole hours. Minutes would show
                          who was here. A letter expires after a day, 25 hours at most.

        A letter fetched from relays waits until its addressee is a neighbour and an
        encrypted session has proved who it is.

        The counters since the start:

          deposit_…         letters neighbours left: deposited, already carried
                            (deposit_known), or the reason for refusal
          depositor_quota, verified_full, store_full
                            refused for lack of room
          handed_over       delivered to the addressee
          shared            given to another courier
          speculative       sent in case the addressee is in reach
          lapsed, evicted   expired, or removed to make room
          drop_…            letters at relays: confirmed and failed on the way there;
                            delivered, undelivered, repeated and others on the way back
          drops_unread      relays had more letters than the box asks for
          own               addressed to the box itself; never opened

          --json          print one line of JSON; its keys are stable
        \(socket)

        \(statuses)
        """

    static let limits = """
        usage: bitgate limits [--json] [--socket PATH]

        Shows every limit that traffic can reach, its current use, and how often it
        caused a refusal since the daemon started.

          PART            mesh, gateway, bridge, mail, relays or storage
          USED            each: counted per peer or over time
          REFUSED         -: not counted separately; usually nothing is refused and the
                          oldest entry is replaced

        \(LimitGuide.text)
          --json          print one line of JSON; its keys are stable
        \(socket)

        \(statuses)
        """

    static let board = """
        usage: bitgate board [list]
               bitgate board post TEXT [--place GEOHASH [--here-only]] [--days N]
                                  [--urgent]
               bitgate board remove ID
               options of all: [--json] [--socket PATH]

        Lists the posts on the mesh's board, urgent posts first, then the newest; pins
        a post; or removes one of yours. Posts spread from phone to phone, and the box
        keeps other people's posts for phones that come later. A post has at most 512
        bytes. Each author may have five; a sixth is refused.

          --place GEOHASH   the place the post is about, instead of the mesh. The
                            relays of that place also get it as a note, which is
                            deleted together with the post
          --here-only       do not copy the post to relays
          --days N          remove it after 1 to 7 days (default \(BoardRequest.standardDays))
          --urgent          mark it as urgent, so that it travels farther
          --json            print one line of JSON; its keys are stable
        \(socket)

        \(statuses)
        """

    static let notes = """
        usage: bitgate notes GEOHASH
               bitgate notes post GEOHASH TEXT [--hours N] [--urgent]
               bitgate notes delete GEOHASH ID
               options of all: [--json] [--socket PATH]

        Shows the notes at a place and around it, pins a note, or asks the relays to
        delete one of yours. This runs only on request: the relay operators learn which
        place you look up, and a note shows where it was pinned (eight characters
        identify a building). A pinned note is published again until a relay confirms
        it.

          --hours N       readers forget the note after N hours (default
                          \(NoteRequest.standardHours)); 0: never
          --urgent        mark it as urgent
          --json          print one line of JSON; its keys are stable
        \(socket)

        \(statuses)
        """

    static let panel = """
        usage: bitgate panel [--markdown | --svg | --json]

        Explains each lamp pattern and the lamps that show it. To see the current
        patterns, run bitgate status.

          --markdown      print the table of the operator's guide
          --svg           print its picture
          --json          print each sign as durations in milliseconds, alternately lit
                          and dark, beginning with lit; empty for dark

        Exit status: 0 done, 64 wrong usage, 74 cannot write the output.

        """

    static let wipe = """
        usage: bitgate wipe [--yes \(WipeConfirmation.word)] [--socket PATH]
               bitgate wipe --status [--json] | --acknowledge | --provision

        Destroys all data of bitgated, its keys first, and gives the box a new
        identity. This cannot be undone. The command waits for the result and prints
        it.

        Afterwards the box only relays on its mesh, under a random name, unless
        panic.resume is set. If bitgated may write its configuration file, the wipe
        removes nickname, place, channels, relays, trusted people and all comments
        from it.

          --yes \(WipeConfirmation.word)   confirm without a prompt, for scripts
          --status        show how the last wipe ended
          --acknowledge   remove the wipe notice from the status
          --provision     apply the whole configuration file again; restarts bitgated
          --json          with --status: print one line of JSON; its keys are stable
        \(socket)

        Exit status: 0 the wipe is complete, 1 incomplete: data may remain, radio and
        network stay off, and each start and each wipe tries again, 64 wrong usage or
        not confirmed, 69 no daemon answers or the result did not come in time, 77 no
        permission. With --status, 0 also means that there was no wipe.

        """

    static let doctor = """
        usage: bitgate doctor [--json] [--config FILE]

        Checks this machine for problems: Bluetooth controllers, their capabilities
        and the programs that hold them; the rights of bitgated or, when it is not
        running, of this user; the kernel, the clock, the state directory and the panel;
        whether tor accepts connections, and whether bitgated's user may use it. It
        changes nothing and needs no daemon; run as root, it sees more. Problems come
        first, each with its remedy: !! stops the box from working, ! makes it work less
        well.

          --json          print one line of JSON; its keys and codes are stable
          --config FILE   bitgated's configuration
                          (default \(Configuration.defaultPath))

        Exit status: 0 no problem found, 1 problems found, 64 wrong usage, 74 cannot
        write the output.

        """

    static let tor = """
        usage: bitgate tor check FILE

        Verifies the bridges in FILE, a part of tor's configuration such as
        /etc/tor/torrc.d/bitgate.conf. It prints one mistake a line, as
        FILE:LINE: MISTAKE, and never prints the bridges. To see tor's progress, run
        bitgate status.

        Exit status: 0 the file is good, 64 wrong usage, 66 the file is missing or
        unreadable, 78 the file has mistakes.

        """

    static let relay = """
        usage: bitgate relay check URL [--config FILE]

        Connects to a Nostr relay over the configured route (Tor or direct), asks it for
        one public message, and reports how far that went. It needs no daemon and
        changes nothing.

          URL             wss://…; or ws:// for a .onion address and, without Tor, for
                          this machine
          --config FILE   bitgated's configuration
                          (default \(Configuration.defaultPath))

        Exit status: 0 the relay can be used, 64 wrong usage, 66 the configuration file
        is missing or unreadable, 69 the relay cannot be used, 78 the file has mistakes.

        """

    static let config = """
        usage: bitgate config check [FILE]
               bitgate config defaults

          check           check FILE (default \(Configuration.defaultPath)) and
                          print one mistake a line, as
                          FILE:LINE:COLUMN: KEY: what is required. Settings that are
                          allowed but have no effect are printed too, with status 0.
          defaults        print a configuration file that explains every key

        Exit status: 0 the file is good, 64 wrong usage, 66 the file is missing or
        unreadable, 78 the file has mistakes.

        """

    static let chat = """
        usage: bitgate chat --radio ADAPTER [--nick NICK] [--state DIR]
                            [--bridge on|off]
               bitgate chat --room DIR --name NAME [...]

        Joins the mesh as a separate peer. Lines you type go to everyone on the mesh.
        Lines from a pipe are sent in order once the first peer is in reach, or, with
        only a relay, once it can carry them: to a location channel or to known people.

          --radio ADAPTER   use Bluetooth, with phones: hci0, a controller's address, or
                            all. Needs CAP_NET_ADMIN or root and exclusive use of the
                            controller: stop bitgated and any Bluetooth daemon
          --room DIR        use virtual air instead: the room's directory
          --name NAME       this peer's name in the room: 1 to 32 characters of a-z,
                            0-9 and -
          --nick NICK       the name others see (default NAME, or anon and 4 digits)
          --state DIR       keep the identity and your verified, blocked and favourite
                            people there; without it, each run starts with none
          --bridge on|off   also send messages on #mesh to other meshes of the area
                            (default off)
          --relay URL[,URL] also use these relays: for location channels, and for
                            private messages to favourites who are not in reach
          --config FILE     instead use the relays and network settings of bitgated's
                            configuration
          --tor required|off
                            off: relays see this machine's address (default required)
          --trust-clock     vouch for this machine's clock. Otherwise relays wait until
                            it is synchronised, and letters wait for that or for
                            neighbours whose clocks agree

        While talking:

        \(ChatHelp.text)
        Lines begin with <NAME> when heard on this mesh, [bridge] when from another
        mesh, [#GEOHASH] when from a location channel, [private] when sent to you only,
        * when about people or this console, and ! when something failed. A private
        message has a number and a state: sending, sent, carried by a peer or a relay,
        delivered, read, or failed with the reason. The Tab key completes commands and
        names.

        You can write to absent people once they are favourites or were met: up to three
        neighbours or gateways carry the sealed message, for a day at most; with --relay
        a copy waits at relays. With --state, bitgate tries again after a restart, and
        shows each message that came while you were away once.

        Exit status: 0 left, 64 wrong usage, 69 nothing heard the lines of a pipe in ten
        seconds, 71 the room cannot be used, 73 the state directory cannot be used, 74
        cannot write the output, 75 the name or the state is in use.

        """

    static let simulate = """
        usage: bitgate simulate [--scenario NAME] [--nodes N] [--hours H] [--seed S]
                                [--svg FILE]
               bitgate simulate [--scenario NAME|any] --seeds COUNT [--seed FIRST]
                                [--keep-going]
               bitgate simulate --scenario city [--venues V] [--nodes PHONES]
                                [--hours H] [--seed S]
               bitgate simulate --list

        Simulates a mesh of real nodes on virtual links, in virtual time, and checks it
        after every step: no message is shown twice or unsigned, none circulates for
        ever, tables and budgets hold, and all deliveries agree with a simple reference
        mesh. The same command always gives the same run. With 200 nodes or more, table
        bounds are checked only after every 64th call; all other checks always run.

        The city scenario simulates mail over a day among two thousand phones. It uses
        the real mail engines above a simplified mesh and compares four ways: direct
        meetings only, phones as couriers, phones with internet, and gateways.

          --scenario NAME   the scenario (default venue); any: a small one chosen by
                            the seed
          --nodes N         number of nodes
          --hours H         virtual time, such as 6 or 0.5, to the second
          --small           let the seed choose a small run: few nodes, some minutes
          --seed S          seed of all randomness (default 1)
          --seeds COUNT     run COUNT consecutive seeds, stopping at the first failure
          --keep-going      run all seeds, even after a failure
          --svg FILE        draw the mesh and the delay of one message to each node
          --steps COUNT     stop after COUNT steps
          --sabotage CHECK  inject a fault that CHECK must detect
          --list            list the scenarios

        Exit status: 0 all checks passed, 1 a check failed (its place and the command to
        replay it are printed), 64 wrong usage.

        """
}
