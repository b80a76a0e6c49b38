import EventLoop
import Glibc
import Station

/// The daemon's program: reads the configuration, runs the station until a signal ends it.
enum Daemon {
    static func run(_ arguments: [String]) -> Int32 {
        do throws(StationFault) {
            let arguments = try Arguments(
                arguments, flags: ["--help", "-h", "--version"], options: ["--config"])
            try arguments.expectWords(atMost: 0)
            if arguments.has("--help") || arguments.has("-h") {
                print(DaemonHelp.text, terminator: "")
                return ExitStatus.ok
            }
            if arguments.has("--version") {
                print("bitgated \(Version.text)")
                return ExitStatus.ok
            }
            return try serve(arguments.value("--config") ?? Configuration.defaultPath)
        } catch {
            Log.toStandardError("bitgated: \(error)\n")
            return error.exitStatus
        }
    }

    private static func serve(_ path: String) throws(StationFault) -> Int32 {
        CoreDumps.disable()
        StopSignals.hold()
        signal(SIGPIPE, SIG_IGN)
        let loop: any EventLoop
        do { loop = try LibeventLoop() } catch { throw .system("\(error)") }
        let found: SalvagedConfiguration
        var mistakes: StationFault?
        do throws(StationFault) {
            found = SalvagedConfiguration(whole: try Configuration(contentsOf: path))
        } catch {
            found = SalvagedConfiguration(from: path)
            mistakes = error
        }
        let configuration = found.configuration
        let log = Log(
            level: configuration.log.level, hasPriorityPrefix: getenv("JOURNAL_STREAM") != nil,
            clock: { SystemClock.monotonic }, write: Log.toStandardError)
        let start = BoxStart(found, from: path, loop: loop, log: log, restart: restart)
        let box: any Box
        do throws(StationFault) {
            if let mistakes {
                guard let silent = start.completeWipe() else { throw mistakes }
                box = silent
            } else {
                box = try start.prepare()
            }
            try box.start()
        } catch {
            Log.toStandardError("bitgated: \(error)\n")
            start.hold(error)
            return error.exitStatus
        }
        let supervision = Supervision(box, loop: loop)
        for number in StopSignals.all {
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
                let file = Configuration.absolutePath(path)
                log.error("the configuration was not read again: see bitgate config check \(path: file)")
                box.refusedToReload(from: file)
            }
        }
        StopSignals.release()
        supervision.ready()
        loop.run()
        return box.exitStatus
    }

    /// Replaces this process with a fresh one: same PID and arguments, none of its memory.
    private static func restart() throws(SystemError) {
        var arguments = CommandLine.arguments.map { strdup($0) }
        arguments.append(nil)
        execv("/proc/self/exe", arguments)
        throw .last("execv", subject: "/proc/self/exe")
    }
}
