/// The chat console's commands, for its own help and the manual.
public enum ChatHelp {
    public static let lines = [
        "  TEXT             send it here: to #mesh, or to a location channel",
        "  /msg NAME TEXT   send it to one person only, encrypted",
        "  /why NAME        show the routes to them, and why others fail",
        "  /j GEOHASH       go to a location channel; /j #mesh goes back",
        "  /who             list people in reach and people across the bridge",
        "  /bridge on|off   also send #mesh messages to other meshes of the area",
        "  /nick NAME       change your name",
        "  /fingerprint [NAME]",
        "                   show the fingerprint of your key or theirs, to compare",
        "  /verify          show your code, for others to verify you by",
        "  /verify CODE     verify the person who shows this code",
        "  /verify NAME FINGERPRINT",
        "                   verify them by this fingerprint; /unverify NAME",
        "  /add CODE        make the person who showed this code a favourite",
        "  /fav NAME        make a person a favourite and notify them; /unfav NAME",
        "  /block NAME      ignore a person; /unblock NAME",
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
