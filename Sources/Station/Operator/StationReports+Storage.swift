import Vault

/// What the operator must know of the vault and of wipes.
extension Station {
    var wipeAttention: [StatusReport.Attention] {
        var items: [StatusReport.Attention] = []
        let aftermath = aftermath
        switch aftermath.notice {
        case .panic:
            items.append(
                StatusReport.Attention(
                    code: "wiped", message: "This box was wiped: all it remembered and its identity are gone.",
                    remedy: "bitgate wipe --acknowledge takes this line away."))
        case .moved:
            items.append(
                StatusReport.Attention(
                    code: "moved",
                    message:
                        "The state came from another machine, so its keys were destroyed and this box is a new one.",
                    remedy: "bitgate wipe --acknowledge takes this line away."))
        case nil: break
        }
        if aftermath.unprovisionedName != nil {
            items.append(
                StatusReport.Attention(
                    code: "unprovisioned",
                    message: "After the wipe this box only relays on its mesh: nickname, place, gateway, bridge and "
                        + "relays of the configuration file do not count.",
                    remedy: "Look whether the file still tells what it should not, then bitgate wipe --provision."))
        }
        if configuration.storage == .amnesic, hasStateOnDisk {
            items.append(
                StatusReport.Attention(
                    code: "state_left",
                    message: "Nothing is kept now, but an earlier run's identity and records are still on the disk.",
                    remedy: "bitgate wipe destroys them."))
        }
        return items
    }

    var storageAttention: [StatusReport.Attention] {
        var items: [StatusReport.Attention] = []
        if let trouble = vault.trouble {
            let why =
                switch trouble {
                case .diskFull: "the disk is full"
                case .diskFailing: "the disk cannot be written"
                case .refused: "the database refuses"
                }
            items.append(
                StatusReport.Attention(
                    code: "storage_degraded",
                    message: "What is new is kept in memory only and lost with a restart: \(why).",
                    remedy: "Make room or repair the file system of state_directory; it is tried again every minute."))
        }
        let records = vault.counts[.recordSetAside]
        let files = vault.counts[.fileSetAside]
        if records + files > 0 {
            let what = files > 0 ? "The database" : "\(records) of its records"
            items.append(
                StatusReport.Attention(
                    code: "storage_damaged",
                    message: "\(what) could not be read and was set aside; the box went on without.",
                    remedy: "Check the file system of state_directory, and replace a worn-out card."))
        }
        return items
    }
}
