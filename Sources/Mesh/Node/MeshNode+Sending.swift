import Basics
import Crypto
import Wire

extension MeshNode {
    /// Sends a packet of ours: attaches a source route if there is a good one, signs if asked to or routed, and hands
    /// it to the links (chapter 03 B8, B9.2).
    /// - Parameters:
    ///   - target: the one neighbour it is for, if not its recipient.
    ///   - isStrict: only a direct link of the target will do.
    ///   - onlyLink: nothing but this link of the target's will do.
    ///   - goesEverywhere: on every link, several to one peer included.
    ///   - canWait: a packet of a kind worth it is spooled when there is no link.
    /// - Returns: the frame as sent; nil when it does not encode, and while the clock cannot be trusted: peers refuse
    ///   what a wrong clock has dated.
    @discardableResult
    func originate(
        _ packet: Packet, signed: Bool, target: PeerID? = nil, isStrict: Bool = false, onlyLink: LinkID? = nil,
        goesEverywhere: Bool = false, canWait: Bool = true
    ) -> (frame: Frame, wentOut: Bool)? {
        guard isClockTrusted else {
            drops.count(.clockUnproven)
            return nil
        }
        var packet = packet
        var firstHop: PeerID?
        if target == nil, !isStrict, let hops = usableRoute(for: packet) {
            packet.version = 2
            packet.route = hops
            packet.isSyncResponse = false
            firstHop = hops.first
        }
        guard let frame = signed || firstHop != nil ? signedFrame(packet) : try? Frame(packet.encoded()) else {
            return nil
        }
        if firstHop != nil, let recipient = packet.recipientID {
            routes.noteRoutedSend(to: recipient, at: now.monotonic)
        }
        count(.packetsOriginated)
        var transmission = Transmission(frame: frame, since: now.monotonic)
        transmission.target = firstHop ?? target
        transmission.isRouted = firstHop != nil
        transmission.isStrict = isStrict || onlyLink != nil
        transmission.onlyLink = onlyLink
        transmission.goesEverywhere = goesEverywhere
        transmission.canWait = canWait
        return (frame, transmit(transmission))
    }

    private func signedFrame(_ packet: Packet) -> Frame? {
        (try? VerifiedFrame(signing: packet, as: identity, memory: memory))?.frame
    }

    /// A route is worth attaching only while its first hop hangs on a link of ours.
    private func usableRoute(for packet: Packet) -> [PeerID]? {
        guard configuration.originatesRoutes, let recipient = packet.recipientID,
            let hops = routes.route(
                for: packet, me: me, isRecipientConnected: registry.isConnected(recipient), at: now.monotonic),
            let first = hops.first, linkTable.hasDirectLink(to: first)
        else { return nil }
        return hops
    }

    /// Chooses links and writes the frame to them, in fragments if it is too long for any (chapter 03 B7, B8).
    /// - Returns: whether it went out, or will go out as fragments.
    @discardableResult
    func transmit(_ transmission: Transmission) -> Bool { transmit(transmission, heardOn: transmission.heardOn) }

    /// - Parameter heard: the links it was heard on, known only when it goes out.
    func transmit(_ transmission: Transmission, heardOn heard: [LinkID]) -> Bool {
        let chosen = links(for: transmission, heardOn: heard)
        if chosen.isEmpty {
            spoolIfWorthwhile(transmission.heard(on: heard))
            return false
        }
        let frame = transmission.frame
        let padded = transmission.isPadded ? frame.transmitted() : frame.bytes
        if frame.bytes.count > linkTable.smallestFrameLimit, frame.type != .fragment {
            let limits = chosen.compactMap { linkTable.frameLimit(of: $0) }
            if limits.contains(where: { frame.bytes.count > $0 }) {
                let transmission = transmission.heard(on: heard)
                return isDirectAnnounce(frame)
                    ? sendWholeWhereItFits(transmission, on: chosen) : sendInFragments(transmission, limits: limits)
            }
        }
        return write(padded, of: frame, transmission.outputClass, to: chosen)
    }

    private func write(_ padded: [UInt8], of frame: Frame, _ outputClass: OutputClass, to chosen: [LinkID]) -> Bool {
        // How fast a link really is only its queue knows: what is beyond anybody's share waits there for all else.
        let priority = outputClass == .excess ? .low : frame.withView(Transmission.priority)
        var wentOut = false
        for link in chosen {
            guard let limit = linkTable.frameLimit(of: link), frame.bytes.count <= limit else {
                drops.count(.frameTooLong)
                continue
            }
            guard linkTable.admitOutput(outputClass, on: link, at: now.monotonic) else {
                drops.count(.relayThrottled)
                continue
            }
            write(padded.count <= limit ? padded : frame.bytes, to: link, priority: priority)
            wentOut = true
        }
        return wentOut
    }

    func write(_ bytes: [UInt8], to link: LinkID, priority: WritePriority) {
        linkTable.noteFrameOut(link, at: now.monotonic)
        count(.framesSent)
        emit(.transmit(frame: bytes, link: link, priority: priority))
    }

    /// The links a frame would go out on now, having come in on some.
    func links(for transmission: Transmission, heardOn heard: [LinkID]) -> [LinkID] {
        if let only = transmission.onlyLink {
            return linkTable[only].map { $0.peer == transmission.hint } ?? false ? [only] : []
        }
        return transmission.frame.withView { view in
            let isDirectAnnounce = isDirectAnnounce(transmission.frame)
            let request = LinkSelection<LinkID>.Request(
                type: view.type, hint: transmission.hint,
                blocked: linkTable.blocked(heardOn: heard, from: transmission.ingressPeer),
                isStrict: transmission.isStrict, collapses: !isDirectAnnounce && !transmission.goesEverywhere,
                isThinned: !transmission.goesEverywhere, seed: { messageIDText(view) ?? "" })
            return linkTable.selection.select(request)
        }
    }

    private func isDirectAnnounce(_ frame: Frame) -> Bool {
        frame.type == .announce && frame.ttl == Packet.originTTL
    }

    /// Put together from fragments an announce binds no link, so one short link must not cost all others theirs.
    private func sendWholeWhereItFits(_ transmission: Transmission, on chosen: [LinkID]) -> Bool {
        let size = transmission.frame.bytes.count
        let roomy = chosen.filter { linkTable.frameLimit(of: $0).map { size <= $0 } ?? false }
        let isWritten = write(transmission.frame.bytes, of: transmission.frame, transmission.outputClass, to: roomy)
        var rest = transmission
        rest.heardOn += roomy
        let left = links(for: rest, heardOn: rest.heardOn).compactMap(linkTable.frameLimit)
        let isCut = !left.isEmpty && sendInFragments(rest, limits: left)
        return isWritten || isCut
    }

    /// Chapter 03 B8 rule 6. The slice fills the smallest of the links; those too small for the smallest slice get
    /// nothing.
    private func sendInFragments(_ transmission: Transmission, limits: [Int]) -> Bool {
        let frame = transmission.frame
        let target = transmission.isRouted ? nil : transmission.target
        let hasRecipient = target != nil || frame.recipientID != nil
        let chunks = limits.compactMap {
            FragmentChunk.filling(frameLimit: $0, hasRecipient: hasRecipient, hops: frame.layout.routeCount)
        }
        guard let chunk = chunks.filter({ $0 >= MeshLimits.smallestFragmentChunk }).min(),
            let plan = FragmentPlan(
                frame, chunk: chunk, padded: transmission.isPadded ? nil : false, target: target,
                streamID: FragmentStreamID(using: &random))
        else {
            drops.count(.frameTooLong)
            return false
        }
        if transmission.isStrict { return sendAtOnce(plan, like: transmission) }
        let train = FragmentTrain(plan: plan, template: transmission, bytes: frame.bytes.count)
        switch trains.start(train, transfer: transfer(of: transmission), at: now.monotonic) {
        case .started, .queued:
            runDueTrains()
            return true
        case .redundant, .refused:
            drops.count(.trainLimit)
            return false
        }
    }

    /// Strict sends offer every fragment at once and give up at the first refusal (chapter 03 B13.2).
    private func sendAtOnce(_ plan: FragmentPlan, like transmission: Transmission) -> Bool {
        for index in 0..<plan.count {
            guard let fragment = plan.frame(at: index) else { return false }
            var piece = transmission
            piece.frame = fragment
            guard transmit(piece) else { return false }
            count(.fragmentsSent)
        }
        return true
    }

    private func transfer(of transmission: Transmission) -> Transfer? {
        guard transmission.frame.type == .fileTransfer else { return nil }
        let id = transmission.frame.withView { $0.withPayload { SHA256.hash($0) } }
        let audience = transmission.hint == .broadcast ? nil : transmission.hint
        return id.map { Transfer(id: $0, audience: audience) }
    }

    func runDueTrains() {
        while let fragment = trains.takeDue(at: now.monotonic) {
            if transmit(fragment) { count(.fragmentsSent) }
            if fragment.frame.isBroadcast {
                tellFeatures(.publishable(fragment.frame, heardFrom: fragment.ingressPeer))
            }
        }
    }

    // MARK: Spool

    /// Only Noise packets are worth waiting for a link: the rest is repeated or re-requested by its own means. What was
    /// to be handed on along a route ends here instead (chapter 03 B9.3).
    private func spoolIfWorthwhile(_ transmission: Transmission) {
        let type = transmission.frame.type
        let isNoise = type == .noiseEncrypted || type == .noiseHandshake
        guard isNoise, transmission.canWait, !transmission.isStrict,
            !(transmission.isRouted && !transmission.heardOn.isEmpty),
            let recipient = transmission.hint, recipient != .broadcast
        else {
            // A relay with nowhere to go is an end of the mesh, not a loss; nor is an announce nobody is there for.
            if transmission.heardOn.isEmpty, type != .announce { drops.count(.noLink) }
            return
        }
        let dropped = spool.add(transmission, for: recipient, since: transmission.since)
        drops.count(.spoolFull, UInt64(dropped))
    }

    func flushSpool() {
        let drained = spool.drain(at: now.monotonic)
        drops.count(.spoolExpired, UInt64(drained.expired))
        for entry in drained.entries { transmit(entry.transmission) }
    }
}
