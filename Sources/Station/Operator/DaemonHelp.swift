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

        It runs in the foreground and logs to standard error. On SIGTERM or SIGINT it
        withdraws its offers, says goodbye to the mesh and exits. On SIGHUP it reads the
        configuration again and reconnects at once to relays it had given up; bitgate
        status names the keys that need a restart. The bitgate command shows its state.
        Under systemd it reports when it is ready, and feeds the watchdog as long as one
        of its radios is alive.

        Exit status: 0 stopped on request, 64 wrong usage, 66 the configuration file is
        missing or unreadable, 71 a system call failed, 73 the state directory or the
        identity in it cannot be used, 75 the state, the socket or the name in the room
        is in use, 78 the configuration has mistakes.

        bitgated completes an unfinished wipe before anything else. If it cannot, it
        keeps radio and network off and still answers bitgate wipe --status.

        The packaged service, bitgated.service, reads the file named by BITGATE_CONFIG
        and has no network access except tor's socket. For network.tor = "off", or tor
        on a port, copy /usr/share/doc/bitgate/examples/bitgated-network.conf to
        /etc/systemd/system/bitgated.service.d/. During a wipe, bitgate-erase.service
        and bitgate-boot.service delete traces outside the daemon's own files, as root;
        files in /run/bitgate-erase/ask request this.

        """
}
