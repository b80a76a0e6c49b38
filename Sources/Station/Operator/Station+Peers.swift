import Basics
import Mesh
import Wire

/// The operator and the peers of the mesh.
extension Station {
    /// Trusts a peer on first use again: what its announces and sessions had proven counts no more (chapter 02 §2.4).
    func forgetPeer(_ argument: String?) throws(ControlError) -> [PeerReport] {
        guard let peer = argument.flatMap({ Hex.decode($0) }).flatMap({ PeerID($0) }) else {
            throw ControlError(
                code: ControlError.malformed, message: "no ID of a peer: 16 hex digits, as bitgate peers shows them")
        }
        guard switchboard.perform({ mesh.forget(peer, at: $0) }) else {
            throw ControlError(code: "refused", message: "nothing is known of that peer")
        }
        return peerReports
    }
}
