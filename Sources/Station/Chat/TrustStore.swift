import Crypto
import Messenger

/// Where a chat peer's trust in others outlives the process, beside the identity it belongs to (chapter 02 §1.4 rule 4).
protocol TrustStore: AnyObject {
    func load() -> [TrustRecord]
    /// In the place of an earlier record of the same key.
    func keep(_ record: TrustRecord)
    func forget(_ fingerprint: Fingerprint)
}
