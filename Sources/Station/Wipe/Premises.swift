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
    /// Keys of the configuration that tell where a wipe has to reach, and could not be read: it destroys what is found
    /// without them, and does not call that all.
    var unknownPlaces: [String] = []
    let host: HostMarks
    /// See `StateWipe`.
    var forgetKeys: () -> Void = SecretMemory.scrub
    /// Shows what goes on.
    let panel: PanelDesk

    var directory: String { state.path }
    var markers: WipeMarkers {
        WipeMarkers(
            state: directory, second: configuration.panic.markerDirectory,
            passing: PrivateFile.parent(of: configuration.controlSocket))
    }
    var aftermath: Aftermath { Aftermath(in: directory) }

    /// The wipe that was begun and not completed, wherever that was noted. What the boot partition knows of is a panic.
    var pendingWipe: WipeCause? { helper.isNoted ? .panic : markers.pending }
    /// Whether that outlasts the power.
    var isWipeNotedForGood: Bool { helper.isNoted || markers.isLasting }

    private var helper: TraceHelper {
        let folder = configuration.panic.helper == "none" ? nil : configuration.panic.helper
        return TraceHelper(
            folder: folder, keepsNote: Premises.keepsNote(configuration), pause: { panel.pauseInWipe() },
            alive: Supervision.feed)
    }

    /// Whether the helper's note on the boot partition is this box's. It names nobody, so that of the package's helper
    /// is the packaged box's: another box of the machine must neither be wiped by it nor have that one wiped.
    static func keepsNote(_ configuration: Configuration) -> Bool {
        let packaged = Configuration()
        return configuration.panic.helper != packaged.panic.helper
            || configuration.stateDirectory == packaged.stateDirectory
    }

    private struct UnknownPlaces: Error, CustomStringConvertible {
        let keys: [String]
        var description: String {
            keys.map { "\($0): unknown" }.joined(separator: ", ")
                + ": mend the configuration, restart bitgated, and wipe again"
        }
    }

    /// The wipe of everything here.
    /// - Parameter silence: closes what is open, where something is.
    func wipe(_ cause: WipeCause, silence: @escaping () -> Void = {}) -> StateWipe {
        // Somebody else's place and relays are as telling as one's own, but a box that was merely copied keeps them;
        // unless a panic took them away before, which no move undoes.
        let isMove = cause == .moved
        let sparesSettings = isMove || configuration.panic.resume
        return StateWipe(
            cause, of: directory, markers: markers, keyFiles: LegacyIdentity.files,
            keeping: isMove ? [StateDirectory.lockName, Aftermath.latchFile] : [StateDirectory.lockName],
            forgetKeys: forgetKeys,
            others: [
                .block: { panel.showWiping() },
                // Where neither place takes a marker. Keys of another machine are found out again at the next start.
                .markConfiguration: { if !isMove, !markers.isLasting { try helper.note() } },
                .silence: silence,
                .removeTraces: {
                    let erasure = Result { try helper.erase(settings: !sparesSettings) }
                    // The file is needed to find them.
                    guard unknownPlaces.isEmpty else { throw UnknownPlaces(keys: unknownPlaces) }
                    if !sparesSettings, let configurationPath {
                        try ConfigurationRedaction.redact(configurationPath, configuration)
                    }
                    try erasure.get()
                },
                .createIdentity: {
                    var random = SystemRandomNumberGenerator()
                    if configuration.storage == .persistent {
                        try IdentityStore(in: state).create(for: host, using: &random)
                    }
                    let isBare = isMove ? aftermath.unprovisionedName != nil : !sparesSettings
                    try Aftermath(
                        notice: cause, unprovisionedName: isBare ? Aftermath.anonymousName(using: &random) : nil
                    ).write(in: directory)
                },
                .unmarkConfiguration: { try helper.forget() },
            ])
    }
}
