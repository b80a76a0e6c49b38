# shellcheck shell=bash
# shellcheck disable=SC2154 # deploy/vm sets $kernel, $modules and $packages
# shellcheck disable=SC2086 # the $…_modules are lists of words
# What deploy/vm boots: Debian's kernel, an initramfs with busybox, and the air, in the cache. Sourced by deploy/vm. Its
# functions are called where `set -e` does not count, so each says for itself when it failed.

vm_cache() { printf '%s' "${BITGATE_VM_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/bitgate-vm}"; }

# Fetches a Debian package into the cache, unpacks nothing, prints its file. Needs no root.
fetch() {
    local folder file
    folder=$(vm_cache)/packages
    mkdir -p "$folder"
    file=$(find "$folder" -name "$1_*.deb" | sort | tail -n 1)
    if [ -z "$file" ]; then
        (cd "$folder" && apt-get -qq -o APT::Sandbox::User=root download "$1" >&2) ||
            { say "cannot fetch the package $1: apt-get update may help" >&2; return 1; }
        file=$(find "$folder" -name "$1_*.deb" | sort | tail -n 1)
    fi
    printf '%s\n' "$file"
}

# The package of the kernel asked for: what Debian's meta package of that series depends on.
kernel_package() {
    local meta package
    case "$kernel" in
        *-amd64) printf 'linux-image-%s\n' "$kernel"; return ;;
    esac
    for meta in "linux-image-$kernel-amd64" linux-image-amd64; do
        package=$(apt-cache depends "$meta" 2>/dev/null | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' |
            grep -F "linux-image-$kernel." | grep -E -- '-[0-9]+-amd64$|\+deb[0-9].*-amd64$|~bpo.*-amd64$' | head -n 1) || true
        [ -z "$package" ] || break
    done
    [ -n "$package" ] || { say "this Debian has no kernel $kernel for amd64; is apt-get update due?" >&2; return 1; }
    printf '%s\n' "$package"
}

# The modules named and all they need, as paths in the module tree, in the order in which to load them. What is not in
# the tree is part of the kernel.
module_order() {
    awk -v wanted="$*" -F': *' '
        { name = $1; sub(".*/", "", name); sub("\\.ko.*", "", name); gsub("-", "_", name); path[name] = $1; needs[$1] = $2 }
        function visit(p, list, n, i) {
            if (p in seen) return
            seen[p] = 1
            n = split(needs[p], list, " ")
            for (i = n; i > 0; i--) visit(list[i])
            print p
        }
        END { n = split(wanted, names, " "); for (i = 1; i <= n; i++) if (names[i] in path) visit(path[names[i]]) }
    ' "$image/root/lib/modules/$(basename "$image")/modules.dep"
}

boot_modules="virtio_pci virtio_console virtio_rng 9pnet_virtio 9p overlay"
# drbg before ecdh_generic: pairing needs ECDH, which tests itself with the kernel's random generator.
device_modules="configfs sha512_generic hmac jitterentropy_rng drbg ecdh_generic af_alg algif_hash algif_skcipher cmac
    ecb bluetooth hci_vhci"
# In the image, loaded only with --module.
spare_modules="softdog"

# No Debian kernel has gpio-sim, so it is built from Debian's kernel source against the matching headers, with the
# interrupt simulator it needs. Leaves both in $image/extra.
build_gpio_sim() {
    local version package source work
    version=$(basename "$image")
    say "vm: building gpio-sim for $version" >&2
    work=$image/build
    rm -rf "$work"
    mkdir -p "$work/headers" "$work/module" "$image/extra"
    for package in $(apt-cache depends "linux-headers-$version" | sed -n 's/.*Depends: \(linux-.*\)/\1/p') \
        "linux-headers-$version"; do
        case "$package" in
            linux-headers* | linux-kbuild*) dpkg-deb -x "$(fetch "$package")" "$work/headers" || return 1 ;;
        esac
    done
    source=linux-source-${version%%.*}.$(cut -d. -f2 <<<"$version")
    dpkg-deb --fsys-tarfile "$(fetch "$source")" | tar -xO "./usr/src/$source.tar.xz" | xz -T0 -dc |
        tar -x -C "$work/module" --strip-components=3 --wildcards "$source/drivers/gpio/gpio-sim.c" \
            "$source/drivers/gpio/gpiolib*.h" "$source/drivers/gpio/dev-sync-probe*" "$source/kernel/irq/irq_sim.c" \
            2>/dev/null || true
    [ -s "$work/module/gpio-sim.c" ] || { say "vm: $source has no gpio-sim" >&2; return 1; }
    # irq_to_desc is not exported to modules; its irq_data leads to the same descriptor.
    cat >"$work/module/irq-sim-mod.c" <<-'C'
	#include <linux/module.h>
	#include <linux/irq.h>
	#include <linux/irqdesc.h>
	#define irq_to_desc(n) irq_data_to_desc(irq_get_irq_data(n))
	#include "irq_sim.c"
	MODULE_LICENSE("GPL");
	C
    echo 'obj-m := irq-sim-mod.o gpio-sim.o' >"$work/module/Kbuild"
    sed -i "s#/usr/src/#$work/headers/usr/src/#" "$work/headers/usr/src/linux-headers-$version/Makefile"
    make -s -C "$work/headers/usr/src/linux-headers-$version" M="$work/module" CONFIG_DEBUG_INFO_BTF_MODULES= modules \
        >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; return 1; }
    strip -g "$work"/module/{irq-sim-mod,gpio-sim}.ko
    cp "$work"/module/{irq-sim-mod,gpio-sim}.ko "$image/extra/"
    rm -rf "$work"
}

# Kernel, modules and busybox of $image, if they are not there.
unpack_kernel() {
    local package=$1 tools
    tools=$(vm_cache)/tools
    mkdir -p "$tools" "$image"
    if [ ! -x "$tools/busybox" ]; then
        dpkg-deb -x "$(fetch busybox-static)" "$tools/unpacked" || return 1
        cp "$tools"/unpacked/{,usr/}bin/busybox "$tools/" 2>/dev/null || true # which of the two: Debian 12, 13
        rm -rf "$tools/unpacked"
    fi
    [ ! -e "$image/vmlinuz" ] || return 0
    say "vm: unpacking $package" >&2
    rm -rf "$image/root"
    dpkg-deb -x "$(fetch "$package")" "$image/root" || return 1
    # Debian 13 has the modules below /usr.
    [ -e "$image/root/lib/modules" ] || ln -s usr/lib "$image/root/lib"
    "$tools/busybox" depmod -b "$image/root" "$(basename "$image")" &&
        cp "$image/root/boot/vmlinuz-$(basename "$image")" "$image/vmlinuz"
}

build_air() {
    local tools
    tools=$(vm_cache)/tools
    "${CC:-cc}" -O2 -Wall -Wextra -o "$tools/vair.new" Tests/VM/Air/*.c && mv "$tools/vair.new" "$tools/vair"
}

# Packs the guest's first process with what it needs before it sees this machine's files.
pack_initramfs() {
    local version tools work path name
    version=$(basename "$image")
    tools=$(vm_cache)/tools
    work=$image/initramfs.d
    rm -rf "$work"
    mkdir -p "$work"/{bin,sbin,lib/modules,modules,proc,sys,dev,control,tree,layers,memory,root}
    cp "$tools/busybox" "$work/bin/"
    for name in sh mount insmod mkdir cut cat cp mv ln ip hostname chroot sync usleep sleep poweroff reboot dmesg \
        mkfifo kill uname; do
        ln -s busybox "$work/bin/$name"
    done
    ln -s ../bin/busybox "$work/sbin/modprobe" # the kernel's own requests for a module
    ln -s "/root$image/root/lib/modules/$version" "$work/lib/modules/$version"
    install -m 755 deploy/lib/vm/guest.sh "$work/init"
    for path in $(module_order $boot_modules $device_modules $spare_modules); do
        name=$(basename "${path%.xz}")
        case "$path" in
            *.xz) xz -dc "$image/root/lib/modules/$version/$path" >"$work/modules/$name" ;;
            *) cp "$image/root/lib/modules/$version/$path" "$work/modules/$name" ;;
        esac
    done
    if [ -e "$image/extra/gpio-sim.ko" ]; then cp "$image"/extra/*.ko "$work/modules/"; fi
    module_order $boot_modules | sed 's#.*/##; s#\.xz$##' >"$work/modules/at-boot"
    (cd "$work" && find . | "$tools/busybox" cpio -o -H newc 2>/dev/null) >"$image/initramfs.new" &&
        mv "$image/initramfs.new" "$image/initramfs" || return 1
    rm -rf "$work"
}

# What the guest loads once it is up, one a line with its arguments.
guest_modules() {
    local module
    loaded() { module_order "$@" | sed 's#.*/##; s#\.xz$##' | grep -vxF -f <(module_order $boot_modules | sed 's#.*/##; s#\.xz$##'); }
    loaded $device_modules
    if [ -n "$gpio" ]; then printf '%s\n' irq-sim-mod.ko gpio-sim.ko; fi
    for module in "${modules[@]}"; do
        loaded "${module%% *}" | sed "\$s/\$/ $(cut -s -d' ' -f2- <<<"$module")/"
    done
}

# Unpacks a package and all it needs that this machine lacks into folders of their own, and prints these. What the
# machine has, the guest sees anyway.
package_folders() {
    local name file folder part
    for name in $(apt-get -s install --no-install-recommends "$1" 2>/dev/null | sed -n 's/^Inst \([^ ]*\) (.*/\1/p'); do
        file=$(fetch "$name") || return 1
        folder=$(basename "$file" .deb)
        if [ ! -d "$(vm_cache)/unpacked/$folder" ]; then
            rm -rf "$(vm_cache)/unpacked/new"
            mkdir -p "$(vm_cache)/unpacked"
            dpkg-deb -x "$file" "$(vm_cache)/unpacked/new" || return 1
            # Laid over a tree in which /lib is a link to /usr/lib, a folder /lib would hide that.
            for part in bin sbin lib lib64; do
                [ -d "$(vm_cache)/unpacked/new/$part" ] || continue
                mkdir -p "$(vm_cache)/unpacked/new/usr/$part"
                cp -a "$(vm_cache)/unpacked/new/$part/." "$(vm_cache)/unpacked/new/usr/$part/"
                rm -rf "$(vm_cache)/unpacked/new/${part:?}"
            done
            mv "$(vm_cache)/unpacked/new" "$(vm_cache)/unpacked/$folder"
        fi
        printf '%s\n' "$folder"
    done
}

# Makes what is missing or older than these scripts; sets $image and the array layers, folders of unpacked packages.
prepare_image() {
    local stamp package name folders
    mkdir -p "$(vm_cache)"
    exec {vm_lock}>"$(vm_cache)/lock"
    flock "$vm_lock"
    name=$(cat "$(vm_cache)/kernel-$kernel" 2>/dev/null) || true
    if [ -z "$name" ]; then
        package=$(kernel_package) || return 1
        name=${package#linux-image-}
    fi
    image=$(vm_cache)/$name
    stamp=$(cat deploy/lib/vm/{image,guest}.sh Tests/VM/Air/* | sha256sum | cut -d' ' -f1)${gpio:+ gpio}
    case "$(cat "$image/stamp" 2>/dev/null)" in
        "$stamp" | "$stamp gpio") ;;
        *)
            rm -f "$image/stamp"
            unpack_kernel "linux-image-$name" && build_air || return 1
            [ -z "$gpio" ] || [ -e "$image/extra/gpio-sim.ko" ] || build_gpio_sim || return 1
            pack_initramfs || return 1
            printf '%s\n' "$name" >"$(vm_cache)/kernel-$kernel"
            printf '%s\n' "$stamp" >"$image/stamp"
            ;;
    esac
    layers=()
    for name in "${packages[@]}"; do
        folders=$(package_folders "$name") || return 1
        [ -z "$folders" ] || mapfile -t -O ${#layers[@]} layers <<<"$folders"
    done
    exec {vm_lock}>&-
}
