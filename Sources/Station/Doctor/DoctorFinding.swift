/// Something that keeps a gateway from working, or from working as well as it could, and what to do about it.
public struct DoctorFinding: Equatable, Sendable {
    public enum Weight: String, Sendable {
        /// The radio, or the box, does not work.
        case fault
        /// It works, but not as it could, or not for long.
        case warning
    }

    /// Scripts rely on it: never changed.
    public let code: String
    public let weight: Weight
    public let message: String
    public let remedy: String

    init(_ weight: Weight, _ code: String, _ message: String, remedy: String) {
        self.code = code
        self.weight = weight
        self.message = message
        self.remedy = remedy
    }
}
