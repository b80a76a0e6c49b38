import EventLoop

/// One connection on the ATT fixed channel: a message is one ATT PDU. The kernel's L2CAP sockets stand behind it, and
/// scripted ones in tests.
protocol AttributeSocket: AnyObject {
    /// Sends a PDU whole or not at all.
    func send(_ pdu: UnsafeRawBufferPointer) -> FileDescriptor.Transfer
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> FileDescriptor.Message
    /// Calls `action` while there is something to read, or room to write, until cancelled.
    func watch(_ interest: IOInterest, _ action: @escaping () -> Void) -> any Cancellable
    /// How a connection attempt ended, once the socket is writable: nil when it is connected.
    func takeError() -> SystemError?
    /// Room for so many bytes of PDUs in the kernel, its bookkeeping included.
    func setSendBuffer(_ bytes: Int32)
    /// Closes now; the link below it lingers for seconds unless the adapter ends it.
    func close()
}

protocol AttributeListener: AnyObject {
    func close()
}

/// Opens sockets on the ATT fixed channel of an adapter.
protocol AttributeSocketPort: AnyObject {
    /// - Parameter own: the adapter's address as it is on the air; links made with another are not delivered.
    /// - Parameter onConnection: hears of each connected neighbour, with its address.
    func listen(
        at own: BluetoothAddress, onConnection: @escaping (any AttributeSocket, BluetoothAddress) -> Void
    ) throws(SystemError) -> any AttributeListener

    /// Begins to connect; the socket becomes writable when that is decided.
    func connect(from own: BluetoothAddress, to remote: BluetoothAddress) throws(SystemError) -> any AttributeSocket
}
