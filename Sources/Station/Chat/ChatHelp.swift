/// The chat console's commands, for its own help and the manual.
public enum ChatHelp {
    public static let lines = [
        "  TEXT             say it where you are: on #mesh, or in a location channel",
        "  /j GEOHASH       go to a location channel; /j #mesh goes back",
        "  /who             who is in reach, and who is across the bridge",
        "  /bridge on|off   also send what you say on #mesh to other meshes of the area",
        "  /nick NAME       change your name",
        "  /help            this list",
        "  /quit            leave",
    ]
    public static let text = lines.joined(separator: "\n") + "\n"
}
