import Basics
import EventLoop
import Radio

/// Asks the kernel about its controllers, once, and waits for the answers.
enum ControllerSurvey {
    private enum Limits {
        /// A kernel that has not answered by then does not answer.
        static let patience = Interval.seconds(10)
    }

    static func fill(_ facts: inout DoctorFacts) {
        guard let loop = try? LibeventLoop() else { return }
        let conversation = Conversation(loop: loop)
        conversation.run()
        facts.bluetooth = conversation.outcome
        for (index, found) in conversation.controllers {
            guard let place = facts.controllers.firstIndex(where: { $0.index == index }) else { continue }
            facts.controllers[place].information = found.information
            facts.controllers[place].instances = found.instances
            facts.controllers[place].links = found.links
        }
    }

    private final class Conversation: ManagementChannelDelegate {
        private let loop: LibeventLoop
        private let channel: ManagementChannel
        private var isWaitingFor = 0
        private(set) var outcome = DoctorFacts.Bluetooth.silent
        private(set) var controllers: [UInt16: DoctorFacts.Controller] = [:]

        init(loop: LibeventLoop) {
            self.loop = loop
            channel = ManagementChannel(loop: loop)
            channel.delegate = self
        }

        func run() {
            let limit = loop.schedule(after: Limits.patience) { [loop] in loop.stop() }
            channel.start()
            loop.run()
            limit.cancel()
            channel.stop()
        }

        func channelOpened() {
            ask(.readIndexList, ManagementCommand.noController) { [self] bytes in
                outcome = .ready
                for index in ControllerList(parsing: bytes)?.indexes ?? [] { describe(index) }
            }
        }

        private func describe(_ index: UInt16) {
            controllers[index] = DoctorFacts.Controller(index: index)
            ask(.readInformation, index) { [self] in
                controllers[index]?.information = ControllerInformation(parsing: $0)
            }
            ask(.readAdvertisingFeatures, index) { [self] in
                controllers[index]?.instances = AdvertisingFeatures(parsing: $0)
            }
            ask(.readConnections, index) { [self] in
                controllers[index]?.links = ConnectionList(parsing: $0)?.addresses.count ?? 0
            }
        }

        private func ask(_ command: ManagementCommand, _ index: UInt16, then use: @escaping ([UInt8]) -> Void) {
            isWaitingFor += 1
            channel.send(command, to: index) { [self] answer in
                if case .success(let bytes) = answer { use(bytes) }
                isWaitingFor -= 1
                if isWaitingFor == 0 { loop.stop() }
            }
        }

        func channelClosed() {
            switch channel.state {
            case .missing: outcome = .missing
            case .forbidden: outcome = .forbidden
            default: break
            }
            loop.stop()
        }

        func channelHeard(_ event: ManagementEvent, index: UInt16) {}
    }
}
