import Basics
import Crypto
import Gateway
import Mesh
import Nostr
import Wire

/// How the courier's effects are carried out, and what it hears of.
extension Switchboard {
    func carry(_ effect: CourierEffect) {
        switch effect {
        case .send(let envelope, let peer, let route, let ticket):
            let isWritten = mesh.sendMail(envelope, to: peer, over: route, at: now)
            courier?.sent(ticket, isWritten: isWritten, at: now)
        case .prove(let peer): _ = mesh.openSession(with: peer, at: now)
        case .open(_, let drop):
            // A box is nobody to write to: what is for it is taken, so that it need not be brought again, and not read.
            courier?.opened(drop: drop, isHandled: true, at: now)
        case .publish(let event, let attempt): relays?.publishDrop(event, as: attempt, at: now)
        case .subscribe(let id, let filter): relays?.subscribeDrops(id, filter, at: now)
        case .unsubscribe(let id): relays?.unsubscribe(id, at: now)
        case .keep(let mail): mailArchive?.keep(mail, at: now.monotonic)
        case .forget(let id): mailArchive?.forget(id, at: now.monotonic)
        case .remember(let drop): mailArchive?.keep(drop, at: now.monotonic)
        }
    }

    func announced(_ peer: PeerID, _ key: NoisePublicKey, _ standing: AnnounceStanding) {
        guard let courier else { return }
        let isCourier = mesh.peer(peer, at: now)?.capabilities?.carriesMail ?? false
        courier.met(peer, key, standing, isCourier: isCourier, at: now)
    }
}
