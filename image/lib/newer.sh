# shellcheck shell=bash
# shellcheck disable=SC2154 # machine.sh and update-test set $work, $root_partition and $package
# A Debian that is newer than the image, made of the image itself: its kernel under a higher name, and bitgate with other
# bytes, signed and laid out as Debian's mirrors are. Sourced by image/update-test after machine.sh; $package is the
# package the image was made with.

export BITGATE_TEST_MIRROR=$work/mirror
mkdir -p "$work/old" "$BITGATE_TEST_MIRROR/security.debian.org/debian-security/pool"

root_file() { debugfs -R "cat $1" "$root_partition" 2>/dev/null; }
kernel=$(debugfs -R 'ls -p /boot' "$root_partition" 2>/dev/null | sed -n 's#.*/vmlinuz-\([^/]*\)/.*#\1#p' | sort -V | tail -n 1)

# newer_kernel N: the name of the Nth kernel after the image's, 1 or 2. It has the same length, to fit into the same bytes.
newer_kernel() {
    local number
    number=$(sed -E 's/^[0-9]+\.[0-9]+\.([0-9]+).*/\1/' <<<"$kernel")
    sed -E "s/^([0-9]+\.[0-9]+\.)[0-9]+/\1$(sed 's/./9/g; s/.$//' <<<"$number")$((7 + $1))/" <<<"$kernel"
}

# The image's kernel, as its package has it: without what the package's scripts make.
newer_take_kernel() {
    local name
    [ "$(printf '%s\n' "$kernel" "$(newer_kernel 1)" | sort -V | tail -n 1)" != "$kernel" ] ||
        die 1 "there is no name for a kernel that is newer than $kernel and as long"
    for name in "modules/$kernel" "linux-image-$kernel"; do
        debugfs -R "rdump /usr/lib/$name $work/old" "$root_partition" >/dev/null 2>&1
    done
    rm -f "$work/old/$kernel"/modules.{alias,builtin.alias,builtin.bin,dep,devname,softdep,symbols,weakdep}*
    chmod -R u+rwX,go+rX,go-w "$work/old"
    for name in vmlinuz System.map config; do root_file "/boot/$name-$kernel" >"$work/old/$name"; done
    for name in preinst postinst prerm postrm; do root_file "/var/lib/dpkg/info/linux-image-$kernel.$name" >"$work/old/$name"; done
    root_file /var/lib/dpkg/status >"$work/old/status"
}

# control PACKAGE VERSION: what dpkg knows of it, as a package of that version has it.
control() {
    awk -v RS= -v want="Package: $1" 'index($0, want "\n") == 1 { print; exit }' "$work/old/status" |
        sed -E "/^(Status|Config-Version):/d; s/^Version: .*/Version: $2/; /^Depends/s/\(= [^)]*\)/(= $2)/"
}

# packed FOLDER FILE: packs the folder, with the sums of its files.
packed() {
    (cd "$1" && find . \( -path ./DEBIAN -o -path ./etc \) -prune -o -type f -print | sed 's#^\./##' | sort | tr '\n' '\0' | xargs -0r md5sum >DEBIAN/md5sums)
    dpkg-deb --root-owner-group -Zgzip -z1 -b "$1" "$2" >/dev/null
    rm -rf "$1"
}

# newer_packages N: makes bitgate and kernel number N, of version 90 and N.
newer_packages() {
    local name pack=$work/pack version=$((90 + $1)) pool=$BITGATE_TEST_MIRROR/security.debian.org/debian-security/pool new
    new=$(newer_kernel "$1")
    mkdir -p "$pack/DEBIAN" "$pack/boot" "$pack/usr/lib/modules"
    cp -a "$work/old/$kernel" "$pack/usr/lib/modules/$new"
    cp -a "$work/old/linux-image-$kernel" "$pack/usr/lib/linux-image-$new"
    for name in vmlinuz System.map config; do LC_ALL=C sed "s/$kernel/$new/g" "$work/old/$name" >"$pack/boot/$name-$new"; done
    for name in preinst postinst prerm postrm; do
        sed "s/$kernel/$new/g" "$work/old/$name" >"$pack/DEBIAN/$name"
        chmod 755 "$pack/DEBIAN/$name"
    done
    control "linux-image-$kernel" "$version" | sed "s/$kernel/$new/g" >"$pack/DEBIAN/control"
    packed "$pack" "$pool/linux-image-$1.deb"

    mkdir -p "$pack/DEBIAN"
    control linux-image-arm64 "$version" | sed "s/$kernel/$new/g" >"$pack/DEBIAN/control"
    packed "$pack" "$pool/linux-image-arm64-$1.deb"
    newer_bitgate "$1" "$pool/bitgate-$1.deb"
}

# newer_bitgate N FILE: bitgate of version 90 and N. Its programs run as they did, and are told by their sums.
newer_bitgate() {
    local pack=$work/pack
    dpkg-deb -R "$package" "$pack"
    sed -i "s/^Version: .*/Version: $((90 + $1))/" "$pack/DEBIAN/control"
    printf 'newer %s' "$1" | tee -a "$pack/usr/bin/bitgate" >>"$pack/usr/bin/bitgated"
    sha256sum <"$pack/usr/bin/bitgated" | cut -d ' ' -f 1 >"$work/bitgated.$1"
    packed "$pack" "$2"
}

# The test's own key, in the place of Debian's.
newer_key() {
    gnupg=$(mktemp -d)
    GNUPGHOME=$gnupg gpg --batch --quiet --passphrase '' --quick-gen-key 'A test of updating' ed25519 sign never
    GNUPGHOME=$gnupg gpg --batch --export >"$work/archive.pgp"
}

# newer_publish N: from now on the mirrors have the packages number N.
newer_publish() {
    local suite base label folder component file mirror=$BITGATE_TEST_MIRROR
    for suite in trixie trixie-updates trixie-security; do
        base=deb.debian.org/debian label=Debian
        [ $suite != trixie-security ] || base=security.debian.org/debian-security label=Debian-Security
        folder=$mirror/$base/dists/$suite
        rm -rf "$folder"
        for component in main non-free-firmware; do
            mkdir -p "$folder/$component/binary-arm64"
            : >"$folder/$component/binary-arm64/Packages"
        done
        if [ $suite = trixie-security ]; then
            for file in "$mirror/$base/pool"/*-"$1".deb; do
                dpkg-deb -f "$file"
                printf 'Filename: pool/%s\nSize: %s\nSHA256: %s\n\n' "$(basename "$file")" "$(stat -c %s "$file")" \
                    "$(sha256sum <"$file" | cut -d ' ' -f 1)"
            done >"$folder/main/binary-arm64/Packages"
        fi
        {
            printf '%s\n' "Origin: Debian" "Label: $label" "Suite: ${suite/trixie/stable}" "Codename: $suite" \
                "Date: $(LC_ALL=C date -u '+%a, %d %b %Y %T UTC')" "Architectures: arm64" "Components: main non-free-firmware" "SHA256:"
            (cd "$folder" && for file in */*/Packages; do
                printf ' %s %s %s\n' "$(sha256sum <"$file" | cut -d ' ' -f 1)" "$(stat -c %s "$file")" "$file"
            done)
        } >"$folder/Release"
        GNUPGHOME=$gnupg gpg --batch --quiet --clearsign -o "$folder/InRelease" "$folder/Release"
        rm "$folder/Release"
    done
}

newer_finish() {
    [ -n "${gnupg:-}" ] || return 0
    gpgconf --homedir "$gnupg" --kill all
    rm -rf "$gnupg"
}
