# shellcheck shell=bash
# shellcheck disable=SC2034 # whoever sources it uses what it sets
# shellcheck disable=SC2154 # and sets $image, $machine, $limit and $keep
# A box in QEMU, as its owner sees it: a card, files dropped on its boot partition, ssh on a loopback port, and a plug that
# can be pulled. Sourced by image/boot-test and image/update-test after common.sh and debian.sh, with the repository's root
# as working directory and these set: $image, $machine (virt or raspi3b), $limit (seconds), $keep (a folder, or empty).

# shellcheck disable=SC2012 # our own names
[ -n "$image" ] || image=$(ls -t .build/image/*.img.zst 2>/dev/null | head -n 1)
[ -f "$image" ] || die 1 "there is no image: run image/build"
PATH=$PATH:/usr/sbin
debian_needs qemu-system-aarch64=qemu-system-arm mcopy=mtools sfdisk=fdisk debugfs=e2fsprogs zstd=zstd ssh=openssh-client

work=${keep:-$(mktemp -d)}
mkdir -p "$work"
qemu=''
# shellcheck disable=SC2317 # the trap calls it
finish() {
    [ -z "$qemu" ] || kill -KILL "$qemu" 2>/dev/null || true
    [ -n "$keep" ] || rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM
passed=0 failed=0
ok() { passed=$((passed + 1)); say "ok      $*"; }
bad() { failed=$((failed + 1)); say "FAILED  $*"; }
end() {
    say "$passed passed, $failed failed"
    [ "$failed" -eq 0 ] || exit 1
    exit 0
}

# The card is larger than the image; one of QEMU's has a power of two.
zstd -q -d -f --sparse "$image" -o "$work/card.img"
truncate -s 2G "$work/card.img"
mapfile -t starts < <(sfdisk --dump "$work/card.img" | sed -n 's/.*start= *\([0-9]*\).*/\1/p')
fat=$work/card.img@@$((starts[0] * 512))
root_partition="$work/card.img?offset=$((starts[1] * 512))" data_partition="$work/card.img?offset=$((starts[2] * 512))"
export MTOOLS_SKIP_CHECK=1
ssh-keygen -q -t ed25519 -N '' -C owner -f "$work/key" <<<y >/dev/null

slot() { mtype -i "$fat" ::config.txt | tr -d '\r' | sed -n 's#^os_prefix=\(.*\)/$#\1#p'; }
port=$((20000 + $$ % 20000))
# What QEMU's network has besides the port for ssh.
network=''
# boot LOG [ARGUMENTS]: starts the machine, with more arguments for its kernel.
boot() {
    local log=$1 half file arguments cmdline
    half=$(slot)
    for file in vmlinuz initrd.img bcm2837-rpi-3-b.dtb; do
        mcopy -n -o -i "$fat" "::$half/$file" "$work/$file" || {
            bad "the boot partition has no $file in the half in use, '$half'"
            end
        }
    done
    cmdline=$(mtype -i "$fat" "::$half/cmdline.txt" | tr -d '\r\n')
    case $machine in
        virt)
            # A processor that is played needs no protection from guessing, which costs it half its speed. On a busy
            # computer it may be too slow for the watchdog.
            # shellcheck disable=SC2054 # the commas are QEMU's
            arguments=(
                -M virt -cpu cortex-a72 -smp 2 -m 512
                -append "${cmdline/ttyS1,115200/ttyAMA0} mitigations=off nokaslr ${2:-}"
                -drive "file=$work/card.img,if=none,id=card,format=raw,cache=writeback" -device virtio-blk-pci,drive=card
                -device virtio-net-pci,netdev=net,romfile= -device virtio-rng-pci -device i6300esb -action watchdog=none
                -serial "file:$log"
            ) ;;
        raspi3b)
            # QEMU's BCM2835 watchdog resets the machine as soon as it is armed.
            # shellcheck disable=SC2054 # the commas are QEMU's
            arguments=(
                -M raspi3b -dtb "$work/bcm2837-rpi-3-b.dtb" -append "$cmdline systemd.watchdog_sec=0 ${2:-}"
                -drive "file=$work/card.img,if=sd,format=raw,cache=writeback" -device usb-net,netdev=net
                -serial null -serial "file:$log"
            ) ;;
    esac
    qemu-system-aarch64 "${arguments[@]}" -kernel "$work/vmlinuz" -initrd "$work/initrd.img" -display none \
        -monitor none -no-reboot -netdev "user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:$port-:22$network" \
        </dev/null >"$work/qemu.log" 2>&1 &
    qemu=$!
    booted=$SECONDS
}
# What a start that is only asked after a cut does not need, and is slow to start.
lean="systemd.mask=tor.service systemd.mask=tor@default.service systemd.mask=iwd.service systemd.mask=systemd-timesyncd.service"
remote() {
    timeout "${patience:-120}" ssh -n -q -i "$work/key" -p "$port" -o IdentitiesOnly=yes -o BatchMode=yes -o ConnectTimeout=10 \
        -o StrictHostKeyChecking=accept-new -o UserKnownHostsFile="$work/known_hosts" root@127.0.0.1 "$@"
}
# send COMMAND: the same, with this standard input.
send() {
    timeout "${patience:-120}" ssh -q -i "$work/key" -p "$port" -o IdentitiesOnly=yes -o BatchMode=yes \
        -o UserKnownHostsFile="$work/known_hosts" root@127.0.0.1 "$@"
}
# Until bitgate status answers.
wait_up() {
    until remote bitgate status --json >"$work/status" 2>/dev/null; do
        if ! kill -0 "$qemu" 2>/dev/null; then
            say "the machine ended: $(tail -n 3 "$work/qemu.log")"
            return 1
        fi
        [ $((SECONDS - booted)) -lt "$limit" ] || return 1
        sleep 1
    done
    took=$((SECONDS - booted))
    identity=$(grep -o '"peer":"[0-9a-f]*"' "$work/status" | head -n 1)
    [ -n "$identity" ]
}
# check NAME COMMAND: runs it on the box.
check() {
    local name=$1
    shift
    if remote "$@" >"$work/out" 2>&1; then
        ok "$name: $(tr '\n' ' ' <"$work/out" | cut -c1-160)"
    else
        bad "$name: $(tr '\n' ' ' <"$work/out" | cut -c1-600)"
    fi
}
# wait_down SECONDS: until the machine has switched itself off, or ended to start anew.
wait_down() {
    local n=0
    while kill -0 "$qemu" 2>/dev/null; do
        n=$((n + 1))
        [ $n -lt $((2 * $1)) ] || return 1
        sleep 0.5
    done
    wait "$qemu" || true
    qemu=''
}
cut_power() {
    kill -KILL "$qemu" 2>/dev/null || say "the machine had ended by itself: $(tail -n 3 "$work/qemu.log")"
    wait "$qemu" 2>/dev/null || true
    qemu=''
}
