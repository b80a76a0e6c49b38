import Basics
import Crypto
import Nostr
import Wire

/// What makes a mesh node a gateway: geohash channels and islands joined through Nostr relays (chapter 06 §3, §4). It
/// knows neither sockets nor clocks: inputs come in with the time, effects are taken with `nextEffect()`, and
/// `timeout(at:)` is due at `nextDeadline`.
///
/// It never forges and never reads what is private: every event it passes on was finished and signed by its author,
/// and no plain radio message is ever an input to anything that publishes.
public final class Gateway {
    public let configuration: GatewayConfiguration
    private let speaker: ChannelSpeaker?
    private let phoneBridge: PhoneBridge?
    private var channels: ChannelGateway
    private var bridge: BridgeGateway
    private var channelPresence: ChannelPresence?
    private var surroundings: GatewaySurroundings
    private var isOn = false
    private var isClockTrusted = false
    private var isCarrying = false
    private var advertised = GatewayAdvertisement.none

    /// - Parameter seed: the operator's identities; without one the node cannot speak for itself, only carry.
    public init(configuration: GatewayConfiguration, seed: DeviceSeed?, random: any RandomNumberGenerator) {
        self.configuration = configuration
        speaker = seed.map(ChannelSpeaker.init)
        phoneBridge = seed.map(PhoneBridge.init)
        channels = ChannelGateway(configuration)
        bridge = BridgeGateway(configuration, seed: seed)
        surroundings = GatewaySurroundings(random: random)
        if configuration.publishesChannelPresence, let cell = configuration.cell, let seed {
            channelPresence = ChannelPresence(cell: cell, seed: seed)
        }
    }

    // MARK: Switches

    /// Takes up the work as soon as the clock is trusted.
    public func start(at now: Now) {
        isOn = true
        update(at: now)
    }

    /// Lays down the work: withdraws bits and subscriptions, clears what is queued. Passive reception goes on.
    public func stop(at now: Now) {
        isOn = false
        update(at: now)
    }

    /// Whether the time is known from relays or better. Below that no bit is set and nothing is published.
    public func setClockTrusted(_ isTrusted: Bool, at now: Now) {
        isClockTrusted = isTrusted
        update(at: now)
    }

    /// Whether any relay of any kind is connected. A rising edge publishes what was queued meanwhile.
    public func relayConnectivityChanged(_ isConnected: Bool, at now: Now) {
        let isRisingEdge = isConnected && !surroundings.relayConnected
        surroundings.relayConnected = isConnected
        guard isRisingEdge, isCarrying else { return }
        channels.flush(&surroundings, at: now)
        bridge.flush(&surroundings, at: now)
        bridge.publishPresence(&surroundings, at: now, presence: presence(at: now))
    }

    // MARK: Inputs

    /// A decoded carrier.
    /// - Parameters:
    ///   - addressedToUs: the packet had our peer ID as its recipient, not none.
    ///   - depositor: the sender, if the packet's signature verified under the signing key that the live peer
    ///     registry holds for it; nil otherwise (chapter 06 §2 step 2).
    public func carrierReceived(_ carrier: NostrCarrier, addressedToUs: Bool, depositor: PeerID?, at now: Now) {
        switch carrier.direction {
        case .toGateway:
            guard addressedToUs, let depositor else { return channels.refuseDeposit(.misaddressed) }
            if let reason = refusal(of: .uplink) { return channels.refuseDeposit(reason) }
            channels.deposit(carrier, from: depositor, &surroundings, at: now)
        case .toBridge:
            guard addressedToUs, let depositor else { return bridge.refuseDeposit(.misaddressed) }
            if let reason = refusal(of: .bridge) { return bridge.refuseDeposit(reason) }
            bridge.deposit(carrier, from: depositor, &surroundings, at: now)
        case .fromGateway:
            guard !addressedToUs else { return channels.refuseBroadcast(.misaddressed) }
            channels.broadcast(carrier, &surroundings, at: now)
        case .fromBridge:
            guard !addressedToUs else { return bridge.refuseBroadcast(.misaddressed) }
            bridge.broadcast(carrier, &surroundings, at: now)
        }
    }

    /// An event that a relay delivered under one of our subscriptions.
    public func relayEvent(_ event: VerifiedEvent, subscription: String, at now: Now) {
        if subscription.hasPrefix(RendezvousCells.subscriptionID) {
            // One event may be tagged for both; what either service took up, neither brings down.
            guard !channels.hasPublished(event.id) else { return bridge.refuseDownlink(.repeated) }
            bridge.relayEvent(event, &surroundings, at: now)
        } else {
            guard !bridge.hasPublished(event.id) else { return channels.refuseDownlink(.repeated) }
            channels.relayEvent(event, subscription: subscription, &surroundings, at: now)
        }
    }

    /// The stable ID (chapter 01 §11.3) of a signature-verified public radio message, live or through sync. Our only
    /// use of such a message: to know what the island has already heard.
    public func radioSeen(stableID: String, at now: Now) {
        bridge.radioSeen(stableID, effects: &surroundings.effects, at: now)
    }

    public func timeout(at now: Now) {
        channels.timeout(&surroundings, at: now)
        bridge.timeout(&surroundings, at: now, presence: presence(at: now))
        channelPresence?.timeout(&surroundings, at: now)
    }

    public var nextDeadline: Instant? {
        [channels.nextDeadline, bridge.nextDeadline, channelPresence?.nextDeadline].compactMap { $0 }.min()
    }

    public func nextEffect() -> GatewayEffect? { surroundings.effects.popFirst() }

    // MARK: The operator's own words

    /// Which location channel is on the screen: its messages are shown from then on.
    public func view(_ geohash: String?, at now: Now) {
        guard geohash.map(Geohash.isCanonical) ?? true else { return }
        channels.view(geohash, at: now, effects: &surroundings.effects)
    }

    /// Says something in a location channel (chapter 06 §3.7).
    /// - Parameters:
    ///   - gateway: the first reachable peer with the gateway bit, needed while no relay is connected.
    ///   - isTeleported: the author is not inside the channel's cell.
    public func say(
        _ text: String, inChannel geohash: String, nickname: String?, isTeleported: Bool = false, gateway: PeerID?,
        at now: Now
    ) -> SpeechOutcome {
        guard isClockTrusted else { return .clockUntrusted }
        let event = speaker?.compose(
            text, geohash: geohash, nickname: nickname, isTeleported: isTeleported, at: now,
            using: &surroundings.random)
        guard let event else { return .invalid }
        channels.composed(event, in: geohash, &surroundings, at: now)
        surroundings.effects.append(.publish(event, geohash: geohash))
        if surroundings.relayConnected { return .published }
        return deposit(event, .toGateway, geohash: geohash, to: gateway)
    }

    /// Bridges a public message that we sent by radio (chapter 06 §4.6): call it only where the operator has the
    /// bridge on and did not choose "nearby only".
    /// - Parameters:
    ///   - sender: our peer ID in the radio packet, `radioTime` its timestamp.
    ///   - bridgePeer: the first reachable peer with the bridge bit, needed while no relay is connected.
    public func bridgeOwnMessage(
        _ text: String, sender: PeerID, radioTime: WallTime, nickname: String?, bridgePeer: PeerID?, at now: Now
    ) -> SpeechOutcome {
        guard isClockTrusted else { return .clockUntrusted }
        guard let cell = configuration.cell else { return .invalid }
        let event = phoneBridge?.message(
            text, cell: cell, sender: sender, radioTime: radioTime, nickname: nickname, at: now.wall,
            using: &surroundings.random)
        guard let event else { return .invalid }
        bridge.composed(event, &surroundings)
        guard surroundings.relayConnected else {
            return deposit(event, .toBridge, geohash: cell.geohash, to: bridgePeer)
        }
        surroundings.effects.append(.publish(event, geohash: cell.geohash))
        return .published
    }

    // MARK: Across restarts

    /// Takes back what an earlier run published, oldest first. Without it a deposit may come back from the relays after
    /// a restart and go on the air once (chapter 06 §20.7).
    public func remember(published: [EventID]) {
        channels.remember(published: published)
        bridge.remember(published: published)
    }

    // MARK: Status

    public var counters: GatewayCounters {
        var counters = GatewayCounters()
        counters.channelDeposits = channels.deposits
        counters.channelBroadcasts = channels.broadcasts
        counters.channelDownlinks = channels.downlinks
        counters.bridgeDeposits = bridge.deposits
        counters.bridgeBroadcasts = bridge.broadcasts
        counters.bridgeDownlinks = bridge.downlinks
        counters.radioForgottenEarly = bridge.radio.forgottenEarly
        return counters
    }

    /// The location channels listened to, in the order they are followed.
    public func channels(at now: Now) -> [ChannelStatus] { channels.statuses(at: now.monotonic) }

    /// Who was in a channel that is listened to within the last five minutes, most recent first.
    public func participants(inChannel geohash: String, at now: Now) -> [Participants.Participant] {
        channels.participants.list(in: geohash, at: now.monotonic)
    }

    public func status(at now: Now) -> GatewayStatus {
        GatewayStatus(
            isOn: isOn, isClockTrusted: isClockTrusted, relayConnected: surroundings.relayConnected,
            advertisement: advertised,
            channels: GatewayStatus.Service(
                queuedDeposits: channels.queuedDeposits, pendingDownlinks: channels.pendingDownlinks,
                budget: channels.budget, at: now.monotonic),
            bridge: GatewayStatus.Service(
                queuedDeposits: bridge.queuedDeposits, pendingDownlinks: bridge.pendingDownlinks,
                budget: bridge.budget, at: now.monotonic),
            followedChannels: channels.followed, participants: bridge.participants.list(at: now.monotonic))
    }

    // MARK: Parts

    /// Brings services and announce in line with the switches.
    private func update(at now: Now) {
        let shouldCarry = isOn && isClockTrusted && !configuration.jobs.isEmpty
        if shouldCarry != isCarrying {
            isCarrying = shouldCarry
            if shouldCarry {
                channels.start(at: now, effects: &surroundings.effects)
                bridge.start(&surroundings, at: now)
                bridge.publishPresence(&surroundings, at: now, presence: presence(at: now))
                channelPresence?.start(&surroundings, at: now)
            } else {
                channelPresence?.stop()
                channels.stop(at: now, effects: &surroundings.effects)
                bridge.stop(effects: &surroundings.effects)
            }
        }
        var bits: Capabilities = []
        if isCarrying, configuration.jobs.contains(.uplink) { bits.insert(.gateway) }
        if bridge.advertisedCell != nil { bits.insert(.bridge) }
        let wanted = GatewayAdvertisement(capabilities: bits, cell: bridge.advertisedCell)
        guard wanted != advertised else { return }
        advertised = wanted
        surroundings.effects.append(.advertise(wanted))
    }

    /// Why a deposit is not even looked at.
    private func refusal(of job: GatewayConfiguration.Jobs) -> CarriageOutcome? {
        guard isOn, configuration.jobs.contains(job) else { return .switchedOff }
        return isClockTrusted ? nil : .clockUntrusted
    }

    private func deposit(
        _ event: VerifiedEvent, _ direction: NostrCarrier.Direction, geohash: String, to peer: PeerID?
    ) -> SpeechOutcome {
        guard let peer, let carrier = try? CarriedEvent.carrier(direction, geohash: geohash, event: event) else {
            return .noWayOut
        }
        surroundings.effects.append(.deposit(carrier, to: peer))
        return .deposited
    }

    private func presence(at now: Now) -> (String, inout any RandomNumberGenerator) -> VerifiedEvent? {
        let phoneBridge = phoneBridge
        return { cell, random in phoneBridge?.presence(cell: cell, at: now.wall, using: &random) }
    }
}
