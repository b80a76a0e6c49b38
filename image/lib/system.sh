# shellcheck shell=bash
# system.sh NAME: makes the system of the image in root/, of the base system there, bitgate.deb and files/.
# Run by image/build as root in a Debian 13 of its own.
name=$1
mkdir -p out
step() { printf 'image: %s\n' "$*" >&2; }

step "installing bitgate"
# Nothing is started in it, and its scripts find what they look for.
cp files/usr/sbin/policy-rc.d root/usr/sbin/policy-rc.d
cp bitgate.deb root/tmp/
chroot root dpkg -i /tmp/bitgate.deb >log 2>&1 || { cat log >&2; exit 1; }
chroot root systemctl --quiet enable bitgated.service bitgate-erase.path bitgate-boot.path >&2
rm root/tmp/bitgate.deb

step "files"
chown -R 0:0 files
find files -type d -exec chmod 755 {} +
cp -a files/. root/
install -m 644 bitgate.conf root/etc/tor/bitgate.conf
install -m 644 bitgate.toml root/usr/share/box/boot/bitgate.toml
# The base system was made in a hurry; on the box a package is on the card before dpkg says so.
rm -f root/etc/dpkg/dpkg.cfg.d/99mmdebstrap root/etc/apt/apt.conf.d/99mmdebstrap
rm -f root/etc/resolv.conf root/etc/apt/sources.list root/etc/.resolv.conf*
ln -s ../run/systemd/resolve/stub-resolv.conf root/etc/resolv.conf
ln -s ../libexec/box/update root/usr/sbin/box-update
rm -f root/etc/ssh/ssh_host_* root/var/lib/systemd/random-seed root/var/lib/dbus/machine-id root/etc/hostname.dpkg*
rm -rf root/var/lib/apt/lists/* root/var/cache/apt/* root/var/log/* root/run/* root/tmp/*
mkdir -p root/data root/boot/firmware root/var/lib/apt/lists/partial root/var/cache/apt/archives/partial root/var/lib/bitgate
chroot root systemctl --quiet enable box-boot.service box-blink.service box-grow.service box-clock.service box-clock-save.timer \
    box-update.timer box-report.timer >&2
: >root/etc/machine-id
grep -q '^root:[*!]' root/etc/shadow || { echo "root has a password" >&2; exit 1; }

# The package list, with what is linked or copied into the image besides.
mv root/boot/packages packages
printf 'bitgate\t%s\tarm64\n' "${name#bitgate-}" >>packages
sort -u packages | awk -F'\t' -v name="$name" -v date="$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)" '
    BEGIN { printf "{\"spdxVersion\":\"SPDX-2.3\",\"dataLicense\":\"CC0-1.0\",\"SPDXID\":\"SPDXRef-DOCUMENT\",\"name\":\"%s\",", name
        printf "\"documentNamespace\":\"urn:%s\",\"creationInfo\":{\"created\":\"%s\",\"creators\":[\"Tool: image/build\"]},\n\"packages\":[", name, date }
    { id = $1; gsub(/[^A-Za-z0-9.-]/, "-", id)
        printf "%s\n{\"SPDXID\":\"SPDXRef-%s-%s\",\"name\":\"%s\",\"versionInfo\":\"%s\",\"downloadLocation\":\"NOASSERTION\",", (NR > 1 ? "," : ""), id, $3, $1, $2
        printf "\"externalRefs\":[{\"referenceCategory\":\"PACKAGE-MANAGER\",\"referenceType\":\"purl\",\"referenceLocator\":\"pkg:deb/debian/%s@%s?arch=%s\"}]}", $1, $2, $3 }
    END { print "\n]}" }' >"out/$name.spdx.json"
