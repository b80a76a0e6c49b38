import Basics
import Crypto

/// The secrets a box is known by.
public struct StationIdentity: Sendable {
    public let node: NodeIdentity
    public let deviceSeed: DeviceSeed

    public static func generate(using random: inout some RandomNumberGenerator) -> StationIdentity {
        StationIdentity(node: .generate(using: &random), deviceSeed: .generate(using: &random))
    }

    func hasSameSecrets(as other: StationIdentity) -> Bool {
        node.noise.privateKey == other.node.noise.privateKey && node.signing.seed == other.node.signing.seed
            && deviceSeed.secret == other.deviceSeed.secret
    }
}

extension StationIdentity {
    private static let format: UInt8 = 1
    private static let keySize = 32

    /// The three keys and the marks of the machine they belong to, as they are sealed.
    func encoded(for host: HostMarks) -> SecretBytes {
        let keys = [node.noise.privateKey, node.signing.seed, deviceSeed.secret]
        let marks = host.encoded
        return SecretBytes(count: 1 + keys.count * StationIdentity.keySize + marks.count) { memory in
            memory[0] = StationIdentity.format
            var offset = 1
            for key in keys {
                key.withBytes { UnsafeMutableRawBufferPointer(rebasing: memory[offset...]).copyMemory(from: $0) }
                offset += StationIdentity.keySize
            }
            UnsafeMutableRawBufferPointer(rebasing: memory[offset...]).copyBytes(from: marks)
        }
    }

    /// `nil` for what `encoded` does not make.
    static func decode(_ bytes: SecretBytes) -> (identity: StationIdentity, host: HostMarks)? {
        bytes.withBytes { bytes -> (StationIdentity, HostMarks)? in
            var reader = ByteReader(bytes)
            guard reader.readUInt8() == format, let noise = reader.readView(keySize),
                let signing = reader.readView(keySize), let seed = reader.readView(keySize),
                let noise = NoiseStaticKey(privateKey: SecretBytes(copying: noise)),
                let signing = SigningKey(seed: SecretBytes(copying: signing)),
                let seed = DeviceSeed(SecretBytes(copying: seed)), let host = HostMarks(reading: &reader)
            else { return nil }
            return (StationIdentity(node: NodeIdentity(noise: noise, signing: signing), deviceSeed: seed), host)
        }
    }
}
