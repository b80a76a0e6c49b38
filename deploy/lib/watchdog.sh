# shellcheck shell=bash
# watchdog.sh STAGE KEEP [again]: makes the stage's folder, waits until its input ends, then clears the stage. With
# "again" the folder is there already. See stage.sh.
stage=$1 keep=$2
trap '' HUP INT TERM
[ "${3:-}" = again ] || mkdir -m 700 "$stage" || exit 1
cat >/dev/null

members() { grep -lszx "BITGATE_STAGE=$stage" /proc/[0-9]*/environ 2>/dev/null | grep -o '[0-9]\+' || true; }

# Gently first: gateways and people say goodbye.
members | xargs -r kill -TERM 2>/dev/null
for _ in $(seq 20); do
    [ -n "$(members)" ] || break
    sleep 0.1
done
while [ -n "$(members)" ]; do
    members | xargs -r kill -KILL 2>/dev/null
    sleep 0.05
done
if [ "$keep" = yes ]; then
    rm -rf "$stage"/{state-*,room-*,*.socket,*.in,bitgate,bitgate-relay-*}
else
    rm -rf "$stage"
fi
