import EventLoop

extension BluetoothRadio {
    /// The radio on this machine's controllers.
    /// - Parameter adapters: those to use; empty for all there are.
    public static func system(
        loop: any EventLoop, configuration: BluetoothConfiguration, adapters: [AdapterChoice], ownAddress: OwnAddress
    ) -> BluetoothRadio {
        BluetoothRadio(
            loop: loop, configuration: configuration,
            source: AdapterDirectory(
                loop: loop, choices: adapters,
                configuration: AdapterConfiguration(service: configuration.service, ownAddress: ownAddress)))
    }
}
