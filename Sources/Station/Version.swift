/// The release, as `--version` and `status` say it.
public enum Version {
    public static let text = "0.1.0"
}
