/// The chat console's commands, for its own help and the manual.
public enum ChatHelp {
    public static let lines = [
        "  TEXT             say it where you are: on #mesh, or in a location channel",
        "  /msg NAME TEXT   say it to one person only, encrypted",
        "  /why NAME        which ways there are to them: mesh, relays, and why not",
        "  /j GEOHASH       go to a location channel; /j #mesh goes back",
        "  /who             who is in reach, and who is across the bridge",
        "  /bridge on|off   also send what you say on #mesh to other meshes of the area",
        "  /nick NAME       change your name",
        "  /fingerprint [NAME]",
        "                   of your key or theirs, to compare by voice",
        "  /verify          show your code, for others to verify you by",
        "  /verify CODE     verify whoever shows this code",
        "  /verify NAME FINGERPRINT",
        "                   verify them by what they read to you; /unverify NAME",
        "  /add CODE        make whoever showed this code a favourite, in reach or not",
        "  /fav NAME        make somebody a favourite, and tell them; /unfav NAME",
        "  /block NAME      neither see nor answer somebody any more; /unblock NAME",
        "  /help            this list",
        "  /quit            leave",
    ]
    public static let text = lines.joined(separator: "\n") + "\n"

    /// What a line may begin with.
    public static let commands = [
        "/add", "/block", "/bridge", "/fav", "/fingerprint", "/help", "/j", "/msg", "/nick", "/quit", "/unblock",
        "/unfav", "/unverify", "/verify", "/who", "/why",
    ]
    /// Those that a name follows.
    static let commandsAboutPeople: Set = [
        "/block", "/fav", "/fingerprint", "/m", "/msg", "/unblock", "/unfav", "/unverify", "/verify", "/why",
    ]
}
