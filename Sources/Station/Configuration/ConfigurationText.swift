/// The commented default file.
public enum ConfigurationText {
    private static let width = 118

    /// Every key with its meaning, what it takes and its default, each commented out: an empty configuration that
    /// documents itself.
    public static var defaults: String {
        var lines = wrap(
            "Configuration of bitgated. Every key is shown with its default; remove the # before a key to change it. "
                + "Check the file with: bitgate config check FILE. On SIGHUP bitgated reads the file again and applies "
                + "all keys except those that need a restart.")
        for section in ConfigurationTable.sections {
            if !section.name.isEmpty { lines += [""] + wrap(section.summary) + ["[\(section.name)]"] }
            for setting in ConfigurationTable.settings where setting.section == section.name {
                lines += [""] + describe(setting)
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func describe(_ setting: Setting) -> [String] {
        let value = setting.standard ?? setting.example ?? ""
        return wrap(setting.summary)
            + wrap(
                "Takes \(setting.allowed)."
                    + (setting.standard == nil ? " Unset by default." : "")
                    + (setting.effect == .restart ? " Needs a restart." : ""))
            + ["# \(setting.name) = \(value)"]
    }

    /// Comment lines no wider than `width`.
    private static func wrap(_ text: String) -> [String] {
        var lines: [String] = []
        var line = "#"
        for word in text.split(separator: " ") {
            if line.count + 1 + word.count > width, line != "#" {
                lines.append(line)
                line = "#"
            }
            line += " " + word
        }
        return lines + [line]
    }
}
