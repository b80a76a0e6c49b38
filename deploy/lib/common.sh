# shellcheck shell=bash
# Shared by the scripts in deploy/; sourced with the repository's root as working directory.

say() { printf '%s\n' "$*"; }

# die STATUS WORDS…: says why and what would help, and ends.
die() {
    local status=$1
    shift
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit "$status"
}

# Puts a Swift toolchain on the PATH if one is in a usual place.
find_swift() {
    local folder
    command -v swift >/dev/null && return 0
    for folder in /opt/swift/usr/bin /usr/libexec/swift/bin; do
        if [ -x "$folder/swift" ]; then
            PATH="$folder:$PATH"
            return 0
        fi
    done
    return 1
}

# from_caller PATH: the path as whoever called the script meant it, who may stand elsewhere.
from_caller() {
    case "$1" in
        /*) printf '%s' "$1" ;;
        *) printf '%s' "$OLDPWD/$1" ;;
    esac
}

if [ -n "${BITGATE_VENV:-}" ]; then
    BITGATE_VENV=$(from_caller "$BITGATE_VENV")
    export BITGATE_VENV
fi
relay_environment() { printf '%s' "${BITGATE_VENV:-$PWD/.venv}"; }

relay_environment_works() {
    "$(relay_environment)/bin/python" -c 'import nostr_sdk, nostr_relay' >/dev/null 2>&1
}

relay_versions() {
    "$(relay_environment)/bin/python" - <<'PYTHON'
from importlib.metadata import version
print(", ".join(name + " " + version(name) for name in ("nostr-sdk", "nostr-relay")))
PYTHON
}

phones_work() {
    "$(relay_environment)/bin/python" -c 'import bleak, bumble, cryptography' >/dev/null 2>&1
}

# Prints the comment block at the head of the calling script.
usage() { sed -n '2,/^\($\|[^#]\)/{/^#/{s/^# \{0,1\}//;p;};}' "$0"; }
