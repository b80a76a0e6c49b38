import Crypto
import EventLoop
import Radio
import Wire

extension Station {
    /// The radio a configuration asks for.
    static func makeRadio(
        _ configuration: Configuration, peer: PeerID, masterKey: SecretBytes, loop: any EventLoop, log: Log
    ) throws(StationFault) -> any ObservedRadio {
        switch configuration.radio.kind {
        case .air: return VirtualAir(loop: loop, configuration: try configuration.virtualAir(for: peer))
        case .bluetooth:
            let radio = BluetoothRadio.system(
                loop: loop, configuration: configuration.bluetooth, adapters: configuration.radio.adapters,
                ownAddress: OwnAddress(
                    masterKey: masterKey, isAlwaysRandom: configuration.radio.address == .random))
            radio.findRival = { ProcessTable().rival(isProven: $0) }
            radio.onAdapterChange = { index, isUsable in
                if isUsable { log.info("hci\(index) is ready") } else { log.warning("hci\(index) cannot be used now") }
            }
            return radio
        }
    }
}

extension OwnAddress {
    /// The addresses of a box: the same after each start, others after a wipe, and nothing that tells whose they are.
    init(masterKey: SecretBytes, isAlwaysRandom: Bool) {
        let seed = HKDFSHA256.derive(masterKey, info: Array("bitgate own address 1".utf8))
        self.init(seed: seed.withBytes { Array($0) }, isAlwaysRandom: isAlwaysRandom)
    }
}
