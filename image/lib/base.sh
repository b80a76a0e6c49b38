# shellcheck shell=bash
# shellcheck disable=SC2154 # debian.sh sets $debian_suite
# shellcheck disable=SC2016 # mmdebstrap's shell expands what the hooks name
# The Debian packages of the image, as a tar archive: the slow half of image/build, cached. Sourced by it.

image_packages=(
    # The system
    systemd-sysv systemd-resolved systemd-timesyncd libpam-systemd udev dbus kmod iproute2 openssh-server tzdata less nano
    # What remedies and keys of the operator need: bitgate doctor names the first two
    rfkill gpiod bash-completion
    # Growing and checking the data partition
    e2fsprogs dosfstools fdisk
    # Security updates
    unattended-upgrades ca-certificates
    # Kernel and the boards' firmware
    linux-image-arm64 initramfs-tools zstd raspi-firmware firmware-brcm80211 bluez-firmware firmware-realtek wireless-regdb
    # Wi-Fi, and the way out
    iwd tor obfs4proxy snowflake-client
)

# A short list of modules makes an initramfs of 11 MB where "most" makes 40: the boards, USB, and QEMU's machine. All of
# them are loaded at boot.
image_initramfs_modules='bcm2835 sdhci-iproc mmc_block ext4 overlay vfat nls_ascii nls_cp437
xhci-pci dwc2 usb-storage uas reset-raspberrypi
virtio_pci virtio_mmio virtio_blk virtio_net'

# What no box needs: kept out now and by later updates.
image_dpkg_options() {
    cat <<-'TEXT'
	path-exclude=/usr/share/man/*
	path-exclude=/usr/share/info/*
	path-exclude=/usr/share/locale/*
	path-exclude=/usr/share/doc/*
	path-include=/usr/share/doc/*/copyright
	path-include=/usr/share/doc/bitgate/*
	path-exclude=/usr/lib/firmware/r*/*
	path-include=/usr/lib/firmware/rtl_bt/rtl8761*
	path-include=/usr/lib/firmware/rtl_nic/rtl815*
	path-exclude=/usr/lib/modules/*/kernel/drivers/gpu/*
	path-exclude=/usr/lib/modules/*/kernel/drivers/media/*
	path-exclude=/usr/lib/modules/*/kernel/drivers/infiniband/*
	path-exclude=/usr/lib/modules/*/kernel/drivers/iio/*
	path-exclude=/usr/lib/modules/*/kernel/drivers/scsi/*
	path-include=/usr/lib/modules/*/kernel/drivers/scsi/s*_mod.ko*
	path-include=/usr/lib/modules/*/kernel/drivers/scsi/scsi_common.ko*
	path-exclude=/usr/lib/modules/*/kernel/sound/*
	path-exclude=/usr/lib/linux-image-*/*
	path-include=/usr/lib/linux-image-*/broadcom/bcm27*
	path-include=/usr/lib/linux-image-*/broadcom/bcm28*
	TEXT
}

# image_make_base PACKAGE: makes the archive, with what the package depends on, unless it is there; sets $image_base to it.
image_make_base() {
    local key options include
    options=$(image_dpkg_options)
    include=$(IFS=,; printf '%s' "${image_packages[*]}"),$(package_dependencies "$1")
    # The number at the end is that of the hooks and options below.
    key=$(printf '%s\n' "$include" "$image_initramfs_modules" "$options" "$(debian_state)" 2 | sha256sum | cut -c1-12)
    image_base=$(debian_cache)/base-$key.tar
    # Of a week ago it would be a kernel, an sshd and a tor with the holes that were mended since.
    if [ -e "$image_base" ] && { [ -n "$(debian_state)" ] || [ -z "$(find "$image_base" -mtime +6)" ]; }; then
        say "base system: of $(date -u -r "$image_base" +%F)"
        return 0
    fi
    [ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || [ "$(uname -m)" = aarch64 ] ||
        die 1 "this machine cannot run arm64 programs yet: as root, mount -t binfmt_misc binfmt_misc" \
            "/proc/sys/fs/binfmt_misc unless that is mounted, and update-binfmts --enable qemu-aarch64"
    say "base system: ${#image_packages[@]} packages and what they need, their scripts run under emulation (5 to 20 minutes, once)"
    mkdir -p "$(debian_cache)"
    rm -f "$(debian_cache)"/base-*.part
    # By environment: in a user namespace the hooks cannot read our files.
    export BITGATE_INITRAMFS_MODULES=$image_initramfs_modules BITGATE_DPKG_OPTIONS=$options
    debian_sources "main non-free-firmware" | mmdebstrap --quiet --architectures=arm64 --variant=apt --format=tar \
        --aptopt='APT::Install-Recommends "false"' --dpkgopt=force-unsafe-io \
        --include="$include" \
        --setup-hook='mkdir -p "$1/etc/dpkg/dpkg.cfg.d"
            printf "%s\n" "$BITGATE_DPKG_OPTIONS" >"$1/etc/dpkg/dpkg.cfg.d/image"' \
        --essential-hook='mkdir -p "$1/usr/share/initramfs-tools/modules.d" "$1/etc/initramfs-tools/conf.d"
            printf "%s\n" $BITGATE_INITRAMFS_MODULES >"$1/usr/share/initramfs-tools/modules.d/image.conf"
            # By the type it knows with what to check the root, which it does before it mounts it.
            printf "MODULES=list\nCOMPRESS=zstd\nFSTYPE=ext4\n" >"$1/etc/initramfs-tools/conf.d/image"' \
        --customize-hook='mkdir -p "$1/boot/board"
            cp -a "$1"/usr/lib/raspi-firmware/. "$1/boot/board/"
            dpkg-query --admindir="$1/var/lib/dpkg" -W -f "\${Package}\t\${Version}\t\${Architecture}\n" >"$1/boot/packages"' \
        --customize-hook='chroot "$1" dpkg --purge raspi-firmware && rm -rf "$1/boot/firmware"' \
        --customize-hook='chroot "$1" systemctl enable systemd-networkd.service systemd-resolved.service iwd.service' \
        --customize-hook='chroot "$1" systemctl disable e2scrub_reap.service e2scrub_all.timer fstrim.timer dpkg-db-backup.timer apt-daily.timer apt-daily-upgrade.timer unattended-upgrades.service' \
        --customize-hook='chroot "$1" systemctl mask sshd-keygen.service getty@tty1.service serial-getty@.service systemd-firstboot.service systemd-networkd-wait-online.service' \
        "$debian_suite" "$image_base.part" - >&2 || die 1 "mmdebstrap could not make the base system"
    mv "$image_base.part" "$image_base"
    say "base system: $(stat -c %s "$image_base") bytes"
}
