import Station

/// The help texts.
enum Help {
    static let overview = """
        bitgate is the operator's command of bitgated, the bitchat gateway.

        usage: bitgate COMMAND [OPTIONS]

          status            what the daemon is doing, and what keeps it from doing more
          peers             who is on the mesh
          counters          what was counted, drops by their reason
          channels          the location channels listened to, and who is there
          mail              the letters it carries for people who are away, in numbers
          limits            every bound, how much of it is used, and what it refused
          board             read, pin and take down posts on the board of the mesh
          notes             read, pin and take away notes of a place
          clock             what time it is for the box, and your say in it
          wipe              destroy all the box remembers, and its identity
          panel             what the lamps of a box say
          doctor            what this machine lacks for the radio and the box
          relay check       try whether a relay can be used from here
          config check      verify a configuration file without starting
          config defaults   print every key with its meaning and default
          tor check         verify the bridges in a file of tor's configuration
          chat              talk on the mesh, as a peer of its own
          simulate          play a whole mesh in virtual time and check what it promises

          help COMMAND      what a command takes, and its exit statuses
          help --man PAGE   a manual page: bitgate.1, bitgated.8 or bitgate.toml.5
          --version

        """

    private static let socket = """
          --socket PATH   where the daemon listens
                          (default \(Configuration().controlSocket))
        """

    private static let statuses = """
        Exit status: 0 done, 64 wrong usage, 69 no daemon answers, 74 the output
        cannot be written, 75 the daemon is busy, 76 it refused, or its answer was not
        understood, 77 no permission.

        """

    static let status = """
        usage: bitgate status [--json] [--socket PATH]

        Shows what the daemon is doing, from what it observed. What keeps it from doing
        more comes first, marked with !, each with the remedy.

          --json          one line of JSON; its keys are stable
        \(socket)

        \(statuses)
        """

    static let peers = """
        usage: bitgate peers [--json] [--socket PATH]
               bitgate peers forget ID [--json] [--socket PATH]

        Lists the peers heard on the mesh. Names and offers are their own claims.
        Whoever comes under a known ID with another signing key is not believed: forget
        lets the box take the next key of that ID for good, as at the first time.

          WHERE           neighbour: on a link of its own; in reach: heard through
                          others; gone: silent, and soon forgotten
          OFFERS          what it does for phones: gateway carries location channels,
                          bridge joins this mesh with others of the area it names

          --json          one line of JSON; its keys are stable
        \(socket)

        \(statuses)
        """

    static let counters = """
        usage: bitgate counters [--json] [--socket PATH]

        Prints what was counted since the daemon started; counts of zero are left out.

          mesh                packets and frames of the mesh node
          mesh_drops          what the mesh node refused or left out, by reason
          bluetooth           links of the Bluetooth radio, how they ended and what they
                              dropped
          bluetooth_adapters  what controllers did, and how they were brought back
          att_drops           what phones sent over the attribute protocol and was
                              refused
          att_failures        why the attribute protocol gave links up
          air_drops           what virtual air refused
          nostr               connections, frames and events of all relays
          nostr_answers       what relays said to published events, by NIP-01's words
          nostr_drops         what relays sent and was refused, and what was not sent
          nostr_failures      how connections to relays ended
          channel_deposits    location channels: messages peers handed in for relays
          channel_broadcasts  messages another gateway brought to this mesh
          channel_downlinks   messages of relays for this mesh, and echoes of deposits
          bridge_deposits, bridge_broadcasts, bridge_downlinks
                              the same for lines that cross the bridge
          mail                letters carried for others: taken in, handed over, left at
                              relays and fetched there, and why not
          control             requests of this command
          vault               what is kept over a restart

        In the channel and bridge groups, published, queued, heard, held, sent, echoed
        and counted are successes. The rest say why something was not carried; repeated
        is the usual one: it was seen before.

          --json          one line of JSON, zeros included; names are stable
        \(socket)

        \(statuses)
        """

    static let clock = """
        usage: bitgate clock [--json] [--socket PATH]
               bitgate clock set TIME | accept [--socket PATH]

        Shows the time by which the box dates and judges what it carries, and its source:

          synchronised    the kernel keeps the system's clock in step
          configured      clock.trust_system vouches for the system's clock
          relays          at least two relays agree (or the only one configured says so)
          set             you set it
          mesh            three peers or more agree: good for the mesh, nothing is
                          published
          last-known      nobody tells: the box only listens and passes on, unless
                          those it hears have the same time

        The time never goes below the last known one by itself.

          set TIME        says what time it is, as 2026-05-01T13:45:07Z or with another
                          zone's +02:00. Better sources overrule it.
          accept          believes what the best source says, though it is earlier than
                          what was known before
          --json          one line of JSON; its keys are stable
        \(socket)

        \(statuses)
        """

    static let channels = """
        usage: bitgate channels [--json] [--socket PATH]

        Lists the location channels that are brought to the mesh.

          WHY             configured: in gateway.channels; in use: somebody on the mesh
                          wrote there within the hour
          PEOPLE          who wrote or said to be there in the last five minutes; ? in
                          channels so fine that nobody tells
          RELAYS          how many relays of the place have it subscribed

          --json          one line of JSON; its keys are stable
        \(socket)

        \(statuses)
        """

    static let mail = """
        usage: bitgate mail [--json] [--socket PATH]

        Tells how many sealed letters the box carries for people who are away, and what
        became of others. Whose they are and who left them it does not tell, and what
        is in them the box cannot read.

          FROM            trusted: the people in courier.trusted; verified: all others
          LETTERS, LIMIT  how many there are, and how many there may be. Letters of
                          verified peers make room for those of trusted ones, and one
                          that a relay has a copy of for a new one.
          OLDEST          how many hours ago the oldest was left, and no minutes, which
                          would tell who stood there; after a day, at most 25 hours,
                          one is thrown away

        A letter that is fetched from relays waits for its addressee to come so near
        that the box can tell by an encrypted session who it is.

        The counts since the start: deposited, deposit_known (carried already) and the
        other deposit_… say what neighbours left, and why it was not taken;
        depositor_quota, verified_full and store_full: there was no room. handed_over
        reached whom they are for; shared went on with another courier; speculative
        were sent on the chance that they arrive; lapsed and evicted are gone. drop_…
        are letters at relays: confirmed and failed on their way there, delivered,
        undelivered, repeated and the rest on the way back; drops_unread: relays had
        more than is asked for. own were for the box itself, which has nobody to read
        them.

          --json          one line of JSON; its keys are stable
        \(socket)

        \(statuses)
        """

    static let limits = """
        usage: bitgate limits [--json] [--socket PATH]

        Prints every bound that traffic can reach: how much of it is used now, and how
        often something was refused for its sake since the daemon started.

          PART            mesh, gateway, bridge, mail, relays or storage
          USED            each: counted for every peer, or over time, apart
          REFUSED         -: not counted apart; mostly nothing is refused, and what is
                          oldest makes room

        \(LimitGuide.text)
          --json          one line of JSON; its keys are stable
        \(socket)

        \(statuses)
        """

    static let board = """
        usage: bitgate board [list]
               bitgate board post TEXT [--place GEOHASH [--here-only]] [--days N]
                                  [--urgent]
               bitgate board remove ID
               options of all: [--json] [--socket PATH]

        Lists what is pinned on the board of the mesh, urgent posts first, then the
        newest; pins a post, or takes down one of your own. Posts go from phone to
        phone, and the box keeps those of others for whoever comes later. A post has at
        most 512 bytes; of one author five are kept, so that a sixth of yours is
        refused.

          --place GEOHASH   what place it is about, instead of the mesh itself. The
                            relays of that place get a copy of it as a note, which
                            goes with the post
          --here-only       no copy goes to relays
          --days N          after so many days, 1 to 7, it is gone (default
                            \(BoardRequest.standardDays))
          --urgent          mark it as urgent: it travels farther
          --json            one line of JSON; its keys are stable
        \(socket)

        \(statuses)
        """

    static let notes = """
        usage: bitgate notes GEOHASH
               bitgate notes post GEOHASH TEXT [--hours N] [--urgent]
               bitgate notes delete GEOHASH ID
               options of all: [--json] [--socket PATH]

        Shows the notes pinned to a place and its neighbourhood, pins one, or asks the
        relays to take away one of your own. Nothing of it happens by itself: whoever
        runs a relay learns which place you ask about, and a note tells where it was
        pinned, to the building with eight characters. What you pin is published until
        a relay confirms it.

          --hours N       after so many hours readers forget the note (default
                          \(NoteRequest.standardHours)); 0: never
          --urgent        mark it as urgent
          --json          one line of JSON; its keys are stable
        \(socket)

        \(statuses)
        """

    static let panel = """
        usage: bitgate panel [--markdown | --svg | --json]

        Prints what each pattern of the lamps means, and on which lamps it is seen.
        bitgate status tells what they show right now.

          --markdown      the table of the operator's guide
          --svg           its picture
          --json          for each sign how long it is lit and dark, in milliseconds,
                          alternating and beginning with lit; empty for dark

        Exit status: 0 done, 64 wrong usage, 74 the output cannot be written.

        """

    static let wipe = """
        usage: bitgate wipe [--yes \(WipeConfirmation.word)] [--socket PATH]
               bitgate wipe --status [--json] | --acknowledge | --provision

        Destroys all that bitgated remembers, its keys first, and gives the box a new
        identity. Nobody can undo it. Waits for the outcome and tells it.

        Afterwards the box only relays on its mesh, under a random name, unless
        panic.resume is set. Where bitgated may write its configuration file, the wipe
        takes nickname, place, channels, relays, trusted people and all comments out.

          --yes \(WipeConfirmation.word)   for scripts: instead of typing the word
          --status        how the last wipe ended
          --acknowledge   you have seen it: the notice in the status goes away
          --provision     let the whole configuration file count again; restarts
                          bitgated
          --json          with --status: one line of JSON; its keys are stable
        \(socket)

        Exit status: 0 wiped and all went well, 1 incomplete: data may remain, radio and
        network stay off, each start and each wipe tries again, 64 wrong usage or not
        confirmed, 69 no daemon answers or none tells the outcome in time, 77 no
        permission. With --status, 0 also when there was no wipe.

        """

    static let doctor = """
        usage: bitgate doctor [--json] [--config FILE]

        Looks at this machine as a gateway would: Bluetooth adapters and what they can
        do, who else holds them, the rights of bitgated or, when it does not run, of this
        user, the kernel, the clock, the state directory, the panel, whether tor takes
        connections, and whether bitgated's user may use it. It changes nothing and
        needs no daemon; root sees more. What stands in the way comes first, each with
        the remedy: !! for what keeps the box from working, ! for what makes it work
        less well.

          --json          one line of JSON; its keys and codes are stable
          --config FILE   bitgated's configuration
                          (default \(Configuration.defaultPath))

        Exit status: 0 all is well, 1 something was found, 64 wrong usage, 74 the output
        cannot be written.

        """

    static let tor = """
        usage: bitgate tor check FILE

        Verifies the bridges in FILE, a piece of tor's configuration such as
        /etc/tor/torrc.d/bitgate.conf, and prints the mistakes, one a line, as
        FILE:LINE: what is wrong. Bridges themselves are not printed. How far tor has
        come tells bitgate status.

        Exit status: 0 the file is good, 64 wrong usage, 66 no such file or not
        readable, 78 the file has mistakes.

        """

    static let relay = """
        usage: bitgate relay check URL [--config FILE]

        Dials a relay over the route that is configured, through Tor or directly, asks
        it for one public message, and says in words how far that got. Needs no daemon
        and changes nothing.

          URL             wss://… ; ws:// for .onion, and for this machine without Tor
          --config FILE   bitgated's configuration
                          (default \(Configuration.defaultPath))

        Exit status: 0 the relay can be used, 64 wrong usage, 66 no such configuration
        file or not readable, 69 the relay cannot be used, 78 the file has mistakes.

        """

    static let config = """
        usage: bitgate config check [FILE]
               bitgate config defaults

          check           reads FILE (default \(Configuration.defaultPath)) and
                          prints its mistakes, one a line, as
                          FILE:LINE:COLUMN: KEY: what must stand there; or what is
                          allowed and yet cannot come true, with status 0
          defaults        prints a configuration file that explains every key

        Exit status: 0 the file is good, 64 wrong usage, 66 no such file or not
        readable, 78 the file has mistakes.

        """

    static let chat = """
        usage: bitgate chat --radio ADAPTER [--nick NICK] [--state DIR]
                            [--bridge on|off]
               bitgate chat --room DIR --name NAME [...]

        Joins the mesh as a peer of its own and talks: what you type goes to everybody
        on it. Lines may come from a pipe as well; they are said in order, when the
        first peer is in reach. A relay alone lets those through that relays carry: in a
        location channel, and to people who are known.

          --radio ADAPTER   over Bluetooth, with phones: hci0, the address of a
                            controller, or all. Needs CAP_NET_ADMIN or root, and the
                            controller for itself: no Bluetooth daemon, no bitgated
          --room DIR        over virtual air instead: the room's directory
          --name NAME       this peer's name in the room: 1 to 32 characters of a-z,
                            0-9 and -
          --nick NICK       the name others see (default NAME, or anon and 4 digits)
          --state DIR       keep the identity there, and whom you verified, blocked or
                            made a favourite; without it both are new each time
          --bridge on|off   also send what is said on #mesh to other meshes of the
                            area (default off)
          --relay URL[,URL] also be at these relays: private messages to favourites who
                            are not in reach go there, and location channels
          --config FILE     the relays and network settings of bitgated's file instead
          --tor required|off
                            off: relays see this machine's address (default required)
          --trust-clock     you vouch for this machine's clock; relays wait for one that
                            is synchronised, and letters for that or for neighbours
                            whose clocks agree

        While talking:

        \(ChatHelp.text)
        Lines begin with <NAME> when heard on this mesh, with [bridge] when they came
        from another mesh, with [#GEOHASH] when from a location channel, with [private]
        when said to you only, with * when about people or this console, and with !
        when something could not be done. A private message has a number; what becomes
        of it is told by that: sending, sent, carried by somebody or by a relay,
        delivered, read, or failed and why. The Tab key completes commands and names.

        Who is away is written to as well, once they are a favourite or were met: the
        message is sealed, and up to three neighbours or gateways carry it, for a day
        at most; with --relay a copy waits at relays. With --state it is tried again
        after a restart, and what came while you were away is shown once.

        Exit status: 0 left, 64 wrong usage, 69 lines came from a pipe and nobody came
        to hear them in ten seconds, 71 the room cannot be used, 73 the state directory
        cannot be used, 74 the output cannot be written, 75 the name or the state is in
        use.

        """

    static let simulate = """
        usage: bitgate simulate [--scenario NAME] [--nodes N] [--hours H] [--seed S] [--svg FILE]
               bitgate simulate [--scenario NAME|any] --seeds COUNT [--seed FIRST] [--keep-going]
               bitgate simulate --scenario city [--venues V] [--nodes PHONES] [--hours H] [--seed S]
               bitgate simulate --list

        Plays a mesh of real nodes on simulated links, in virtual time. Checks run after every step: nobody hears a
        message twice or unsigned, nothing goes round in circles, tables and budgets hold, and what was heard agrees
        with a plain reference mesh. The same command gives the same run, to the last delivery.
        From 200 nodes up, tables are compared with their bounds after every 64th call only; all else is always checked.

        city is a day of two thousand phones, for letters: the engines that decide about mail are the real ones, what is
        below them is coarse. It compares meeting only, phones that carry, the apps online, and gateways.

          --scenario NAME   what to play (default venue); any: a small one that the seed chooses
          --nodes N         how many nodes
          --hours H         how much virtual time, such as 6 or 0.5, to the second
          --small           let the seed choose a small number of nodes and some minutes
          --seed S          where all chance comes from (default 1)
          --seeds COUNT     so many seeds, one after the other, up to the first broken promise
          --keep-going      to the last seed, whatever breaks
          --svg FILE        draw the mesh and how long one message took to each node
          --steps COUNT     stop after so many steps
          --sabotage CHECK  slip CHECK a fault, to see that it notices
          --list            the scenarios

        Exit status: 0 every promise kept, 1 one was broken (where, and how to replay it, is printed), 64 wrong usage.

        """
}
