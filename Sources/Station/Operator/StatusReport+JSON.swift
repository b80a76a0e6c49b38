// The JSON names here are what scripts rely on: add to them, never change them.

extension StatusReport: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        version = try json.text("version")
        uptimeSeconds = try json.integer("uptime_seconds")
        peer = try json.text("peer")
        nickname = try json.text("nickname")
        attention = try json.convert("attention")
        clock = try json.convert("clock")
        radio = try json.convert("radio")
        mesh = try json.convert("mesh")
        gateway = try json.convert("gateway")
        bridge = try json.convert("bridge")
        mail = try json.convert("mail")
        network = try json.convert("network")
        storage = try json.convert("storage")
        panel = json.optional("panel") == nil ? nil : try json.convert("panel")
    }

    public var json: JSONValue {
        [
            "version": .text(version), "uptime_seconds": .count(uptimeSeconds), "peer": .text(peer),
            "nickname": .text(nickname), "attention": attention.json, "clock": clock.json, "radio": radio.json,
            "mesh": mesh.json, "gateway": gateway.json, "bridge": bridge.json, "mail": mail.json,
            "network": network.json,
            "storage": storage.json, "panel": panel?.json,
        ]
    }
}

extension StatusReport.Attention: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        code = try json.text("code")
        message = try json.text("message")
        remedy = try json.text("remedy")
    }

    public var json: JSONValue { ["code": .text(code), "message": .text(message), "remedy": .text(remedy)] }
}

extension StatusReport.Radio: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        kind = try json.text("kind")
        adapters = try json.convert("adapters")
        links = try json.convert("links")
    }

    public var json: JSONValue { ["kind": .text(kind), "adapters": adapters.json, "links": links.json] }
}

extension StatusReport.Adapter: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        name = try json.text("name")
        state = try json.text("state")
        advertising = try json.truth("advertising")
        scanning = try json.truth("scanning")
        outgoing = try json.integer("outgoing")
        incoming = try json.integer("incoming")
        connecting = try json.integer("connecting")
        limit = try json.integer("limit")
        lastInSeconds = try json.optionalInteger("last_in_seconds")
        lastOutSeconds = try json.optionalInteger("last_out_seconds")
        lastReportSeconds = try json.optionalInteger("last_report_seconds")
        lastAcceptedSeconds = try json.optionalInteger("last_accepted_seconds")
    }

    public var json: JSONValue {
        [
            "name": .text(name), "state": .text(state), "advertising": .truth(advertising),
            "scanning": .truth(scanning), "outgoing": .count(outgoing), "incoming": .count(incoming),
            "connecting": .count(connecting), "limit": .count(limit),
            "last_in_seconds": lastInSeconds.map { .count($0) }, "last_out_seconds": lastOutSeconds.map { .count($0) },
            "last_report_seconds": lastReportSeconds.map { .count($0) },
            "last_accepted_seconds": lastAcceptedSeconds.map { .count($0) },
        ]
    }
}

extension StatusReport.Link: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        number = try json.integer("number")
        adapter = try json.optionalText("adapter")
        role = try json.text("role")
        frameLimit = try json.integer("frame_limit")
        upSeconds = try json.integer("up_seconds")
        framesIn = try json.integer("frames_in")
        framesOut = try json.integer("frames_out")
        lastInSeconds = try json.optionalInteger("last_in_seconds")
        lastOutSeconds = try json.optionalInteger("last_out_seconds")
    }

    public var json: JSONValue {
        [
            "number": .count(number), "adapter": adapter.map { .text($0) }, "role": .text(role),
            "frame_limit": .count(frameLimit), "up_seconds": .count(upSeconds),
            "frames_in": .count(framesIn), "frames_out": .count(framesOut),
            "last_in_seconds": lastInSeconds.map { .count($0) }, "last_out_seconds": lastOutSeconds.map { .count($0) },
        ]
    }
}

extension StatusReport.Mesh: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        neighbours = try json.integer("neighbours")
        reachable = try json.integer("reachable")
    }

    public var json: JSONValue { ["neighbours": .count(neighbours), "reachable": .count(reachable)] }
}

extension StatusReport.Service: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        enabled = try json.truth("enabled")
        advertised = try json.truth("advertised")
        cell = try json.optionalText("cell")
        channels = json.optional("channels") == nil ? nil : try json.convert("channels")
        queuedDeposits = try json.integer("queued_deposits")
        pendingDownlinks = try json.integer("pending_downlinks")
        carriersLastMinute = try json.integer("carriers_last_minute")
        carriersLimit = try json.integer("carriers_limit")
    }

    public var json: JSONValue {
        [
            "enabled": .truth(enabled), "advertised": .truth(advertised), "cell": cell.map { .text($0) },
            "channels": channels?.json, "queued_deposits": .count(queuedDeposits),
            "pending_downlinks": .count(pendingDownlinks), "carriers_last_minute": .count(carriersLastMinute),
            "carriers_limit": .count(carriersLimit),
        ]
    }
}

extension StatusReport.Mail: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        enabled = try json.truth("enabled")
        working = try json.truth("working")
        usingRelays = try json.truth("using_relays")
        carried = try json.integer("carried")
        limit = try json.integer("limit")
        atRelays = try json.integer("at_relays")
        undelivered = try json.integer("undelivered")
    }

    public var json: JSONValue {
        [
            "enabled": .truth(enabled), "working": .truth(working), "using_relays": .truth(usingRelays),
            "carried": .count(carried), "limit": .count(limit), "at_relays": .count(atRelays),
            "undelivered": .count(undelivered),
        ]
    }
}

extension StatusReport.Storage: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        mode = try json.text("mode")
        state = try json.text("state")
        records = try json.integer("records")
        bytes = try json.integer("bytes")
        waitingBytes = try json.integer("waiting_bytes")
        writtenLastDay = try json.integer("written_last_day")
    }

    public var json: JSONValue {
        [
            "mode": .text(mode), "state": .text(state), "records": .count(records), "bytes": .count(bytes),
            "waiting_bytes": .count(waitingBytes), "written_last_day": .count(writtenLastDay),
        ]
    }
}

extension StatusReport.Network: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        tor = try json.text("tor")
        relays = try json.convert("relays")
        route = json.optional("route") == nil ? nil : try json.convert("route")
        directory = try json.convert("directory")
    }

    public var json: JSONValue {
        ["tor": .text(tor), "relays": relays.json, "route": route?.json, "directory": directory.json]
    }
}

extension StatusReport.Directory: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        source = try json.text("source")
        relays = try json.integer("relays")
        ageSeconds = try json.optionalInteger("age_seconds")
        problem = try json.optionalText("problem")
    }

    public var json: JSONValue {
        [
            "source": .text(source), "relays": .count(relays), "age_seconds": ageSeconds.map { .count($0) },
            "problem": problem.map { .text($0) },
        ]
    }
}

extension StatusReport.Refusal: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        subscription = try json.text("subscription")
        reason = try json.text("reason")
        retrySeconds = try json.integer("retry_seconds")
    }

    public var json: JSONValue {
        ["subscription": .text(subscription), "reason": .text(reason), "retry_seconds": .count(retrySeconds)]
    }
}

extension StatusReport.Relay: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        url = try json.text("url")
        state = try json.text("state")
        lastEventSeconds = try json.optionalInteger("last_event_seconds")
        lastAcceptedSeconds = try json.optionalInteger("last_accepted_seconds")
        accepted = try json.integer("accepted")
        refused = try json.integer("refused")
        pending = try json.integer("pending")
        subscriptions = try json.integer("subscriptions")
        refusals = try json.convert("refusals")
        problem = try json.optionalText("problem")
    }

    public var json: JSONValue {
        [
            "url": .text(url), "state": .text(state), "last_event_seconds": lastEventSeconds.map { .count($0) },
            "last_accepted_seconds": lastAcceptedSeconds.map { .count($0) }, "accepted": .count(accepted),
            "refused": .count(refused), "pending": .count(pending), "subscriptions": .count(subscriptions),
            "refusals": refusals.json, "problem": problem.map { .text($0) },
        ]
    }
}

extension PeerReport: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        peer = try json.text("peer")
        nickname = try json.text("nickname")
        neighbour = try json.truth("neighbour")
        reachable = try json.truth("reachable")
        lastHeardSeconds = try json.integer("last_heard_seconds")
        gateway = try json.truth("gateway")
        bridge = try json.truth("bridge")
        cell = try json.optionalText("cell")
    }

    public var json: JSONValue {
        [
            "peer": .text(peer), "nickname": .text(nickname), "neighbour": .truth(neighbour),
            "reachable": .truth(reachable), "last_heard_seconds": .count(lastHeardSeconds),
            "gateway": .truth(gateway), "bridge": .truth(bridge), "cell": cell.map { .text($0) },
        ]
    }
}
