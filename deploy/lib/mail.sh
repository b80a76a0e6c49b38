# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # deploy/demo and stage.sh set and read the rest of these variables
# The mail demo: a letter for an absent person. Sourced by deploy/demo.
#
# One folder of virtual air holds both rooms; its range file says who hears whom, so that people can walk.

declare -A room_of

# moves NAME ROOM: into that room, or on the road, where nobody hears anybody.
moves() {
    local one other
    room_of[$1]=$2
    for one in "${!room_of[@]}"; do
        for other in "${!room_of[@]}"; do
            if [[ $one < $other && ${room_of[$one]} = "${room_of[$other]}" && ${room_of[$one]} != road ]]; then
                printf '%s %s\n' "$one" "$other"
            fi
        done
    done >"$stage/range.new"
    mv "$stage/range.new" "$stage/air/range"
}

# gate ROOM RELAYS: the gateway of a room, with these relays.
gate() {
    cat >"$stage/$1.toml" <<TOML
nickname = "gate-$1"
state_directory = "$stage/state-$1"
control_socket = "$stage/$1.socket"
[radio]
kind = "air"
[air]
room = "$stage/air"
name = "gate-$1"
[nostr]
relays = [$2]
use_builtin_relays = false
[network]
tor = "off"
[clock]
trust_system = true
TOML
    background "gate-$1" "$bin/bitgated" --config "$stage/$1.toml"
    until_true "mail_of $1 >/dev/null" || fail "the gateway of room ${1^^} does not answer"
}

# ends NAME SIGNAL: what was started under this name, by that signal.
ends() {
    local pid=${crew[$1]}
    unset "crew[$1]"
    kill "-$2" "$pid"
    wait "$pid" 2>/dev/null || true
}

# walker NAME: somebody with a console and a memory, wherever they stand.
walker() {
    local input
    [ -p "$stage/$1.in" ] || mkfifo "$stage/$1.in"
    exec {input}<>"$stage/$1.in"
    inputs[$1]=$input
    "$bin/bitgate" chat --room "$stage/air" --name "$1" --state "$stage/state-$1" \
        {lifeline}>&- <"$stage/$1.in" >>"$stage/$1.out" 2>>"$stage/$1.err" &
    crew[$1]=$!
}

leaves() {
    local pid=${crew[$1]}
    unset "crew[$1]"
    enter "$1" /quit
    wait "$pid" || fail "$1 did not leave well"
}

mail_of() { "$bin/bitgate" mail --json --socket "$stage/$1.socket" 2>/dev/null; }
# mail_shows ROOM PATTERN: its mail report has this in it.
mail_shows() { mail_of "$1" | grep -qE -- "$2"; }

play_mail() {
    local words="the key is under the blue stone" url letter
    mkdir "$stage/air"
    : >"$stage/air/range"
    url="\"$relay\""

    say "room A: alice and bob, and a gateway whose line to the internet is down. Room B: a gateway ..."
    moves gate-a a
    moves gate-b b
    moves alice a
    moves bob a
    gate a ""
    gate b "$url"
    until_true "gate_is_connected b" || fail "the gateway of room B did not reach the relay"
    walker alice
    walker bob
    for pair in alice:bob bob:alice alice:gate-a; do
        wait_for "${pair%:*}" "^\\* ${pair#*:} came$" || fail "${pair%:*} did not meet ${pair#*:}"
    done
    # To be written to later, they have to know each other.
    enter alice "/fav bob"
    enter bob "/fav alice"
    wait_for alice "^\\* bob made you a favourite$" || fail "alice is no favourite of bob's"
    wait_for bob "^\\* alice made you a favourite$" || fail "bob is no favourite of alice's"

    say "bob leaves, and alice writes to him ..."
    leaves bob
    wait_for alice "^\\* bob left$" || fail "alice did not see bob leave"
    enter alice "/msg bob $words"
    wait_for alice "^\\* 1 to bob: carried$" || fail "no peer carries the letter"
    until_true "mail_shows a '\"deposited\":1'" || fail "the gateway of room A did not take the letter"

    say "the gateway of room A is killed, and comes back with its line ..."
    ends gate-a KILL
    gate a "$url"
    wait_for listen '"kind":1401' || fail "the letter did not reach the relay"
    until_true "mail_shows a '\"at_relays\":1'" || fail "the gateway of room A does not know that the relay has a copy"

    say "the gateway of room B is restarted ..."
    ends gate-b TERM
    gate b "$url"
    until_true "gate_is_connected b" || fail "the gateway of room B did not reach the relay again"

    say "bob comes to room B ..."
    moves bob b
    walker bob
    letter="^\\[private\\] <alice> $(literal "$words")$"
    wait_for bob "$letter" || fail "the letter did not reach bob"
    until_true "mail_shows b '\"drop_delivered\":1'" || fail "the gateway of room B did not see the letter arrive"

    say "the gateway of room B is killed, and comes back ..."
    ends gate-b KILL
    gate b "$url"
    until_true "mail_shows b '\"drop_repeated\":[1-9]'" ||
        fail "the relay did not tell the gateway of room B again"

    say "bob walks over to room A ..."
    moves bob a
    wait_for alice "^\\* 1 to bob: read$" || fail "alice was not told that bob has read it"
    until_true "mail_shows a '\"handed_over\":1'" || fail "the gateway of room A still carries the letter"
    # Copies that should not be shown get time to come.
    sleep 3

    expect listen 1 '"kind":1401'
    expect listen 0 "$(literal "$words")"
    expect bob 1 "$letter"
    expect bob 1 "$(literal "$words")"
    expect alice 1 '^\* 1 to bob: delivered$'
    for room in a b; do
        for state in "\"carried\":[1-9]" "\"undelivered\":[1-9]"; do
            if mail_of $room | grep -qE -- "$state"; then fail "room ${room^^} still has letters: $state"; fi
        done
    done
    printf '%s\n' "" "as alice saw it:"
    grep -E '^(\* bob|\* 1 to|1 |\[private|<)' "$stage/alice.out" | sed 's/^/  /'
    printf '%s\n' "as bob saw it:"
    grep -E '^(\[private|\* alice|\* gate)' "$stage/bob.out" | sed 's/^/  /'
    printf '%s\n' "" \
        "checked: the letter survived a killed gateway, lay sealed at the relay, came to bob in the other room once," \
        "and alice knows it"
}
