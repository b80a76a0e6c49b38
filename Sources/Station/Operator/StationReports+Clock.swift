extension Station {
    var clockAttention: [StatusReport.Attention] {
        var items: [StatusReport.Attention] = []
        let standing = clock.standing
        if let source = clock.clock.heldBack {
            items.append(
                StatusReport.Attention(
                    code: "clock_held_back",
                    message: "The time by \(source.rawValue) is before the last known one, so it is not believed.",
                    remedy: "If it is right and what was known is wrong: bitgate clock accept."))
        }
        if !standing.source.isTrusted {
            let what =
                standing.isGoodForMesh
                ? "The time is known well enough for the mesh only, so nothing is carried to or from relays."
                : "What time it is is not known, so the box only listens and passes on."
            items.append(
                StatusReport.Attention(
                    code: "clock_unproven", message: what,
                    remedy:
                        "Let the system synchronise its clock (timedatectl), or say the time with bitgate clock set, "
                        + "or set clock.trust_system = true if you vouch for the system's clock."))
        } else if abs(clock.clock.systemLead) > ClockLimits.tolerance {
            items.append(
                StatusReport.Attention(
                    code: "clock_system_wrong",
                    message: "The system's clock is wrong. The box does not go by it, but Tor does and may not start.",
                    remedy: "Let the system synchronise its clock (timedatectl)."))
        }
        return items
    }
}
