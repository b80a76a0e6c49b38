import EventLoop

extension BluetoothRadio {
    /// The radio on this machine's controllers.
    /// - Parameter adapters: those to use; empty for all there are.
    public static func system(
        loop: any EventLoop, configuration: BluetoothConfiguration, adapters: [AdapterChoice]
    ) -> BluetoothRadio {
        BluetoothRadio(loop: loop, configuration: configuration)
    }
}
