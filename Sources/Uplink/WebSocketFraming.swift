import Cwslay

/// WebSocket frames over wslay: fragments, masks, control frames and the closing handshake (RFC 6455 §5–7). Moves
/// bytes through the two closures and collects what arrived; calls nobody else.
final class WebSocketFraming {
    enum Event: Equatable {
        case text([UInt8])
        case binary([UInt8])
        case pong([UInt8])
        /// The server's close frame; wslay has queued the answer.
        case close(code: UInt16?, text: String)
    }

    /// Fills the buffer with received bytes and returns how many; nil when there are none now.
    var source: (UnsafeMutableRawBufferPointer) -> Int? = { _ in nil }
    /// Sends bytes and returns how many; nil when none can be sent now.
    var sink: (UnsafeRawBufferPointer) -> Int? = { _ in nil }

    private var context: wslay_event_context_ptr?
    private let mask: () -> UInt32
    private var events: [Event] = []
    /// Pings received since everything queued was last sent: no fewer than the answers that wait.
    private(set) var unansweredPings = 0
    /// Of the message under way.
    private var fragments = 0

    /// - Parameter mask: fresh randomness for each frame sent.
    init?(mask: @escaping () -> UInt32) {
        var callbacks = wslay_event_callbacks()
        callbacks.recv_callback = { context, buffer, length, _, user in
            guard let framing = WebSocketFraming.from(user), let buffer,
                let count = framing.source(UnsafeMutableRawBufferPointer(start: buffer, count: length)), count > 0
            else {
                wslay_event_set_error(context, Int32(WSLAY_ERR_WOULDBLOCK.rawValue))
                return -1
            }
            return count
        }
        callbacks.send_callback = { context, bytes, length, _, user in
            guard let framing = WebSocketFraming.from(user), let bytes,
                let count = framing.sink(UnsafeRawBufferPointer(start: bytes, count: length)), count > 0
            else {
                wslay_event_set_error(context, Int32(WSLAY_ERR_WOULDBLOCK.rawValue))
                return -1
            }
            return count
        }
        callbacks.genmask_callback = { _, buffer, length, user in
            guard let framing = WebSocketFraming.from(user), let buffer else { return -1 }
            var done = 0
            while done < length {
                withUnsafeBytes(of: framing.mask()) {
                    for byte in $0.prefix(length - done) {
                        buffer[done] = byte
                        done += 1
                    }
                }
            }
            return 0
        }
        callbacks.on_frame_recv_start_callback = { _, frame, user in
            guard let framing = WebSocketFraming.from(user), let frame else { return }
            framing.began(frame.pointee)
        }
        callbacks.on_msg_recv_callback = { _, message, user in
            guard let framing = WebSocketFraming.from(user), let message else { return }
            framing.received(message.pointee)
        }
        self.mask = mask
        let address = Unmanaged.passUnretained(self).toOpaque()
        guard wslay_event_context_client_init(&context, &callbacks, address) == 0 else { return nil }
        wslay_event_config_set_max_recv_msg_length(context, UInt64(UplinkLimits.messageBytes))
    }

    deinit {
        if let context { wslay_event_context_free(context) }
    }

    private static func from(_ user: UnsafeMutableRawPointer?) -> WebSocketFraming? {
        user.map { Unmanaged<WebSocketFraming>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: Receiving

    /// Takes what the source has, until it has nothing or something arrived.
    func receive() { wslay_event_recv(context) }

    var hasEvents: Bool { !events.isEmpty }

    /// What arrived since the last call.
    func takeEvents() -> [Event] {
        defer { events.removeAll() }
        return events
    }

    /// False once a close frame was received or the server broke the protocol.
    var isReading: Bool { wslay_event_get_read_enabled(context) != 0 }

    /// wslay keeps some sixty bytes for each fragment, however small, so it is not enough to bound the message.
    private func began(_ frame: wslay_event_on_frame_recv_start_arg) {
        // Control frames, from 8 on, may come between fragments.
        guard frame.opcode < 8 else { return }
        fragments = frame.opcode == UInt8(WSLAY_CONTINUATION_FRAME.rawValue) ? fragments + 1 : 1
        guard isRefused else { return }
        wslay_event_shutdown_read(context)
        queueClose(code: UInt16(WSLAY_CODE_MESSAGE_TOO_BIG.rawValue), text: "")
    }

    private var isRefused: Bool { fragments > UplinkLimits.messageFragments }

    private func received(_ message: wslay_event_on_msg_recv_arg) {
        let bytes = message.msg.map { Array(UnsafeBufferPointer(start: $0, count: message.msg_length)) } ?? []
        switch UInt32(message.opcode) {
        case WSLAY_TEXT_FRAME.rawValue where !isRefused: events.append(.text(bytes))
        case WSLAY_BINARY_FRAME.rawValue where !isRefused: events.append(.binary(bytes))
        case WSLAY_PING.rawValue: unansweredPings += 1
        case WSLAY_PONG.rawValue: events.append(.pong(bytes))
        case WSLAY_CONNECTION_CLOSE.rawValue:
            let code = message.status_code == 0 ? nil : message.status_code
            events.append(.close(code: code, text: String(decoding: bytes.dropFirst(2), as: UTF8.self)))
        default: break
        }
    }

    // MARK: Sending

    /// Sends what is queued, as far as the sink takes it.
    func flush() {
        wslay_event_send(context)
        if !wantsToWrite { unansweredPings = 0 }
    }

    var wantsToWrite: Bool { wslay_event_want_write(context) != 0 }
    var queuedBytes: Int { wslay_event_get_queued_msg_length(context) }
    var queuedMessages: Int { wslay_event_get_queued_msg_count(context) }
    /// The code of the close frame sent; 1006 while none was sent, 1005 when it carried none.
    var codeSent: UInt16 { wslay_event_get_status_code_sent(context) }

    enum Kind {
        case text
        case ping
    }

    /// - Returns: false once a close frame is queued.
    func queue(_ kind: Kind, _ bytes: [UInt8]) -> Bool {
        let opcode: wslay_opcode
        switch kind {
        case .text: opcode = WSLAY_TEXT_FRAME
        case .ping: opcode = WSLAY_PING
        }
        return bytes.withUnsafeBufferPointer {
            var message = wslay_event_msg(
                opcode: UInt8(opcode.rawValue), msg: $0.baseAddress, msg_length: $0.count)
            return wslay_event_queue_msg(context, &message) == 0
        }
    }

    func queueClose(code: UInt16, text: String) {
        let bytes = Array(text.utf8.prefix(UplinkLimits.controlPayloadBytes - 3))
        wslay_event_queue_close(context, code, bytes, bytes.count)
    }
}
