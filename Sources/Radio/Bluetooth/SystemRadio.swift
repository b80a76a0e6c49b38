import Basics
import EventLoop

extension BluetoothRadio {
    /// The radio on this machine's controllers.
    /// - Parameter adapters: those to use; empty for all there are.
    public static func system(
        loop: any EventLoop, configuration: BluetoothConfiguration, adapters: [AdapterChoice]
    ) -> BluetoothRadio {
        // Where a random address is needed it lives as long as the process: after a wipe nothing is left of it.
        var random = SystemRandomNumberGenerator()
        let ownAddress = OwnAddress(seed: random.bytes(OwnAddress.seedSize))
        let directory = AdapterDirectory(
            loop: loop, choices: adapters,
            configuration: AdapterConfiguration(service: configuration.service, ownAddress: ownAddress))
        return BluetoothRadio(loop: loop, configuration: configuration, source: directory)
    }
}
