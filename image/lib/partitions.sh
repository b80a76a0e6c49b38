# shellcheck shell=bash
# partitions.sh NAME: makes the three partitions and the image of the system in root/. Run by image/build as root in a
# Debian 13 of its own.
name=$1
step() { printf 'image: %s\n' "$*" >&2; }

# Sizes in MiB. The root has room for later versions, the boot partition for two kernels.
boot_start=4 boot_size=256 root_size=1280 data_size=128
root_start=$((boot_start + boot_size))
data_start=$((root_start + root_size))
disk=$(printf %s "$name" | sha256sum | cut -c1-8)
uuid() { printf %s "$name-$1" | sha256sum | sed 's/\(.\{8\}\)\(.\{4\}\)\(.\{4\}\)\(.\{4\}\)\(.\{12\}\).*/\1-\2-\3-\4-\5/'; }

step "boot partition"
mkdir -p boot
cp -a root/boot/board/. boot/
rm -rf root/boot/board boot/*_db.* boot/*4db.* boot/*_x.* boot/*4x.*
cat >boot/config.txt <<'E'
arm_64bit=1
enable_uart=1
upstream_kernel=1
kernel=vmlinuz
initramfs initrd.img
os_prefix=b/
E
mkdir boot/b
# The serial console of these boards is the mini UART; the other one is Bluetooth's. No cma=: a Pi 4 does not start with it.
echo "console=tty0 console=ttyS1,115200 root=PARTUUID=$disk-02 rootfstype=ext4 ro rootwait net.ifnames=0 fsck.repair=yes panic=10" \
    >boot/b/cmdline.txt
sh -eu root/usr/libexec/box/kernel root boot >&2
rm -rf boot/b
cp root/usr/share/box/boot/* boot/
# Nothing of what systemd does after an update of /usr is due: it would do it at every start.
touch root/etc/.updated root/var/.updated
find boot root -depth -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
mkfs.vfat --invariant -F 32 -n BITBOOT -i "$disk" -C boot.fat $((boot_size * 1024)) >/dev/null
(cd boot && find . -mindepth 1 -type d | sort | sed 's#^\./##') | while read -r folder; do mmd -i boot.fat "::$folder"; done
(cd boot && find . -type f | sort | sed 's#^\./##') | while read -r file; do mcopy -m -i boot.fat "boot/$file" "::$file"; done

step "root partition"
truncate -s "${root_size}M" root.ext4
mke2fs -q -t ext4 -L BITROOT -e remount-ro -m 1 -b 4096 -U "$(uuid root)" -E "hash_seed=$(uuid seed),root_owner=0:0" \
    -d root root.ext4 >&2
used=$(du -sm root | cut -f1)

step "data partition"
# Block size, inodes and journal for the size to which it grows; room in its tables for 256 GiB.
truncate -s "${data_size}M" data.ext4
mke2fs -q -t ext4 -L BITDATA -m 0 -b 4096 -i 16384 -J size=16 -U "$(uuid data)" \
    -E "hash_seed=$(uuid seed),root_owner=0:0,resize=67108864,lazy_itable_init=0,lazy_journal_init=0" data.ext4 >&2

step "image"
image=out/$name.img
truncate -s "$((data_start + data_size))M" "$image"
# MBR: the boot ROM of the Pi 3 family reads nothing newer.
sfdisk --quiet "$image" >&2 <<E
label: dos
label-id: 0x$disk
start=${boot_start}MiB, size=${boot_size}MiB, type=c, bootable
start=${root_start}MiB, size=${root_size}MiB, type=83
start=${data_start}MiB, size=${data_size}MiB, type=83
E
place() { dd if="$1" of="$image" bs=1M seek="$2" conv=notrunc,sparse status=none; }
place boot.fat $boot_start
place root.ext4 $root_start
place data.ext4 $data_start
zstd -q -T0 -9 --rm -f "$image"
step "root: $used MiB of $root_size used, boot: $(du -sm boot | cut -f1) of $boot_size"
