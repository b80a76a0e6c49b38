#!/bin/busybox sh
# shellcheck shell=dash
# The first process of the guest of deploy/vm. Lays memory over the host's read-only file tree, brings up GPIO chips and
# the air with its controllers, runs the command, reports its status, switches off.
export PATH=/bin

note() { echo "vm: $*" >/dev/kmsg; }
give_up() {
    note "gave up: $*"
    echo "$*" >/control/error
    poweroff -f
    sleep 60
}

mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
while read -r module; do
    insmod "/modules/$module" || note "insmod $module failed"
done </modules/at-boot

shared=trans=virtio,version=9p2000.L,msize=262144
mount -t 9p -o $shared,cache=none control /control || give_up "the control folder did not mount"
# shellcheck source=/dev/null
. /control/settings

mount -t 9p -o $shared,cache=loose,ro tree /tree || give_up "the host's files did not mount"
mount -t tmpfs -o mode=755,size=75% memory /memory
mkdir /memory/upper /memory/work
below=/tree
if [ -n "$LAYERS" ]; then
    # Packages of the guest alone. Nothing of theirs is configured or started.
    mount -t 9p -o $shared,cache=loose,ro layers /layers || give_up "the packages did not mount"
    for layer in $LAYERS; do below=/layers/$layer:$below; done
fi
mount -t overlay -o "lowerdir=$below,upperdir=/memory/upper,workdir=/memory/work" root /root || give_up "no overlay"

mount -t proc proc /root/proc
mount -t sysfs sys /root/sys
mount -t devtmpfs dev /root/dev
mkdir -p /root/dev/pts /root/dev/shm
mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts /root/dev/pts
mount -t tmpfs -o mode=1777 shm /root/dev/shm
mount -t tmpfs -o mode=755 run /root/run
[ -e /root/dev/fd ] || ln -s /proc/self/fd /root/dev/fd
for stream in 0:stdin 1:stdout 2:stderr; do
    [ -e "/root/dev/${stream#*:}" ] || ln -s "fd/${stream%:*}" "/root/dev/${stream#*:}"
done
mkdir -p /root/run/lock /root/run/vm/bin /root/run/vm/control
mount --bind /control /root/run/vm/control
while read -r tag folder; do
    mkdir -p "/root$folder"
    mount -t 9p -o $shared,cache=none,access=any "$tag" "/root$folder" || give_up "$folder did not mount"
done </control/writable
mount -t debugfs debug /root/sys/kernel/debug 2>/dev/null
mount -t cgroup2 cgroup /root/sys/fs/cgroup 2>/dev/null
ip link set lo up
hostname vm

while read -r module arguments; do
    # shellcheck disable=SC2086 # a list of words
    insmod "/modules/$module" $arguments || note "insmod $module failed"
done </control/modules
mkdir -p "/root/lib/modules/$(uname -r)"
mount --bind "/root$MODULE_TREE" "/root/lib/modules/$(uname -r)"
mount -t configfs config /root/sys/kernel/config 2>/dev/null
cp /bin/busybox /root/run/vm/bin/
for name in modprobe insmod rmmod lsmod; do ln -s busybox /root/run/vm/bin/$name; done
ln -s "$AIR" /root/run/vm/bin/vair

: >/root/run/vm/environment
tell() { echo "export $1='$2'" >>/root/run/vm/environment; }

number=0
for lines in $GPIO; do
    chip=/root/sys/kernel/config/gpio-sim/vm$number
    mkdir -p "$chip/bank0" || give_up "there is no gpio-sim"
    echo "$lines" >"$chip/bank0/num_lines"
    echo "vm-gpio$number" >"$chip/bank0/label"
    line=0
    while [ "$line" -lt "$lines" ]; do
        mkdir "$chip/bank0/line$line"
        echo "GPIO$number.$line" >"$chip/bank0/line$line/name"
        line=$((line + 1))
    done
    echo 1 >"$chip/live" || give_up "GPIO chip $number did not come up"
    device=$(cat "$chip/bank0/chip_name")
    tell "VM_GPIOCHIP$number" "/dev/$device"
    tell "VM_GPIOSIM$number" "/sys/devices/platform/$(cat "$chip/dev_name")/$device"
    number=$((number + 1))
done

if [ "$CONTROLLERS" -gt 0 ]; then
    # shellcheck disable=SC2086 # a list of words
    chroot /root /run/vm/bin/vair -n "$CONTROLLERS" $AIR_ARGUMENTS >/root/run/vm/air.log 2>&1 &
    tell VM_AIR_PID $!
    waited=0
    while [ ! -e "/sys/class/bluetooth/hci$((CONTROLLERS - 1))" ]; do
        waited=$((waited + 1))
        [ "$waited" -lt 1500 ] || give_up "the controllers did not appear"
        usleep 20000
    done
fi
tell VM_CONTROLLERS "$CONTROLLERS"

for port in /sys/class/virtio-ports/*; do
    case "$(cat "$port/name")" in
        out) out=/dev/${port##*/} ;;
        err) err=/dev/${port##*/} ;;
    esac
done
mkfifo /out /err
cat /out >"$out" & copy_out=$!
cat /err >"$err" & copy_err=$!

chroot /root /usr/bin/timeout -k 5 "$LIMIT" /bin/bash /run/vm/control/command </dev/null >/out 2>/err
status=$?
# What the command left behind may hold the pipes open: not for long.
waited=0
while kill -0 $copy_out 2>/dev/null || kill -0 $copy_err 2>/dev/null; do
    waited=$((waited + 1))
    [ "$waited" -lt 50 ] || break
    usleep 20000
done
[ -z "$KERNEL_LOG" ] || dmesg >/control/log
echo $status >/control/status.new && mv /control/status.new /control/status
sync
poweroff -f
sleep 60
