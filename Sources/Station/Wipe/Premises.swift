import Basics
import Crypto
import EventLoop
import Glibc
import Radio
import Vault

/// Where a box lives: its state directory, its configuration file and its machine; and how all that is wiped.
struct Premises {
    /// Nil where it cannot be taken: what lies there is destroyed as far as it can be, and nothing made in its place.
    var state: StateDirectory?
    let configuration: Configuration
    /// Nil when the configuration came from no file.
    let configurationPath: String?
    /// Keys of the configuration that tell where a wipe has to reach, and could not be read: it destroys what is found
    /// without them, and does not call that all.
    var unknownPlaces: [String] = []
    /// Whether it is known which controllers are ours.
    var isRadioKnown = true
    let host: HostMarks
    /// See `StateWipe`.
    var forgetKeys: () -> Void = SecretMemory.scrub
    /// Shows what goes on.
    let panel: PanelDesk
    /// Takes everything off the air, whoever put it there.
    var quiet: Quiet = Premises.takeOffAir
    /// Milliseconds the controllers may take for it.
    var quietPatience = 10_000

    var directory: String { configuration.stateDirectory }
    var markers: WipeMarkers {
        WipeMarkers(
            state: directory, second: configuration.panic.markerDirectory,
            passing: PrivateFile.parent(of: configuration.controlSocket))
    }
    var aftermath: Aftermath { Aftermath(in: directory) }

    /// The wipe that was begun and not completed, wherever that was noted. What the boot partition knows of is a panic.
    var pendingWipe: WipeCause? { Premises.isNotedInProcess ? .panic : notedWipe }
    private var notedWipe: WipeCause? { helper.note == .present ? .panic : markers.pending }
    /// Nobody can tell whether there is one.
    var isWipeUnknown: Bool { helper.note == .unknown }
    /// Whether another process would find out that it must not go on the air.
    var isWipeKnownToOthers: Bool { notedWipe != nil || isWipeUnknown }

    /// How the last wipe ended, until the operator has acknowledged it.
    var lastWipe: WipeReport {
        guard access(directory, R_OK | X_OK) == 0, let notice = aftermath.notice else {
            return WipeReport(state: .none)
        }
        return WipeReport(state: .wiped, cause: notice)
    }

    /// How it stands with wiping as far as something tells that was there before.
    /// - Parameter fault: what keeps the box from starting, and so from completing a wipe.
    func earlierWipe(_ fault: StationFault?) -> WipeReport {
        guard !unknownPlaces.contains("state_directory") else { return WipeReport(state: .none) }
        if pendingWipe != nil {
            let obstacle = fault.map { WipeReport.Failure(step: "state_directory", reason: "\($0)") }
            return WipeReport(state: .incomplete, failures: obstacle.map { [$0] } ?? [])
        }
        return isWipeUnknown ? WipeReport(state: .unknown) : lastWipe
    }

    /// Keeps what the operator has decided.
    func keep(_ aftermath: Aftermath) throws(ControlError) {
        do throws(SystemError) {
            try aftermath.write(in: directory)
        } catch {
            throw ControlError(code: "failed", message: error.withCure)
        }
    }

    func acknowledgeWipe() throws(ControlError) {
        try keep(Aftermath(unprovisionedName: aftermath.unprovisionedName))
    }

    /// For whoever tapped.
    func acknowledgeWipe(_ log: Log) {
        do throws(ControlError) {
            try acknowledgeWipe()
        } catch {
            log.error("cannot record the wipe acknowledgement: the state directory is not writable")
        }
    }

    /// The last place for a note, where no other takes one: the environment of this process, which the one that takes
    /// its place inherits.
    private static let environmentName = "BITGATE_WIPE_INCOMPLETE"
    private static var isNotedInProcess: Bool { getenv(environmentName) != nil }
    static func noteInProcess() { setenv(environmentName, "1", 1) }

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

    /// Numbers of controllers that are not silent yet.
    typealias Quiet = (Configuration.Radio) throws -> [UInt16]

    static func takeOffAir(_ radio: Configuration.Radio) throws -> [UInt16] {
        guard radio.kind == .bluetooth else { return [] }
        return try RadioSilence.impose(on: radio.adapters)
    }

    private struct NotSilent: Error, CustomStringConvertible {
        let controllers: [UInt16]
        var description: String {
            controllers.map { "hci\($0)" }.joined(separator: ", ")
                + " may still be on the air and does not obey: cut the power, or pull it out"
        }
    }

    /// What was ordered long before is looked for, now that everything is destroyed.
    private func awaitSilence() throws {
        let look = 500
        var waited = 0
        while case let controllers = try quiet(configuration.radio), !controllers.isEmpty {
            guard waited < quietPatience else { throw NotSilent(controllers: controllers) }
            Supervision.feed()
            let next = waited + look
            while waited < next { waited += panel.pauseInWipe() }
        }
    }

    private struct UnknownPlaces: Error, CustomStringConvertible {
        let keys: [String]
        var description: String {
            keys.map { "\($0): unknown" }.joined(separator: ", ")
                + ": mend the configuration, restart bitgated, and wipe again"
        }
    }

    private struct NoState: Error, CustomStringConvertible {
        let description = "the state directory cannot be used: nothing new is made in it"
    }

    /// Wipes everything here.
    /// - Parameter silence: closes what is open, where something is.
    /// - Returns: what failed; nil when the wipe is complete.
    func wipe(_ cause: WipeCause, silence: @escaping () -> Void = {}) -> WipeReport? {
        let worker = worker(cause, silence)
        guard case .incomplete(let failures) = PanicWipe.run(with: worker) else { return nil }
        return WipeReport(failures, isNoted: worker.isNoted)
    }

    private func worker(_ cause: WipeCause, _ silence: @escaping () -> Void) -> StateWipe {
        // Somebody else's place and relays are as telling as one's own, but a box that was merely copied keeps them;
        // unless a panic took them away before, which no move undoes.
        let isMove = cause == .moved
        let sparesSettings = isMove || configuration.panic.resume
        var awaitsNote = false
        return StateWipe(
            cause, of: directory, markers: markers, keyFiles: LegacyIdentity.files,
            keeping: isMove ? [StateDirectory.lockName, Aftermath.latchFile] : [StateDirectory.lockName],
            forgetKeys: forgetKeys,
            others: [
                .block: { _ in panel.showWiping() },
                // Where neither place takes a marker. Keys of another machine are found out again at the next start.
                .markConfiguration: { wipe in
                    guard !isMove, !wipe.isNoted else { return }
                    if helper.note == .present { return wipe.noteStands() }
                    try helper.requestNote()
                    awaitsNote = true
                },
                .silence: { _ in
                    silence()
                    // It is looked at when the key is gone.
                    _ = try? quiet(configuration.radio)
                },
                // Not before the keys are gone: somebody may pull the plug. It is no failure either.
                .deleteStores: { wipe in
                    if awaitsNote, helper.takesNote() { wipe.noteStands() }
                },
                .removeTraces: { _ in
                    let silence = Result { try awaitSilence() }
                    let erasure = Result { try helper.erase(settings: !sparesSettings) }
                    // The file is needed to find them.
                    guard unknownPlaces.isEmpty else { throw UnknownPlaces(keys: unknownPlaces) }
                    if !sparesSettings, let configurationPath {
                        try ConfigurationRedaction.redact(configurationPath, configuration)
                    }
                    try erasure.get()
                    try silence.get()
                },
                .createIdentity: { _ in
                    guard let state else { throw NoState() }
                    var random = SystemRandomNumberGenerator()
                    if configuration.storage == .persistent {
                        try IdentityStore(in: state).create(for: host, using: &random)
                    }
                    let isBare = isMove ? aftermath.unprovisionedName != nil : !sparesSettings
                    try Aftermath(
                        notice: cause, unprovisionedName: isBare ? Aftermath.anonymousName(using: &random) : nil
                    ).write(in: directory)
                },
                .unmarkConfiguration: { _ in
                    try helper.forget()
                    unsetenv(Premises.environmentName)
                },
            ])
    }
}
