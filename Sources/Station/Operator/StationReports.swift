import Basics
import Crypto
import EventLoop
import Gateway
import Mesh
import Nostr
import Radio
import Wire

/// What the station tells the operator.
extension Station {
    var statusReport: StatusReport {
        let now = now
        let service = gateway.status(at: now)
        let peers = mesh.peers(at: now)
        return StatusReport(
            version: Version.text, uptimeSeconds: seconds(since: started, now), peer: mesh.me.hex,
            nickname: configuration.nickname(for: mesh.me), attention: attention,
            clock: ClockReport(clock),
            radio: StatusReport.Radio(
                kind: configuration.radio.kind.rawValue, adapters: radio.adapters.map { adapter($0, now) },
                links: mesh.links.map { link($0, now) }),
            mesh: StatusReport.Mesh(
                neighbours: peers.count { $0.isConnected }, reachable: peers.count { $0.isReachable }),
            gateway: report(
                service.channels, enabled: configuration.gateway.isEnabled,
                advertised: service.advertisement.capabilities.contains(.gateway), channels: service.followedChannels),
            bridge: report(
                service.bridge, enabled: configuration.bridge.isEnabled,
                advertised: service.advertisement.capabilities.contains(.bridge), cell: configuration.cell?.geohash),
            mail: mailStatus, network: networkReport, storage: storage, panel: panelReport)
    }

    private var storage: StatusReport.Storage {
        let status = vault.status
        return StatusReport.Storage(
            mode: configuration.storage.rawValue,
            state: status.trouble.map { Station.stableName($0.rawValue) } ?? "ok", records: status.records,
            bytes: status.bytes, waitingBytes: status.waitingBytes, writtenLastDay: status.writtenToday)
    }

    public var liveness: [RadioLiveness] { silent == nil ? radio.liveness : [] }

    public var summary: String {
        if let silent { return silent.summary }
        func count(_ number: Int, _ name: String) -> String { "\(number) \(name)\(number == 1 ? "" : "s")" }
        let report = statusReport
        let needs = report.attention.count
        return [
            count(report.mesh.neighbours, "neighbour"),
            count(report.network.relays.count { $0.state == "connected" }, "relay") + " connected",
        ].joined(separator: ", ") + (needs == 0 ? "" : "; \(count(needs, "thing")) to look at: bitgate status")
    }

    var peerReports: [PeerReport] {
        let now = now
        let peers = mesh.peers(at: now).map { peer in
            PeerReport(
                peer: peer.id.hex, nickname: peer.nickname, neighbour: peer.isConnected, reachable: peer.isReachable,
                lastHeardSeconds: seconds(since: peer.lastSeen, now),
                gateway: peer.capabilities?.contains(.gateway) ?? false,
                bridge: peer.capabilities?.contains(.bridge) ?? false, cell: peer.bridgeCell)
        }
        return PeerReport.listed(peers)
    }

    var counterReport: CounterReport {
        let counters = gateway.counters
        var report: CounterReport = [
            "mesh": named(mesh.counts.all),
            "mesh_drops": named(mesh.drops.all),
            "nostr": named(uplink.client.activity.all),
            "nostr_answers": named(uplink.client.answers.all),
            "nostr_drops": named(uplink.client.drops.all),
            "nostr_failures": named(uplink.client.failures.all),
            "channel_deposits": named(counters.channelDeposits.all),
            "channel_broadcasts": named(counters.channelBroadcasts.all),
            "channel_downlinks": named(counters.channelDownlinks.all),
            "bridge_deposits": named(counters.bridgeDeposits.all),
            "bridge_broadcasts": named(counters.bridgeBroadcasts.all),
            "bridge_downlinks": named(counters.bridgeDownlinks.all),
            "bridge": named([("radio_forgotten_early", counters.radioForgottenEarly)]),
            "mail": named(courier?.outcomes.all ?? []),
            "control": named(controlTally.all),
            "vault": named(vault.counts.all),
        ]
        for (group, counts) in radio.counters { report[group] = named(counts) }
        return report
    }

    /// What keeps the box from doing all it is set to do.
    var attention: [StatusReport.Attention] {
        var items: [StatusReport.Attention] = []
        func add(_ code: String, _ message: String, _ remedy: String) {
            items.append(StatusReport.Attention(code: code, message: message, remedy: remedy))
        }
        items += wipeAttention + storageAttention + RadioAdvice.attention(of: radio, at: now.monotonic)
        let carries = configuration.gateway.isEnabled || configuration.bridge.isEnabled
        items += clockAttention + networkAttention + mailAttention + panelAttention
        if carries, uplink.route.access == .open, !uplink.isConnected {
            add(
                "no_relay", "No relay is connected: messages of mesh-only phones wait, at most 20 of them.",
                uplink.client.defaultRelays.isEmpty
                    ? "Name relays in nostr.relays." : "See the reason beside each relay below.")
        }
        if carries, directory.source == .none {
            let problem = directory.fetchProblem ?? directory.fileProblem
            add(
                "no_relay_directory",
                "There is no list of relays and their places, so no place has relays and nothing is carried"
                    + (problem.map { ": \($0)." } ?? "."),
                configuration.nostr.directoryURL.isEmpty
                    ? "Put it at \(configuration.nostr.directory), or set nostr.directory_url."
                    : "It is fetched once a relay is reached; or put it at \(configuration.nostr.directory).")
        }
        if configuration.bridge.isEnabled, configuration.cell == nil {
            add("no_location", "The bridge rests: it does not know where the box stands.", "Set location.cell.")
        }
        if let file = refusedFile {
            add(
                "configuration_refused",
                "The configuration file has mistakes and was not loaded; the next start with it will fail.",
                "bitgate config check \(file) shows the mistakes; correct them, then reload.")
        }
        if !keysAwaitingRestart.isEmpty {
            add(
                "restart_needed",
                "The configuration file was changed, and not all of it has taken effect: "
                    + keysAwaitingRestart.joined(separator: ", ") + ".", "Restart bitgated.")
        }
        if SecretMemory.unlockedBytes > 0 {
            add(
                "unlocked_keys",
                "The system refused to lock \((SecretMemory.unlockedBytes + 1_023) / 1_024) KiB of keys in memory;"
                    + " they may reach a swap partition.", Diagnosis.lockingRemedy)
        }
        if let problem = radio.problem {
            add("air_range", "The room's range file: \(problem)", "Correct \(configuration.air.room)/range.")
        }
        return items
    }

    private func link(_ link: LinkSnapshot, _ now: Now) -> StatusReport.Link {
        StatusReport.Link(
            number: link.id.value, adapter: radio.adapterName(of: link.id),
            role: link.role == .outgoing ? "outgoing" : "incoming", frameLimit: link.frameLimit,
            upSeconds: seconds(since: link.upSince, now), framesIn: link.framesIn, framesOut: link.framesOut,
            lastInSeconds: link.lastIn.map { seconds(since: $0, now) },
            lastOutSeconds: link.lastOut.map { seconds(since: $0, now) })
    }

    private func adapter(_ adapter: AdapterSnapshot, _ now: Now) -> StatusReport.Adapter {
        StatusReport.Adapter(
            name: adapter.name, state: Station.stableName(adapter.state.rawValue), advertising: adapter.isAdvertising,
            scanning: adapter.isScanning, outgoing: adapter.outgoing, incoming: adapter.incoming,
            connecting: adapter.connecting, limit: adapter.limit,
            lastInSeconds: adapter.lastReceived.map { seconds(since: $0, now) },
            lastOutSeconds: adapter.lastSent.map { seconds(since: $0, now) },
            lastReportSeconds: adapter.lastReport.map { seconds(since: $0, now) },
            lastAcceptedSeconds: adapter.lastAccepted.map { seconds(since: $0, now) })
    }

    private func report(
        _ service: GatewayStatus.Service, enabled: Bool, advertised: Bool, cell: String? = nil,
        channels: [String]? = nil
    ) -> StatusReport.Service {
        StatusReport.Service(
            enabled: enabled, advertised: advertised, cell: cell, channels: channels,
            queuedDeposits: service.queuedDeposits.used, pendingDownlinks: service.pendingDownlinks.used,
            carriersLastMinute: service.carriers.used, carriersLimit: service.carriers.limit)
    }

    func relayReport(_ relay: NostrRelayStatus, _ now: Now) -> StatusReport.Relay {
        func ago(_ time: WallTime) -> Int { Int(time.distance(to: now.wall) / 1_000) }
        return StatusReport.Relay(
            url: relay.url.text, state: relay.state.rawValue, lastEventSeconds: relay.lastEvent.map(ago),
            lastAcceptedSeconds: relay.lastAccepted.map(ago),
            accepted: relay.answers.all.reduce(0) {
                $0 + (RelayAnswer(rawValue: $1.name)?.isSuccess == true ? $1.count : 0)
            },
            refused: relay.answers.all.reduce(0) {
                $0 + (RelayAnswer(rawValue: $1.name)?.isSuccess == true ? 0 : $1.count)
            },
            pending: relay.pendingEvents, subscriptions: relay.subscriptions.count(where: \.isActive),
            refusals: relay.subscriptions.compactMap { subscription in
                guard let reason = subscription.lastRefusal, let retryAt = subscription.retryAt else { return nil }
                return StatusReport.Refusal(
                    subscription: subscription.id, reason: reason.rawValue,
                    retrySeconds: max(0, Int((retryAt - now.monotonic).seconds)))
            },
            problem: relay.isConnected ? nil : uplink.problems[relay.url]?.description)
    }

    func directoryReport(_ now: Now) -> StatusReport.Directory {
        var age: Int?
        let source: String
        switch directory.source {
        case .unneeded: source = "unneeded"
        case .none: source = "none"
        case .file: source = "file"
        case .fetched(let at):
            source = "fetched"
            age = at < now.wall ? Int(at.distance(to: now.wall) / 1_000) : 0
        }
        return StatusReport.Directory(
            source: source, relays: directory.directory.entries.count, ageSeconds: age, problem: directory.fetchProblem)
    }

    private func seconds(since instant: Instant, _ now: Now) -> Int { Int((now.monotonic - instant).seconds) }

    func named(_ counts: [(name: String, count: UInt64)]) -> [String: UInt64] {
        Dictionary(counts.map { (Station.stableName($0.name), $0.count) }, uniquingKeysWith: { $1 })
    }

    /// One spelling for the reasons of all modules: `frame-too-long`, `frameTooLong` and `frame_too_long` are the last.
    static func stableName(_ name: String) -> String {
        var out = ""
        for character in name {
            if character == "-" {
                out += "_"
            } else if character.isUppercase {
                out += "_" + character.lowercased()
            } else {
                out.append(character)
            }
        }
        return out
    }
}

extension PeerReport {
    /// As many as one answer holds. Anybody may invent any number of peers with long names, so neighbours come first.
    static func listed(_ peers: [PeerReport]) -> [PeerReport] {
        (peers.filter(\.neighbour) + peers.filter { !$0.neighbour }).fitting(ControlLimits.listSize)
    }
}
