import EventLoop
import Radio
import Wire

extension Station {
    /// The radio a configuration asks for.
    static func makeRadio(
        _ configuration: Configuration, peer: PeerID, loop: any EventLoop, log: Log
    ) throws(StationFault) -> any ObservedRadio {
        switch configuration.radio.kind {
        case .air: return VirtualAir(loop: loop, configuration: try configuration.virtualAir(for: peer))
        case .bluetooth:
            let radio = BluetoothRadio.system(
                loop: loop, configuration: configuration.bluetooth, adapters: configuration.radio.adapters)
            radio.onAdapterChange = { index, isUsable in
                if isUsable { log.info("hci\(index) is ready") } else { log.warning("hci\(index) cannot be used now") }
            }
            return radio
        }
    }
}
