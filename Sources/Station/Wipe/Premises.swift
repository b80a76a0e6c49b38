import Basics
import Crypto
import EventLoop
import Vault

/// Where a box lives: its state directory, its configuration file and its machine; and how all that is wiped.
struct Premises {
    let state: StateDirectory
    let configuration: Configuration
    /// Nil when the configuration came from no file.
    let configurationPath: String?
    let host: HostMarks

    var directory: String { state.path }
    var markers: WipeMarkers { WipeMarkers(state: directory, second: configuration.panic.markerDirectory) }
    var aftermath: Aftermath { Aftermath(in: directory) }

    /// The wipe of everything here.
    /// - Parameter silence: closes what is open, where something is.
    func wipe(_ cause: WipeCause, silence: @escaping () -> Void = {}) -> StateWipe {
        // Somebody else's place and relays are as telling as one's own, but a box that was merely copied keeps them.
        let keepsSettings = configuration.panic.resume || cause == .moved
        return StateWipe(
            cause, of: directory, markers: markers, keyFiles: LegacyIdentity.files,
            keeping: [StateDirectory.lockName],
            others: [
                .silence: silence,
                .removeTraces: {
                    guard !keepsSettings, let configurationPath else { return }
                    try ConfigurationRedaction.redact(configurationPath, configuration)
                },
                .createIdentity: {
                    var random = SystemRandomNumberGenerator()
                    if configuration.storage == .persistent {
                        try IdentityStore(in: state).create(for: host, using: &random)
                    }
                    try Aftermath(
                        notice: cause,
                        unprovisionedName: keepsSettings ? nil : Aftermath.anonymousName(using: &random)
                    ).write(in: directory)
                },
            ])
    }
}
