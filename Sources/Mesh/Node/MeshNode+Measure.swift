extension MeshNode {
    /// Tells how full each table is, beside its bound: for `status`, and for checks that no bound is exceeded.
    public func measure(_ note: (_ table: StaticString, _ count: Int, _ bound: Int) -> Void) {
        note("duplicates", gate.remembered, configuration.duplicateCapacity + MeshLimits.fragmentDuplicateCapacity)
        note("links", linkTable.count, MeshLimits.linkCapacity)
        note("peers", registry.count, MeshLimits.peerCapacity)
        note("departures", departures.count, MeshLimits.departureCapacity)
        note("identities", identities.count, MeshLimits.identityCapacity)
        note("pending-relays", relays.count, MeshLimits.pendingRelayCapacity)
        note("directed-spool", spool.count, MeshLimits.spoolTotal)
        note("fragment-trains", trains.count + trains.waitingCount, MeshLimits.fragmentTrains)
        for feature in features { feature.measure(note) }
    }
}
