/// What `bitgated --help` prints, and its manual page says.
public enum DaemonHelp {
    public static let text = """
        bitgated is the bitchat gateway: a mesh node that connects its neighbours with
        location channels and with other meshes of the area.

        usage: bitgated [--config FILE]

          --config FILE   the configuration (default \(Configuration.defaultPath));
                          bitgate config defaults prints one that explains every key
          --help
          --version

        It stays in the foreground and logs to standard error. SIGTERM and SIGINT stop
        it: it withdraws what it offers and says goodbye to the mesh. SIGHUP makes it
        read the configuration again, and dial at once whatever relay it had given up;
        bitgate status names the keys that wait for a restart. The bitgate command shows
        what it does. Under systemd it says when it is ready, and feeds the watchdog as
        long as one of its radios shows life.

        Exit status: 0 stopped as told, 64 wrong usage, 66 no such configuration file
        or not readable, 71 the system refused something, 73 the state directory or the
        identity in it cannot be used, 75 the state, the socket or the name in the room
        is in use, 78 the configuration has mistakes.

        A wipe that was begun is completed before anything else. While it cannot be,
        the daemon keeps radio and network off and answers bitgate wipe --status.

        The packaged service, bitgated.service, reads the file that BITGATE_CONFIG names
        and has no way to the network but tor's socket. network.tor = "off", or tor on a
        port, needs /usr/share/doc/bitgate/examples/bitgated-network.conf copied to
        /etc/systemd/system/bitgated.service.d/. What a wipe takes away beside the
        daemon's own, bitgate-erase.service and bitgate-boot.service do as root; they
        are asked by files in /run/bitgate-erase/ask.

        """
}
