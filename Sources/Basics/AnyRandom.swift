/// A generator of any type behind a concrete one, so that drawing from it costs one indirect call and not an
/// unspecialised generic function.
public struct AnyRandom: RandomNumberGenerator {
    @usableFromInline var generator: any RandomNumberGenerator

    @inlinable public init(_ generator: any RandomNumberGenerator) { self.generator = generator }

    @inlinable public mutating func next() -> UInt64 { generator.next() }
}
