import EventLoop
import Glibc
import Station

/// The daemon's program: reads the configuration, runs the station until a signal ends it.
enum Daemon {
    private static let help = """
        bitgated is the bitchat gateway: a mesh node that joins its neighbours to
        location channels and to other meshes of the area.

        usage: bitgated [--config FILE]

          --config FILE   the configuration (default \(Configuration.defaultPath));
                          bitgate config defaults prints one that explains every key
          --help
          --version

        It stays in the foreground and logs to standard error. SIGTERM and SIGINT stop
        it: it withdraws what it offers and says goodbye to the mesh. SIGHUP makes it
        read the configuration again; bitgate status names the keys that wait for a
        restart. The bitgate command shows what it does. Under systemd it says when it
        is ready, and feeds the watchdog as long as one of its radios shows life.

        Exit status: 0 stopped as told, 64 wrong usage, 66 no such configuration file
        or not readable, 71 the system refused something, 73 the state directory or the
        identity in it cannot be used, 75 the state, the socket or the name in the room
        is in use, 78 the configuration has mistakes.

        A wipe that was begun is completed before anything else. While it cannot be,
        the daemon keeps radio and network off and answers bitgate wipe --status.

        """

    static func run(_ arguments: [String]) -> Int32 {
        do throws(StationFault) {
            let arguments = try Arguments(
                arguments, flags: ["--help", "-h", "--version"], options: ["--config"])
            try arguments.expectWords(atMost: 0)
            if arguments.has("--help") || arguments.has("-h") {
                print(help, terminator: "")
                return ExitStatus.ok
            }
            if arguments.has("--version") {
                print("bitgated \(Version.text)")
                return ExitStatus.ok
            }
            try serve(arguments.value("--config") ?? Configuration.defaultPath)
            return ExitStatus.ok
        } catch {
            Log.toStandardError("bitgated: \(error)\n")
            return error.exitStatus
        }
    }

    private static func serve(_ path: String) throws(StationFault) {
        let configuration = try Configuration(contentsOf: path)
        CoreDumps.disable()
        signal(SIGPIPE, SIG_IGN)
        let loop: any EventLoop
        do { loop = try LibeventLoop() } catch { throw .system("\(error)") }
        let log = Log(
            level: configuration.log.level, hasPriorityPrefix: getenv("JOURNAL_STREAM") != nil,
            clock: { SystemClock.monotonic }, write: Log.toStandardError)
        let box: any Box
        do throws(StationFault) {
            box = try BoxStart.prepare(configuration, from: path, loop: loop, log: log, restart: restart)
        } catch {
            Log.toStandardError("bitgated: \(error)\n")
            BoxStart.show(error, configuration, loop: loop)
            exit(error.exitStatus)
        }
        let supervision = Supervision(box, loop: loop)
        for number in [SIGTERM, SIGINT] {
            loop.onSignal(number) {
                supervision.stopping()
                box.stop()
            }
        }
        loop.onSignal(SIGHUP) {
            do {
                box.reload(try Configuration(contentsOf: path))
                supervision.reloaded()
            } catch {
                log.error("the configuration was not read again: see bitgate config check \(path: path)")
            }
        }
        try box.start()
        supervision.ready()
        loop.run()
    }

    /// Puts a fresh process in the place of this one: same number, same arguments, nothing of its memory. If the system
    /// refuses, the supervisor starts the next one.
    private static func restart() {
        var arguments = CommandLine.arguments.map { strdup($0) }
        arguments.append(nil)
        execv("/proc/self/exe", arguments)
        Log.toStandardError("bitgated: cannot restart: \(SystemError.text(errno))\n")
        exit(ExitStatus.tryLater)
    }
}
