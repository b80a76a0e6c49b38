import Basics
import EventLoop
import Nostr
import Uplink

/// Gets documents from servers, over whatever route the network gate admits at that moment.
protocol DocumentFetcher: AnyObject {
    /// - Parameters:
    ///   - url: `wss` stands for `https`.
    ///   - limit: of the document, in bytes.
    ///   - completion: called once, later.
    func fetch(
        _ url: NostrRelayURL, as role: IsolationKeys.Role, accept: String?, limit: Int, timeout: Interval,
        completion: @escaping (Result<[UInt8], DocumentFailure>) -> Void)
}

/// Why there is no document, for the operator.
struct DocumentFailure: Error, Equatable {
    let text: String
}

enum DirectoryLimits {
    /// How often it is looked whether a fetch is due and the route is there.
    static let look = Interval.seconds(60)
}

/// Keeps the list of relays and their places: what was fetched last, what lies in the operator's file, whichever is
/// newer, and a fresh one once a day (chapter 05 §14.1–14.3).
final class DirectoryKeeper {
    enum Source: Equatable {
        /// Own relays carry everything: no list is needed.
        case unneeded
        case none
        case file
        case fetched(WallTime)
    }

    /// Empty where there is none.
    private(set) var directory = GeoRelayDirectory.empty
    private(set) var source = Source.unneeded
    /// What is wrong with the operator's file.
    private(set) var fileProblem: String?
    /// Why the last fetch brought nothing.
    private(set) var fetchProblem: String?
    /// The list is another now.
    var onChange: (() -> Void)?

    private let loop: any EventLoop
    private let archive: NostrArchive?
    private let fetcher: (any DocumentFetcher)?
    /// Whether relays may be dialled right now; so may then the list's server.
    var isRouteOpen: () -> Bool = { false }
    private var wasRouteOpen = false
    private var url: NostrRelayURL?
    private var refresh: GeoRelayRefresh?
    private var timer: (any Cancellable)?
    /// Set apart from those before, so that a fetch begun for other settings is ignored.
    private var generation = 0

    init(loop: any EventLoop, archive: NostrArchive?, fetcher: (any DocumentFetcher)?) {
        self.loop = loop
        self.archive = archive
        self.fetcher = fetcher
    }

    /// Takes the list the settings lead to.
    func load(_ settings: Configuration.Nostr) {
        generation += 1
        timer?.cancel()
        refresh = nil
        fileProblem = nil
        fetchProblem = nil
        directory = .empty
        source = settings.useBuiltInRelays ? .none : .unneeded
        guard settings.useBuiltInRelays else { return }

        var fileDate = WallTime(milliseconds: 0)
        do {
            (directory, fileDate) = try GeoRelayDirectory.read(settings.directory)
            source = .file
        } catch {
            fileProblem = "\(error)"
        }
        let cached = archive?.directory
        if let cached, fileDate < cached.fetchedAt || source == .none,
            let fetched = try? GeoRelayDirectory(csv: cached.csv)
        {
            directory = fetched
            source = .fetched(cached.fetchedAt)
        }
        url = settings.directoryURL.isEmpty ? nil : NostrRelayURL(settings.directoryURL)
        guard url != nil, fetcher != nil else { return }
        refresh = GeoRelayRefresh(lastSuccess: cached?.fetchedAt, at: loop.now)
        wasRouteOpen = isRouteOpen()
        look()
    }

    func stop() {
        generation += 1
        timer?.cancel()
        onChange = nil
    }

    /// A relay was reached: so may be the list's server.
    func routeOpened() {
        guard directory.entries.isEmpty else { return look() }
        look(forced: fetchProblem != nil)
    }

    /// A route that was closed and is open now forces a fetch (chapter 05 §14.3).
    private func look(forced: Bool = false) {
        timer?.cancel()
        timer = loop.schedule(after: DirectoryLimits.look) { [weak self] in self?.look() }
        let isOpen = isRouteOpen()
        let isForced = forced || !wasRouteOpen
        wasRouteOpen = isOpen
        guard let url, let fetcher, isOpen, refresh?.begin(forced: isForced, at: loop.now) ?? false else { return }
        let generation = generation
        fetcher.fetch(
            url, as: .directory, accept: "text/csv", limit: GeoRelayDirectory.maximumFileBytes,
            timeout: GeoRelayRefresh.timeout
        ) { [weak self] result in
            guard let self, self.generation == generation else { return }
            switch result {
            case .success(let csv): take(csv)
            case .failure(let failure): fail(failure.text)
            }
        }
    }

    private func take(_ csv: [UInt8]) {
        let fetched: GeoRelayDirectory
        do {
            fetched = try GeoRelayDirectory(csv: csv)
        } catch {
            return fail("the fetched list is not one: \(error)")
        }
        guard directory.admitsReplacement(by: fetched) else {
            return fail(
                "the fetched list has \(fetched.entries.count) relays, too few or too different from the present one")
        }
        refresh?.succeeded(at: loop.now)
        fetchProblem = nil
        archive?.keep(directory: csv, fetchedAt: loop.now.wall)
        let isNews = fetched != directory
        directory = fetched
        source = .fetched(loop.now.wall)
        if isNews { onChange?() }
    }

    private func fail(_ problem: String) {
        refresh?.failed(at: loop.now)
        fetchProblem = problem
    }
}
