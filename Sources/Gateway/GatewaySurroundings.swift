import Nostr

/// What the services of a gateway share.
struct GatewaySurroundings {
    var relayConnected = false
    var display = MessageDisplay()
    var effects = EffectQueue<GatewayEffect>()
    var random: any RandomNumberGenerator

    init(random: any RandomNumberGenerator) { self.random = random }
}
