/// Makes the streams that lead to servers.
public protocol StreamDialer: AnyObject {
    /// A stream that is not opened yet; to be opened at once, since the decision holds for this moment only.
    /// - Parameter isolation: shares its circuit with streams of the same isolation and with no other.
    func makeStream(
        to address: WebSocketAddress, isolation: StreamIsolation
    ) throws(StreamFailure) -> any ByteStream
}
