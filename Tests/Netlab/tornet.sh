#!/usr/bin/env bash
# A whole Tor network on this machine's loopback interface: three directory authorities, which relay as well, two exits,
# one onion service and one client. Nothing leaves the machine.
#
#   tornet.sh run   DIR [OPTIONS]     start, print the addresses, stop when standard input ends, and remove DIR
#   tornet.sh start DIR [OPTIONS]     start and return; what fails to start is left for inspection
#   tornet.sh stop  DIR
#   tornet.sh status DIR              every process, the client's bootstrap phase, the addresses
#   tornet.sh node  DIR NAME start|stop|kill|pause|resume|reset
#   tornet.sh ctl   DIR COMMAND…      asks the client's control port
#
# Options of run and start:
#   --onion VPORT:PORT   the onion service hands VPORT on to PORT of this machine; may be repeated
#   --client-line LINE   a line for the client's configuration; may be repeated
#   --base PORT          the first of 25 ports (default: a block that is free)
#   --timeout SECONDS    until everything is reachable (default 180)
#
# Nodes: a1 a2 a3 (authorities), e1 e2 (exits), hs (onion service), c1 (client), names (the exits' resolver). Exits know
# relay.test and all names below it as this machine. "reset" makes a stopped client forget what it knows of the network.
# Needs tor and tor-gencert (Debian's package tor) and python3; no root, and no tor service.
set -euo pipefail
umask 077

here=$(cd "$(dirname "$0")" && pwd)
tor=$(command -v tor || echo /usr/sbin/tor)
authorities=(a1 a2 a3)
exits=(e1 e2)
loopback=127.0.0.1
ports_needed=25
# Authorities vote every so many seconds. An onion service's time period is 24 votes long, so this is no smaller.
first_interval=10 interval=60

say() { printf '%s\n' "tornet: $*" >&2; }
die() {
    say "$@"
    exit 1
}
usage() { sed -n '2,/^[^#]/{/^#/{s/^# \{0,1\}//p;};}' "$0"; }
milliseconds() { date +%s%3N; }

# --- Processes

marker() { if [ "$1" = names ]; then echo "$dir/names/hosts"; else echo "$dir/$1/torrc"; fi; }

# The process of a node, if it still is that: numbers are used again.
process() {
    local pid
    pid=$(cat "$dir/$1/pid" 2>/dev/null) || return 1
    [ -n "$pid" ] && tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline" | grep -qxF "$(marker "$1")" || return 1
    echo "$pid"
}

# Whoever called this script waits for descriptors of its own to be closed, which a node would keep open.
launch() {
    local node=$1
    shift
    (
        for descriptor in /proc/self/fd/*; do
            descriptor=${descriptor##*/}
            if [ "$descriptor" -gt 2 ]; then eval "exec $descriptor>&-"; fi
        done
        exec setsid "$@"
    ) >>"$dir/$node/output" 2>&1 </dev/null &
    echo $! >"$dir/$node/pid"
}

start_node() {
    if process "$1" >/dev/null; then return; fi
    if [ "$1" = names ]; then
        launch names python3 "$here/resolver.py" "$loopback" "$names_port" "$dir/names/hosts"
    else
        launch "$1" "$tor" -f "$dir/$1/torrc" --defaults-torrc "$dir/empty" --hush
    fi
}

# end_node NAME SIGNAL: and if that does not end it within five seconds, SIGKILL does.
end_node() {
    local pid
    if pid=$(process "$1"); then
        kill "-$2" "$pid" 2>/dev/null || true
        for _ in $(seq 50); do
            process "$1" >/dev/null || break
            sleep 0.1
        done
        if process "$1" >/dev/null; then kill -KILL "$pid" 2>/dev/null || true; fi
    fi
    rm -f "$dir/$1/pid"
}

nodes() {
    local node
    for node in c1 hs "${exits[@]}" "${authorities[@]}" names; do
        if [ -d "$dir/$node" ]; then echo "$node"; fi
    done
}

stop_all() {
    local node pid
    for node in $(nodes); do
        if pid=$(process "$node"); then
            kill -CONT "$pid" 2>/dev/null || true
            kill -TERM "$pid" 2>/dev/null || true
        fi
    done
    for node in $(nodes); do end_node "$node" TERM; done
}

# --- Control port

# ask NODE COMMAND…: the replies without their closing "250 OK".
ask() {
    local port=$control_port cookie command
    if [ "$1" = hs ]; then port=$service_control_port; fi
    cookie=$(od -An -v -tx1 "$dir/$1/cookie" 2>/dev/null | tr -d ' \n')
    shift
    [ -n "$cookie" ] || return 1
    { exec 9<>"/dev/tcp/$loopback/$port"; } 2>/dev/null || return 1
    printf 'AUTHENTICATE %s\r\n' "$cookie" >&9
    for command in "$@"; do printf '%s\r\n' "$command" >&9; done
    printf 'QUIT\r\n' >&9
    timeout 5 cat <&9 | tr -d '\r' | grep -vx -e '250 OK' -e '250 closing connection' || true
    exec 9>&-
}
phase() { ask "$1" 'GETINFO status/bootstrap-phase' 2>/dev/null | sed -n 's/^250-status\/bootstrap-phase=//p'; }
is_bootstrapped() { [[ "$(phase "$1")" == *PROGRESS=100* ]]; }

# --- Configuration

set_ports() {
    socks_port=$base control_port=$((base + 1)) names_port=$((base + 2)) service_control_port=$((base + 3))
}
relay_port() {
    local index=0 node
    for node in "${authorities[@]}" "${exits[@]}"; do
        if [ "$node" = "$1" ]; then break; fi
        index=$((index + 1))
    done
    echo $((base + 10 + index))
}
directory_port() { echo $(($(relay_port "$1") + 10)); }

# A block of ports nobody listens on, below those the kernel gives to whoever asks for any.
find_base() {
    local candidate
    for _ in $(seq 100); do
        candidate=$((20000 + RANDOM % 380 * 32))
        if cat /proc/net/tcp /proc/net/udp | awk -v from="$candidate" -v count="$ports_needed" '
            { split($2, local, ":"); port = 0
              for (i = 1; i <= 4; i++) port = port * 16 + index("123456789ABCDEF", substr(local[2], i, 1))
              if (port >= from && port < from + count) taken = 1 }
            END { exit taken }'; then
            echo "$candidate"
            return
        fi
    done
    die "no free block of $ports_needed ports"
}

configure_node() {
    cat <<EOF
TestingTorNetwork 1
DataDirectory $dir/$1
Nickname $1
Log notice file $dir/$1/log
SafeLogging 0
AddressDisableIPv6 1
# A socket bound to loopback reaches nothing else, so a mistaken request ends here.
OutboundBindAddress $loopback
AvoidDiskWrites 1
ShutdownWaitLength 0
# Five relays are too few for circuits with two legs and for pinned middle nodes.
ConfluxEnabled 0
VanguardsLiteEnabled 0
V3AuthVotingInterval $interval
V3AuthVoteDelay 2
V3AuthDistDelay 2
EOF
    if [ -f "$dir/authorities" ]; then cat "$dir/authorities"; fi
}
configure_relay() {
    cat <<EOF
Address $loopback
ORPort $loopback:$(relay_port "$1")
AssumeReachable 1
SocksPort 0
EOF
}
configure_authority() {
    local all_authorities all_exits
    all_authorities=$(IFS=, && echo "${authorities[*]}")
    all_exits=$(IFS=, && echo "${exits[*]}")
    cat <<EOF
DirPort $loopback:$(directory_port "$1")
AuthoritativeDirectory 1
V3AuthoritativeDirectory 1
ContactInfo tornet
TestingV3AuthInitialVotingInterval $first_interval
TestingV3AuthInitialVoteDelay 2
TestingV3AuthInitialDistDelay 2
TestingDirAuthVoteHSDir $all_authorities
TestingDirAuthVoteGuard $all_authorities
TestingDirAuthVoteExit $all_exits
TestingDirAuthVoteExitIsStrict 1
ExitRelay 0
EOF
}
configure_exit() {
    cat <<EOF
ExitRelay 1
# Asked for the directory before it has one itself, an exit would make clients wait ten seconds and more.
DirCache 0
RefuseUnknownExits 0
ExitPolicyRejectPrivate 0
ExitPolicy accept *:*
ServerDNSResolvConfFile $dir/resolv.conf
ServerDNSDetectHijacking 0
ServerDNSSearchDomains 0
ServerDNSAllowNonRFC953Hostnames 1
EOF
}
configure_control() {
    cat <<EOF
ControlPort $loopback:$2
CookieAuthentication 1
CookieAuthFile $dir/$1/cookie
# What a client learns about build times here are milliseconds, which a busy machine misses.
LearnCircuitBuildTimeout 0
CircuitBuildTimeout 20
EOF
}

# Prints the line by which all nodes know an authority.
introduce() {
    local fingerprint identity
    # tor wants some authority before it prints its own fingerprint.
    {
        cat "$dir/$1/torrc"
        echo "DirAuthority x orport=1 v3ident=$(printf '%040d' 1) $loopback:1 $(printf '%040d' 1)"
    } >"$dir/$1/torrc.first"
    fingerprint=$("$tor" -f "$dir/$1/torrc.first" --defaults-torrc "$dir/empty" --quiet --list-fingerprint |
        cut -d ' ' -f 2- | tr -d ' ')
    identity=$(sed -n 's/^fingerprint //p' "$dir/$1/keys/authority_certificate")
    rm "$dir/$1/torrc.first"
    [[ ${#fingerprint} = 40 && ${#identity} = 40 ]] || die "no identity for $1, see $dir/$1"
    echo "DirAuthority $1 orport=$(relay_port "$1") v3ident=$identity $loopback:$(directory_port "$1") $fingerprint"
}

configure() {
    local node target
    mkdir -p "$dir/names"
    : >"$dir/empty"
    echo "nameserver $loopback:$names_port" >"$dir/resolv.conf"
    echo "$loopback relay.test *.relay.test" >"$dir/names/hosts"
    for node in "${authorities[@]}"; do
        mkdir -p "$dir/$node/keys"
        echo tornet | tor-gencert --create-identity-key --passphrase-fd 0 -m 12 \
            -a "$loopback:$(directory_port "$node")" -i "$dir/$node/keys/authority_identity_key" \
            -s "$dir/$node/keys/authority_signing_key" -c "$dir/$node/keys/authority_certificate" \
            >"$dir/$node/gencert" 2>&1 &
    done
    wait
    for node in "${authorities[@]}"; do { configure_node "$node" && configure_relay "$node"; } >"$dir/$node/torrc"; done
    for node in "${authorities[@]}"; do introduce "$node"; done >"$dir/authorities.new"
    mv "$dir/authorities.new" "$dir/authorities"
    for node in "${authorities[@]}"; do
        { configure_node "$node" && configure_relay "$node" && configure_authority "$node"; } >"$dir/$node/torrc"
    done
    for node in "${exits[@]}"; do
        mkdir -p "$dir/$node"
        { configure_node "$node" && configure_relay "$node" && configure_exit; } >"$dir/$node/torrc"
    done
    if [ ${#onions[@]} -gt 0 ]; then
        mkdir -p "$dir/hs/onion"
        {
            configure_node hs && configure_control hs "$service_control_port"
            echo "SocksPort 0"
            echo "HiddenServiceDir $dir/hs/onion"
            for target in "${onions[@]}"; do echo "HiddenServicePort ${target%%:*} $loopback:${target##*:}"; done
        } >"$dir/hs/torrc"
    fi
    mkdir -p "$dir/c1"
    {
        configure_node c1 && configure_control c1 "$control_port"
        echo "ControlSocket $dir/c1/control"
        echo "SocksPort $loopback:$socks_port IsolateSOCKSAuth ExtendedErrors"
        # Circuits that nothing can be built on are given up soon, so that tests need not wait two minutes.
        echo "SocksTimeout 15"
        if [ ${#client_lines[@]} -gt 0 ]; then printf '%s\n' "${client_lines[@]}"; fi
    } >"$dir/c1/torrc"
    for node in "${authorities[@]}" "${exits[@]}" hs c1; do
        [ -d "$dir/$node" ] || continue
        "$tor" -f "$dir/$node/torrc" --defaults-torrc "$dir/empty" --verify-config --hush >"$dir/$node/verify" 2>&1 ||
            die "bad configuration for $node: $(tail -n 3 "$dir/$node/verify")"
    done
}

# --- Waiting

all_alive() {
    local node
    for node in $(nodes); do
        if [ -f "$dir/$node/pid" ] && ! kill -0 "$(cat "$dir/$node/pid")" 2>/dev/null; then
            say "$node ended by itself: $(tail -n 4 "$dir/$node/output")"
            return 1
        fi
    done
}

# wait_for WHAT COMMAND…
wait_for() {
    local what=$1
    shift
    until "$@"; do
        all_alive || return 1
        if [ "$(milliseconds)" -gt "$deadline" ]; then
            say "gave up waiting for $what"
            return 1
        fi
        sleep 0.2
    done
    say "$what after $((($(milliseconds) - began) / 100)) tenths of a second"
}

# Whether every authority knows all relays as running, the exits as exits, and has a descriptor of each.
has_consensus() {
    local node consensus all=$((${#authorities[@]} + ${#exits[@]}))
    for node in "${authorities[@]}"; do
        consensus="$dir/$node/cached-microdesc-consensus"
        [ -f "$consensus" ] || return 1
        [ "$(grep -c '^s .* Running' "$consensus")" = $all ] || return 1
        [ "$(grep -c '^s .*Exit .*Running' "$consensus")" = ${#exits[@]} ] || return 1
        [ "$(cat "$dir/$node"/cached-microdescs* 2>/dev/null | grep -ac '^onion-key')" -ge $all ] || return 1
    done
}
onion() { cat "$dir/hs/onion/hostname"; }
# A port the service does not offer: the refusal comes from the service, whatever listens behind it.
onion_answers() { python3 "$here/reach.py" "$loopback:$socks_port" "$(onion)" 9; }

# --- Commands

addresses() {
    echo "SOCKS=$loopback:$socks_port"
    echo "CONTROL=$loopback:$control_port"
    echo "CONTROL_SOCKET=$dir/c1/control"
    echo "COOKIE=$dir/c1/cookie"
    if [ -f "$dir/hs/onion/hostname" ]; then echo "ONION=$(onion)"; fi
}

start() {
    local timeout=180 node
    base='' onions=() client_lines=()
    while [ $# -gt 0 ]; do
        [ $# -gt 1 ] || die "$1 needs a value"
        case $1 in
            --base) base=$2 ;;
            --onion) onions+=("$2") ;;
            --client-line) client_lines+=("$2") ;;
            --timeout) timeout=$2 ;;
            *) die "unknown option $1" ;;
        esac
        shift 2
    done
    { [ -x "$tor" ] && command -v tor-gencert >/dev/null; } || die "tor is not installed: apt-get install tor"
    base=${base:-$(find_base)}
    set_ports
    began=$(milliseconds)
    deadline=$((began + timeout * 1000))
    echo "base=$base" >"$dir/settings"
    configure
    # Authorities vote by the clock, at every tenth second. Relays started just after one have time to introduce
    # themselves before the next; later ones would miss it and cost a whole voting interval.
    while [ $(($(milliseconds) % (first_interval * 1000))) -gt 1500 ]; do sleep 0.1; done
    for node in names "${authorities[@]}" "${exits[@]}"; do start_node "$node"; done
    wait_for "consensus" has_consensus || return 1
    if [ -d "$dir/hs" ]; then start_node hs; fi
    start_node c1
    wait_for "client up" is_bootstrapped c1 || return 1
    if [ -d "$dir/hs" ]; then
        wait_for "onion service up" is_bootstrapped hs || return 1
        wait_for "onion service reached" onion_answers || return 1
    fi
    addresses
}

status() {
    local node pid
    for node in $(nodes); do
        if pid=$(process "$node"); then
            echo "$node: process $pid, $(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status") KiB"
        else
            echo "$node: down"
        fi
    done
    echo "client: $(phase c1 || true)"
    addresses
}

node() {
    local pid
    [ -d "$dir/$1" ] || die "no node $1"
    case $2 in
        start) start_node "$1" ;;
        stop) end_node "$1" TERM ;;
        kill) end_node "$1" KILL ;;
        pause) if pid=$(process "$1"); then kill -STOP "$pid"; fi ;;
        resume) if pid=$(process "$1"); then kill -CONT "$pid"; fi ;;
        reset)
            if process "$1" >/dev/null; then die "$1 is running"; fi
            rm -f "$dir/$1"/cached-* "$dir/$1/state" "$dir/$1"/unverified-*
            ;;
        *) die "node: start, stop, kill, pause, resume or reset" ;;
    esac
}

[ $# -ge 2 ] || {
    usage
    exit 2
}
command=$1 dir=$2
shift 2
case $command in start | run) mkdir -p "$dir" ;; esac
dir=$(cd "$dir" 2>/dev/null && pwd) || die "no directory $dir"
case $command in
    start) start "$@" ;;
    run)
        trap 'stop_all; rm -rf "$dir"' EXIT
        trap 'exit 143' TERM INT HUP
        start "$@" || exit 1
        echo "READY"
        cat >/dev/null
        ;;
    status | stop | node | ctl)
        [ -f "$dir/settings" ] || die "no network in $dir"
        # shellcheck disable=SC1091
        . "$dir/settings"
        set_ports
        case $command in
            status) status ;;
            stop) stop_all ;;
            node) node "$@" ;;
            ctl) ask c1 "$@" ;;
        esac
        ;;
    *) die "unknown command $command" ;;
esac
