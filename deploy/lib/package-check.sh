# shellcheck shell=bash
# shellcheck disable=SC2016 # another shell expands what stands in single quotes
# shellcheck disable=SC2154 # debian.sh sets $debian_suite and $toolchain
# Installs, upgrades and purges the package in a clean Debian 13. Sourced by deploy/deb after package.sh.

# A clean system with what the package depends on, and nothing of the package; sets $clean, its archive.
check_make_system() {
    local names
    names=$(package_dependencies "$1")
    clean=$(debian_cache)/clean-$(printf '%s' "$names" | sha256sum | cut -c1-12).tar
    [ ! -e "$clean" ] || return 0
    say "check: making a clean Debian 13"
    debian_sources main | mmdebstrap --quiet --variant=apt --format=tar --aptopt='APT::Install-Recommends "false"' \
        --include="systemd,passwd,libpam-runtime,$names" "$debian_suite" "$clean.part" - >&2 ||
        die 1 "mmdebstrap could not make a clean system"
    mv "$clean.part" "$clean"
}

# What runs inside. Standard input is a tar archive of the package and of the same with a lower version.
check_inside='
    fail() { echo "FAILED: $*"; exit 1; }
    say() { echo "  $*"; }
    list() { find / -xdev \( -path /proc -o -path /dev -o -path /tmp -o -path /check -o -path /var/lib/dpkg -o -path /var/cache \
        -o -path /var/log \) -prune -o -print | sort; }
    mkdir -p /check
    tar -x -C /check
    list >/check/before
    cp /etc/passwd /etc/group /check/

    dpkg -i /check/lower.deb >/check/log 2>&1 || { cat /check/log; fail "install of the lower version"; }
    [ "$(dpkg-query -W -f "\${Status}" bitgate)" = "install ok installed" ] || fail "not installed"
    getent passwd bitgate >/dev/null || fail "there is no user bitgate"
    dpkg-query -W -f "\${Conffiles}" bitgate | grep -q " /etc/bitgate/bitgate.toml " || fail "the configuration is no conffile"
    bitgate config check >/dev/null || fail "the packaged configuration has mistakes"
    bluetooth=/etc/systemd/system/bluetooth.service
    [ "$(readlink $bluetooth)" = /dev/null ] || fail "the Bluetooth service can be started"
    say "installed $(dpkg-query -W -f "\${Version}" bitgate)"

    printf "%s\n" "nickname = \"gate-check\"" "radio.kind = \"air\"" "air.room = \"/run/bitgate/air\"" \
        "clock.trust_system = true" >/check/toml
    cat /check/toml >/etc/bitgate/bitgate.toml
    bitgate config check >/dev/null || fail "the check wrote a bad configuration"
    install -d -o bitgate -g bitgate -m 700 /var/lib/bitgate
    # await WHY COMMAND...: until it succeeds, for two minutes at the most.
    await() {
        why=$1
        shift
        n=0
        until "$@"; do
            n=$((n + 1))
            [ $n -lt 600 ] || { tail -n 50 /check/*.out /check/daemon /check/error || true; fail "$why"; }
            sleep 0.2
        done
    }
    answers() { bitgate status --json >/check/status 2>/check/error; }
    mail_has() { bitgate mail --json 2>/check/error | grep -qE -- "$1"; }
    mail_shows() { await "the box has no mail like $1" mail_has "$1"; }
    lacks() { bitgate peers --json >/check/peers 2>/check/error && ! grep -q "\"nickname\":\"$1\"" /check/peers; }
    # wait_for NAME PATTERN: until a line of that output matches.
    wait_for() { await "$1 waits in vain for $2" grep -Eq -- "$2" "/check/$1.out"; }
    run() {
        install -d -o bitgate -g bitgate -m 750 /run/bitgate
        setpriv --reuid bitgate --regid bitgate --init-groups bitgated >/check/daemon 2>&1 &
        daemon=$!
        await "bitgated does not answer" answers
        identity=$(grep -o "\"peer\":\"[0-9a-f]*\"" /check/status | head -n 1)
        [ -n "$identity" ] || { cat /check/status; fail "the status has no peer ID"; }
    }
    stop() { kill $daemon; wait $daemon || fail "bitgated ended with $?"; }
    install -d -o bitgate -g bitgate -m 700 /check/people
    # person NAME DESCRIPTOR: somebody with a console and a memory, in reach of the box.
    person() {
        [ -p "/check/$1.in" ] || mkfifo "/check/$1.in"
        : >"/check/$1.out"
        eval "exec $2<>/check/$1.in"
        setpriv --reuid bitgate --regid bitgate --init-groups bitgate chat --room /run/bitgate/air --name "$1" \
            --state "/check/people/$1" <"/check/$1.in" >"/check/$1.out" 2>&1 &
        eval "$1=$!"
    }
    words="the key is under the blue stone"
    run
    first=$identity
    person alice 8
    person bob 9
    wait_for alice "^\\* bob came$"
    wait_for alice "^\\* gate-check came$"
    wait_for bob "^\\* alice came$"
    echo "/fav bob" >&8
    echo "/fav alice" >&9
    wait_for alice "^\\* bob made you a favourite$"
    wait_for bob "^\\* alice made you a favourite$"
    echo /quit >&9
    wait $bob || fail "bob did not leave well"
    wait_for alice "^\\* bob left$"
    await "the box did not see bob leave" lacks bob
    echo "/msg bob $words" >&8
    wait_for alice "^\\* 1 to bob: carried$"
    mail_shows "\"deposited\":1"
    echo /quit >&8
    wait $alice || fail "alice did not leave well"
    say "alice left a letter for bob in it, who is away"
    stop
    state() { (cd /var/lib/bitgate && find . -type f | sort | xargs sha256sum); }
    state >/check/state
    say "it made itself an identity and a vault of $(wc -l </check/state) files"

    dpkg -i /check/this.deb >/check/log 2>&1 || { cat /check/log; fail "upgrade"; }
    state | cmp -s - /check/state || fail "the upgrade changed the state"
    cmp -s /etc/bitgate/bitgate.toml /check/toml || fail "the upgrade changed the configuration"
    run
    [ "$identity" = "$first" ] || fail "another identity after the upgrade: $first, $identity"
    mail_shows "\"carried\":1"
    person bob 9
    wait_for bob "^\\[private\\] <alice> $words$"
    echo /quit >&9
    wait $bob || fail "bob did not leave well"
    stop
    say "upgraded to $(dpkg-query -W -f "\${Version}" bitgate): identity and configuration are the same, and bob got the letter"

    dpkg -r bitgate >/check/log 2>&1 || { cat /check/log; fail "removal"; }
    [ -e /var/lib/bitgate ] && [ -e /etc/bitgate/bitgate.toml ] || fail "removal took more than the programs"
    dpkg -P bitgate >/check/log 2>&1 || { cat /check/log; fail "purge"; }
    list >/check/after
    left=$(comm -13 /check/before /check/after)
    [ -z "$left" ] || fail "left after the purge: $left"
    lost=$(comm -23 /check/before /check/after)
    [ -z "$lost" ] || fail "gone with the purge, and not ours: $lost"
    ! grep -q bitgate /etc/passwd /etc/group /etc/shadow || fail "the user is still there"
    say "purged: no file and no user left"

    # The Bluetooth service of the system, as its package installs and updates it.
    mkdir -p /usr/lib/systemd/system
    printf "%s\n" "[Service]" "ExecStart=/bin/true" "[Install]" "WantedBy=bluetooth.target" "Alias=dbus-org.bluez.service" \
        >/usr/lib/systemd/system/bluetooth.service
    bluez() { for verb in unmask enable; do DPKG_MAINTSCRIPT_PACKAGE=bluez deb-systemd-helper $verb bluetooth.service >/dev/null || true; done; }
    state_of() { systemctl --root=/ is-enabled "$1" 2>/dev/null || true; }
    bluez
    [ "$(state_of bluetooth.service)" = enabled ] || fail "the stand-in for bluez is not enabled"
    dpkg -i /check/this.deb >/check/log 2>&1 || { cat /check/log; fail "install"; }
    bluez
    for name in bluetooth.service dbus-org.bluez.service; do
        [ "$(state_of $name)" = masked ] || fail "$name is $(state_of $name), where bluez is"
    done
    rm $bluetooth
    dpkg -i /check/this.deb >/check/log 2>&1 || { cat /check/log; fail "install once more"; }
    [ "$(state_of bluetooth.service)" = enabled ] || fail "who lifts the mask is overruled"
    dpkg -P bitgate >/check/log 2>&1 || { cat /check/log; fail "purge"; }
    ln -s /dev/null $bluetooth
    dpkg -i /check/this.deb >/check/log 2>&1 || { cat /check/log; fail "install beside a mask"; }
    dpkg -P bitgate >/check/log 2>&1 || { cat /check/log; fail "purge beside a mask"; }
    [ "$(state_of bluetooth.service)" = masked ] || fail "a mask that was not ours is gone"
    say "the Bluetooth service cannot be started while the package is there, and what others set stays"
'

package_check() {
    local deb=$1 work box status=0
    debian_toolchain amd64
    check_make_system "$deb"
    work=$(mktemp -d)
    box=$toolchain/build/check
    as_root rm -rf --one-file-system "$box"
    dpkg-deb -R "$deb" "$work/lower"
    sed -i 's/^Version: .*/Version: 0.0.1/' "$work/lower/DEBIAN/control"
    dpkg-deb --root-owner-group -b "$work/lower" "$work/lower.deb" >/dev/null
    cp "$deb" "$work/this.deb"
    as_root mkdir -p "$box"
    as_root tar -x -C "$box" <"$clean"
    say "check: $(basename "$deb")"
    tar -c -C "$work" lower.deb this.deb | in_debian "$box" bash -euc "$check_inside" || status=$?
    as_root rm -rf --one-file-system "$box"
    rm -rf "$work"
    [ "$status" -eq 0 ] || die 1 "the package failed its check"
    say "check: passed"
}
