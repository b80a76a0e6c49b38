# shellcheck shell=bash
# shellcheck disable=SC2016 # another shell expands what stands in single quotes
# shellcheck disable=SC2154 # debian.sh sets $toolchain
# The Debian package, built in a folder with Debian 13. Sourced by deploy/deb and image/build after debian.sh.

# Sets $package_version and SOURCE_DATE_EPOCH from the last commit.
package_describe() {
    local release commit
    release=$(sed -n 's/.*text = "\(.*\)"/\1/p' Sources/Station/Version.swift)
    commit=$(git rev-parse --short=9 HEAD)
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
    export SOURCE_DATE_EPOCH
    package_version=$release
    if ! git tag --points-at HEAD | grep -qx "v$release"; then
        package_version="$release~$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M%S).$commit"
    fi
}

package_changelog() {
    cat <<-TEXT
	bitgate ($package_version) trixie; urgency=medium

	  * Built from commit $(git rev-parse HEAD).

	 -- $(sed -n 's/^Maintainer: //p' deploy/debian/control)  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
	TEXT
}

# How Swift is told of a target that is not this machine: its headers and libraries are where Debian's multiarch has
# them, its standard library where debian_toolchain put it. Run in that system, in /build.
package_swift_sdk='
    mkdir -p target.artifactbundle/target
    cat >target.artifactbundle/info.json <<JSON
{ "schemaVersion": "1.0", "artifacts": { "target": { "type": "swiftSDK", "version": "1.0.0",
  "variants": [ { "path": "target" } ] } } }
JSON
    cat >target.artifactbundle/target/swift-sdk.json <<JSON
{ "schemaVersion": "4.0", "targetTriples": { "aarch64-unknown-linux-gnu": {
  "sdkRootPath": "/", "swiftResourcesPath": "/opt/target/swift",
  "swiftStaticResourcesPath": "/opt/target/swift_static", "toolsetPaths": [ "toolset.json" ] } } }
JSON
    cat >target.artifactbundle/target/toolset.json <<JSON
{ "schemaVersion": "1.0", "rootPath": "/usr/libexec/swift/bin",
  "swiftCompiler": { "extraCLIOptions": [ "-use-ld=lld" ] }, "linker": { "path": "ld.lld" } }
JSON
    export BITGATE_SWIFT_FLAGS="--swift-sdks-path /build --swift-sdk target" BITGATE_RUN=qemu-aarch64
    export PKG_CONFIG_PATH=/usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig
'

# Takes the sources from standard input into /build/bitgate, touching only files that changed, so that no module is
# compiled again without need.
package_unpack='
    rm -rf new
    mkdir -p new bitgate
    tar -x -C new
    (cd new && find . -type f) >new.list
    while IFS= read -r file; do
        cmp -s "new/$file" "bitgate/$file" && continue
        mkdir -p "bitgate/${file%/*}"
        cp -p "new/$file" "bitgate/$file"
    done <new.list
    (cd bitgate && find . -type f) | sort - >old.list
    sort new.list | comm -13 - old.list | (cd bitgate && xargs -r -d "\n" rm -f)
    rm -rf new
'

# package_dependencies FILE: the names of the packages it depends on, the first of alternatives.
package_dependencies() { dpkg-deb -f "$1" Depends | sed 's/([^)]*)//g; s/|[^,]*//g; s/ //g'; }

# package_build ARCHITECTURE FOLDER: leaves bitgate_VERSION_ARCHITECTURE.deb there, and sets $package_file to it.
package_build() {
    local arch=$1 started=$SECONDS log file cross=''
    file=bitgate_${package_version}_$arch.deb
    debian_toolchain "$arch"
    exec {package_lock}>"$toolchain.lock"
    flock -n "$package_lock" || die 1 "another build is using $toolchain"
    [ "$arch" = "$(dpkg --print-architecture)" ] || cross=$package_swift_sdk
    say "$file: compiling and packing (the first time takes minutes)"
    log=$toolchain.log
    as_root mkdir -p "$toolchain/build"
    git archive --format=tar HEAD | in_debian "$toolchain" sh -euc "cd /build; $package_unpack $cross
        rm -rf bitgate/debian
        cp -a bitgate/deploy/debian bitgate/debian
        cat >bitgate/debian/changelog <<'TEXT'
$(package_changelog)
TEXT
        export BITGATE_SCRATCH=/build/scratch DEB_BUILD_OPTIONS=nocheck
        rm -f ./*.deb
        cd bitgate
        dpkg-buildpackage -b -uc -us -d --host-arch $arch" >"$log" 2>&1 || {
        grep -E 'error|Error|cannot|failed' "$log" | head -n 20 || true
        tail -n 15 "$log"
        die 1 "the package for $arch could not be built; the whole log is $log"
    }
    say "$file: checking with lintian"
    in_debian "$toolchain" lintian --allow-root --fail-on error,warning,info --display-info --tag-display-limit 0 \
        "/build/$file" </dev/null || die 1 "lintian has complaints"
    package_file=$(readlink -f "$2")/$file
    in_debian "$toolchain" cat "/build/$file" </dev/null >"$package_file.new"
    mv "$package_file.new" "$package_file"
    exec {package_lock}>&-
    say "$file: $(stat -c %s "$package_file") bytes, $(dpkg-deb -f "$package_file" Installed-Size) KiB installed," \
        "$((SECONDS - started)) s"
}
