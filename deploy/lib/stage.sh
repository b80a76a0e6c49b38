# shellcheck shell=bash
# shellcheck disable=SC2154 # deploy/demo sets the rest of these variables
# The demo's stage: a folder for everything it makes, the processes it starts, and their end, however the demo ends.
# Sourced by deploy/demo.

# Opens the stage: $stage is its folder. A watchdog in a session of its own waits for this script to be gone, be it by
# SIGKILL: the pipe to it closes then. It ends every process that carries the stage's name in its environment, those
# started in the last moment included, and removes the folder, which it made itself.
stage_open() {
    local folder
    folder=$(cd "$(from_caller "${TMPDIR:-/tmp}")" 2>/dev/null && pwd) || die 1 "TMPDIR is no folder: ${TMPDIR:-}"
    # What stands below it are sockets, whose paths have at most 107 bytes.
    [ "${#folder}" -le 60 ] || die 1 "the path of $folder is too long for sockets: set TMPDIR to a shorter one"
    stage=$(mktemp -u "$folder/bitgate-demo-XXXXXX")
    exec {lifeline}> >(exec setsid bash deploy/lib/watchdog.sh "$stage" "$keep")
    watchdog=$!
    export BITGATE_STAGE=$stage
    trap stage_close EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    trap 'exit 129' HUP
    until [ -d "$stage" ]; do
        kill -0 "$watchdog" 2>/dev/null ||
            die 1 "no folder can be made in $folder: set TMPDIR to one that can be written to"
        sleep 0.02
    done
    crew[watchdog]=$watchdog
}

stage_close() {
    local status=$?
    trap - EXIT
    trap '' INT TERM HUP
    exec {lifeline}>&-
    wait "$watchdog" 2>/dev/null || true
    # Should the watchdog itself have been killed.
    if [ -e "$stage/relay.out" ] && [ "$keep" = no ]; then
        env -u BITGATE_STAGE bash deploy/lib/watchdog.sh "$stage" "$keep" again </dev/null || true
    fi
    if [ "$keep" = yes ]; then say "logs: $stage"; fi
    exit "$status"
}

# What was started, by name: none of it ends before the demo does.
declare -A crew

# background NAME COMMAND…: its output goes to $stage/NAME.out and .err.
background() {
    local name=$1
    shift
    "$@" {lifeline}>&- >"$stage/$name.out" 2>"$stage/$name.err" </dev/null &
    crew[$name]=$!
}

declare -A inputs

# person NAME ROOM: somebody with a console in that room; enter gives the lines.
person() {
    local name=$1 room=$2 input
    mkfifo "$stage/$name.in"
    # Opened both ways, which waits for nobody: a shell that waits for a reader could not be told to go.
    exec {input}<>"$stage/$name.in"
    inputs[$name]=$input
    "$bin/bitgate" chat --room "$stage/room-$room" --name "$name" --bridge on \
        {lifeline}>&- <"$stage/$name.in" >"$stage/$name.out" 2>"$stage/$name.err" &
    crew[$name]=$!
}

enter() { printf '%s\n' "$2" >&"${inputs[$1]}"; }

# until_true COMMAND: tries for 90 seconds, as on a busy machine, as long as everything that was started runs.
until_true() {
    local end=$((SECONDS + 90))
    until eval "$1"; do
        check_crew
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.1
    done
}

check_crew() {
    local name status=0
    for name in "${!crew[@]}"; do
        kill -0 "${crew[$name]}" 2>/dev/null && continue
        wait "${crew[$name]}" || status=$?
        fail "$name ended by itself, with status $status"
    done
}

# literal TEXT: a pattern that matches just this text.
literal() { printf '%s' "$1" | sed 's/[][\.*^$?+(){}|]/\\&/g'; }

# wait_for NAME PATTERN: until a line of NAME's output matches.
wait_for() { until_true "grep -Eq -- $(printf '%q' "$2") $(printf '%q' "$stage/$1.out") 2>/dev/null"; }

gate_is_connected() {
    "$bin/bitgate" status --json --socket "$stage/$1.socket" 2>/dev/null | grep -q '"state":"connected"'
}

# fail WORDS…: says what did not work and what the programs complained of, and ends.
fail() {
    local file
    say "failed: $*" >&2
    for file in "$stage"/*.err; do
        if [ -s "$file" ]; then
            say "--- ${file##*/}" >&2
            tail -n 20 "$file" >&2
        fi
    done
    exit 1
}

# expect NAME COUNT PATTERN: so many lines of NAME's output match.
expect() {
    local found
    found=$(grep -Ec -- "$3" "$stage/$1.out") || true
    [ "$found" = "$2" ] || fail "$1 has $found instead of $2 lines like: $3"
}

# Every line: heard by radio in its own room and over the bridge in the other, once each.
verify() {
    local line speaker words name
    for line in "${lines[@]}"; do
        speaker=${line%%:*}
        words=$(literal "${line#*:}")
        for name in alice adam bella bruno; do
            if [ "$name" = "$speaker" ]; then
                expect "$name" 0 "$words$"
            elif [ "${name:0:1}" = "${speaker:0:1}" ]; then
                expect "$name" 1 "^<$speaker> $words$"
                expect "$name" 1 "$words$"
            else
                expect "$name" 1 "^\\[bridge\\] <$speaker#[0-9a-f]{4}> $words$"
                expect "$name" 1 "$words$"
            fi
        done
    done
    words=$(literal "$channel_line")
    expect listen 1 "\"kind\":20000.*$words"
    expect adam 1 "$words$"
    expect bella 0 "$words$"
}

# transcript ROOM: the conversation as the second person of the room saw it.
transcript() {
    local witness=adam line
    if [ "$1" = b ]; then witness=bruno; fi
    printf '%s\n' "" "room ${1^^}, as $witness saw it:"
    for line in "${lines[@]}" "alice:$channel_line"; do
        if [ "${line%%:*}" = "$witness" ]; then
            printf '  <%s> %s\n' "$witness" "${line#*:}"
        else
            grep -E "> $(literal "${line#*:}")$" "$stage/$witness.out" | sed 's/^/  /' || true
        fi
    done
}

# Lets somebody in room B repeat what was said in room A, so that whoever types there sees it arrive.
answer_from_room_b() {
    local line
    tail -n 0 -f "$stage/bruno.out" | while IFS= read -r line; do
        case "$line" in
            "[bridge] <alice#"* | "[bridge] <adam#"*) ;;
            "[bridge] <"*"> "*) enter bruno "room B heard: ${line#*> }" ;;
        esac
    done
}
