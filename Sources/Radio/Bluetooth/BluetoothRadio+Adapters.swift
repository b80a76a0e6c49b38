import Basics
import EventLoop
import Glibc
import Wire

extension BluetoothRadio: AdapterPortDelegate {
    public func adapterUp(_ adapter: any AdapterPort, address: BluetoothAddress) {
        guard isRunning, let seat = seat(adapter.index) else { return }
        if seat.isUsable { clear(seat) }
        events.count(.adapterUp)
        seat.address = address
        seat.upSince = now
        seat.rival = findRival?(false)
        listen(on: seat)
        onAdapterChange?(seat.index, true)
        refresh()
    }

    public func adapterDown(_ adapter: any AdapterPort) {
        guard isRunning, let seat = seat(adapter.index), seat.isUsable else { return }
        events.count(.adapterDown)
        clear(seat)
        planner.forget(adapter: seat.index)
        onAdapterChange?(seat.index, false)
        refresh()
    }

    /// Ends all that went over an adapter. What its links had received before still counts.
    private func clear(_ seat: AdapterSeat) {
        seat.address = nil
        if let upcoming = seat.upcoming { planner.calledUs(upcoming) }
        for link in seat.connections.values.sorted(by: { $0.opened < $1.opened }) {
            link.check()
            guard seat.connections[link.address] === link else { continue }
            let id = link.id
            let wasConnected = link.isConnected
            remove(link, from: seat)
            if wasConnected {
                events.count(.linkLost)
            } else {
                planner.calledUs(link.address)
            }
            if let id { linkIsDown(link, id: id) }
        }
        seat.reset()
    }

    public func adapterClearedAir(_ adapter: any AdapterPort) {
        guard isRunning, let seat = seat(adapter.index), let own = seat.address, let address = seat.upcoming else {
            return
        }
        guard seat.connections[address] == nil, seat.awaited[address] == nil else {
            giveUpCall(on: seat)
            return refresh()
        }
        seat.upcoming = nil
        connect(to: address, from: own, on: seat)
    }

    public func adapter(_ adapter: any AdapterPort, heard sighting: Sighting) {
        guard isRunning, let seat = seat(adapter.index), seat.isUsable else { return }
        if !seats.contains(where: { $0.address == sighting.address || $0.busyAddresses.contains(sighting.address) }) {
            seat.noteUnlinked()
        }
        heard(sighting, on: seat.index)
    }

    public func adapter(_ adapter: any AdapterPort, connected address: BluetoothAddress) {
        guard isRunning, let seat = seat(adapter.index), seat.isUsable, seat.connections[address] == nil else { return }
        // Its socket may be waiting in the same turn of the loop.
        let since = now
        seat.awaited[address] = since
        loop.schedule(after: BluetoothLimits.socketWait) { [weak self, weak seat] in
            guard let self, let seat, self.isRunning, seat.awaited[address] == since else { return }
            seat.awaited[address] = nil
            self.events.count(.noSocket)
            seat.strangers.insert(address)
            // Looking through the machine's processes takes a while, and anybody can make us look.
            let isNews = seat.lastStranger.map { since - $0 >= BluetoothLimits.rivalSearch } ?? true
            seat.lastStranger = self.now
            if isNews { seat.rival = self.findRival?(true) ?? seat.rival }
            self.refresh()
        }
    }

    public func adapter(_ adapter: any AdapterPort, disconnected address: BluetoothAddress, reason: UInt8) {
        guard isRunning, let seat = seat(adapter.index) else { return }
        seat.lingering[address] = nil
        seat.strangers.remove(address)
        seat.awaited[address] = nil
        seat.connections[address]?.check()
        refresh()
    }

    public func adapter(_ adapter: any AdapterPort, connectFailed address: BluetoothAddress, status: UInt8) {
        guard isRunning, let seat = seat(adapter.index) else { return }
        if status == BluetoothRadio.noResources { limitRefused(on: seat) }
    }

    /// What the kernel's management makes of the controller's "connection limit exceeded" and "limited resources".
    private static let noResources: UInt8 = 0x07
}
