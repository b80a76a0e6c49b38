/// The commands that turn a controller in any state into one that speaks only LE, pairs with nobody, and carries
/// nothing over from whoever used it before (chapter 03 A13.1).
struct SetUpScript {
    struct Step: Equatable {
        let command: ManagementCommand
        /// Without it the controller is of no use. The others improve matters, and old kernels refuse some.
        let isEssential: Bool
    }

    let steps: [Step]

    /// Neither input nor output: the kernel then asks nobody to confirm anything.
    private static let noInputNoOutput: UInt8 = 3

    init(of controller: ControllerInformation, staticAddress: UInt64) {
        let current = controller.current
        var steps: [Step] = []
        func essential(_ command: ManagementCommand) { steps.append(Step(command: command, isEssential: true)) }
        func helpful(_ command: ManagementCommand) { steps.append(Step(command: command, isEssential: false)) }

        // Ends the connections, instances and discovery of an earlier run, and most settings change only while off.
        // A controller that is off cannot be told to forget its instances, and one with only legacy advertising takes
        // them up again when it comes on.
        if current.contains(.powered) {
            helpful(.removeAdvertising(0))
            essential(.setPowered(false))
        }
        if !current.contains(.lowEnergy) { essential(.setLowEnergy(true)) }
        if current.contains(.classic) { essential(.setClassic(false)) }
        if current.contains(.bondable) { essential(.setBondable(false)) }
        if current.contains(.advertising) { helpful(.setAdvertising(false)) }
        if current.contains(.privacy) { essential(.setPrivacyOff) }
        essential(.setStaticAddress(staticAddress))
        helpful(.setInputOutputCapability(SetUpScript.noInputNoOutput))
        // Keys of a daemon that bonded with phones here would let them encrypt, and replace their addresses.
        helpful(.forgetLongTermKeys)
        helpful(.forgetIdentityKeys)
        helpful(.forgetDevices)
        helpful(.setDefaults(DefaultParameter.mesh))
        essential(.setPowered(true))
        helpful(.removeAdvertising(0))
        self.steps = steps
    }

    /// What a controller that is set up looks like.
    static func isFit(_ current: AdapterSettings) -> Bool {
        current.isSuperset(of: [.powered, .lowEnergy]) && current.isDisjoint(with: [.classic, .bondable, .privacy])
    }
}
