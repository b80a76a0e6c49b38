# shellcheck shell=bash
# shellcheck disable=SC2016 # other shells expand what stands in single quotes
# Debian 13 beside the system this machine runs: a folder with a toolchain, made by mmdebstrap, and commands in it.
# Sourced by deploy/deb and image/build after common.sh. Neither root nor a change to this machine is needed; without
# root, mmdebstrap works in a user namespace.

debian_suite=trixie
debian_cache() { printf '%s' "${BITGATE_BUILD_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/bitgate-build}"; }

# What compiles and links the sources, packs and checks the package, and makes the image's file systems.
debian_tools=(
    swiftlang pkgconf debhelper lintian man-db mtools dosfstools e2fsprogs fdisk zstd ca-certificates
)
# For the machine the package is for.
debian_libraries=(
    libbluetooth-dev libc6-dev libedit-dev libevent-dev libgpiod-dev liblz4-dev libqrencode-dev libsecp256k1-dev
    libsodium-dev libsqlite3-dev libssl-dev libstdc++-14-dev libsystemd-dev libtomlplusplus-dev libwslay-dev zlib1g-dev
)

# debian_needs PROGRAM=PACKAGE…: ends with the packages to install when a program is missing.
debian_needs() {
    local pair missing=()
    for pair in "$@"; do
        command -v "${pair%%=*}" >/dev/null || [ -x "/usr/sbin/${pair%%=*}" ] || missing+=("${pair#*=}")
    done
    if [ "$(id -u)" -ne 0 ]; then
        command -v newuidmap >/dev/null || missing+=(uidmap)
        grep -qs "^$(id -un):" /etc/subuid ||
            die 1 "without root a range of user numbers is needed: usermod --add-subuids 100000-165535" \
                "--add-subgids 100000-165535 $(id -un)"
    fi
    [ ${#missing[@]} -eq 0 ] || die 1 "this needs: apt-get install ${missing[*]}"
}

# Where this machine gets Debian from: its APT configuration says. BITGATE_MIRROR and BITGATE_SECURITY_MIRROR overrule
# it, such as with a snapshot of a day, to build the same again.
debian_mirror() {
    local release=$1
    apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
        awk -v release="$release" '$1 == release && $2 == "main" { print $3; exit }'
}

# What names one state of Debian, if anything does: whatever is made of another is made anew.
debian_state() { printf '%s' "${BITGATE_MIRROR:+$BITGATE_MIRROR ${BITGATE_SECURITY_MIRROR:-}}"; }

# debian_sources COMPONENTS: the lines of a sources.list.
debian_sources() {
    local components=$1 codename uri security key=/usr/share/keyrings/debian-archive-keyring.gpg
    codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
    uri=${BITGATE_MIRROR:-$(debian_mirror "$codename")}
    [ -n "$uri" ] || die 1 "no Debian mirror in this machine's APT configuration: set BITGATE_MIRROR"
    security=${BITGATE_SECURITY_MIRROR:-$(debian_mirror "$codename-security")}
    printf "deb [signed-by=$key] %s %s $components\n" "$uri" "$debian_suite"
    if [ -n "${BITGATE_MIRROR:-}" ] && [ -z "${BITGATE_SECURITY_MIRROR:-}" ]; then return; fi
    printf "deb [signed-by=$key] %s %s $components\n" "$uri" "$debian_suite-updates"
    [ -z "$security" ] || printf "deb [signed-by=$key] %s %s $components\n" "$security" "$debian_suite-security"
}

# Runs a command as root of a user namespace, or as root when we are.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else mmdebstrap --unshare-helper "$@"; fi
}

# Takes away a folder in which everything but the folder itself belongs to that root.
debian_remove() {
    [ -e "$1" ] || return 0
    as_root find "$1" -xdev -mindepth 1 -delete
    rmdir "$1"
}

# in_debian ROOT COMMAND…: runs a command in that system, without network. Files go in and come out by its standard
# input and output: in a user namespace its root has no right to ours. $debian_inner: a system in that system, in which
# programs will be run too.
in_debian() {
    as_root env root="$1" inner="${debian_inner:-}" unshare --mount --net --pid --fork --kill-child bash -euc '
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
        if [ -n "$inner" ]; then
            mount -t proc proc "$root/$inner/proc"
            mount --rbind /dev "$root/$inner/dev"
        fi
        exec env -i PATH=/usr/sbin:/usr/bin HOME=/tmp LC_ALL=C.UTF-8 TZ=UTC \
            SOURCE_DATE_EPOCH='"${SOURCE_DATE_EPOCH:-0}"' chroot "$root" "$@"
    ' in_debian "${@:2}"
}

# debian_toolchain ARCHITECTURE: makes the system that builds for it, unless it is there; sets $toolchain, its folder.
# Cross-building, libraries and headers are those of the target, as Debian's multiarch has them; of the target's Swift
# only the standard library is taken.
debian_toolchain() {
    local arch=$1 host key include library architectures
    host=$(dpkg --print-architecture)
    include=$(IFS=,; printf '%s' "${debian_tools[*]}")
    for library in "${debian_libraries[@]}"; do include+=,$library:$arch; done
    architectures=$host
    if [ "$arch" != "$host" ]; then
        architectures=$host,$arch
        include+=,binutils-aarch64-linux-gnu,qemu-user
    fi
    key=$({ printf '%s\n' "$include" 2; debian_state; } | sha256sum | cut -c1-12)
    toolchain=$(debian_cache)/toolchain-$arch
    # Libraries that are linked in come from it: without a state that was asked for, it is one of this month.
    [ "$(cat "$toolchain.key" 2>/dev/null)" != "$key" ] ||
        { [ -z "$(debian_state)" ] && [ -n "$(find "$toolchain.key" -mtime +30)" ]; } || return 0
    say "toolchain: Debian 13 for $arch, some 2.5 GB below $(debian_cache) (minutes, once)"
    rm -f "$toolchain.key"
    debian_remove "$toolchain"
    mkdir -p "$(debian_cache)"
    export BITGATE_TARGET=$arch
    debian_sources main | mmdebstrap --quiet --variant=essential --format=directory --architectures="$architectures" \
        --aptopt='APT::Install-Recommends "false"' --dpkgopt=force-unsafe-io --include="$include" \
        --customize-hook='[ -e "$1/usr/libexec/swift/lib/swift/linux/$(echo $BITGATE_TARGET | sed s/arm64/aarch64/\;s/amd64/x86_64/)" ] || {
            set -e
            mkdir -p "$1/opt/target" "$1/opt/get"
            cd "$1/opt/get"
            APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" apt-get -qq -o APT::Sandbox::User=root download swiftlang:$BITGATE_TARGET libswiftlang:$BITGATE_TARGET
            for deb in ./*.deb; do
                dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$1/opt/target" --wildcards --strip-components=5 \
                    --exclude="./usr/libexec/swift/lib/swift/host*" --exclude="./usr/libexec/swift/lib/swift/pm*" \
                    --exclude="./usr/libexec/swift/lib/swift*/embedded*" "./usr/libexec/swift/lib/[cs][lw]*"
            done
            cd /
            rm -rf "$1/opt/get"
        }' "$debian_suite" "$toolchain" - >&2 || die 1 "mmdebstrap could not make $toolchain"
    printf '%s\n' "$key" >"$toolchain.key"
}

# debian_programs PACKAGE FOLDER: makes FOLDER/bitgated and FOLDER/bitgate of an amd64 package, with the libraries of the
# Debian it was built for, so that they run on this machine whatever its own libraries are. They are told where these
# are, and not started by a wrapper, since a program starts itself again by its own name.
debian_programs() {
    local package=$1 folder=$2 program libraries
    debian_needs patchelf=patchelf
    debian_toolchain amd64
    rm -rf "$folder"
    mkdir -p "$folder/lib"
    dpkg-deb --fsys-tarfile "$package" | tar -x -C "$folder" --strip-components=3 ./usr/bin/bitgate ./usr/bin/bitgated
    for program in bitgated bitgate; do
        libraries=$(in_debian "$toolchain" sh -c 'cat >/tmp/program && chmod +x /tmp/program && ldd /tmp/program' \
            <"$folder/$program" | grep -o '/[^ ]*' | cut -c2-)
        # shellcheck disable=SC2086 # a list of paths
        in_debian "$toolchain" tar -c --dereference --hard-dereference -C / $libraries |
            tar -x -C "$folder/lib" --transform='s,.*/,,'
        patchelf --set-interpreter "$PWD/$folder/lib/ld-linux-x86-64.so.2" --force-rpath \
            --set-rpath "$PWD/$folder/lib" "$folder/$program"
    done
}
