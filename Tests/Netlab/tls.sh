#!/usr/bin/env bash
# Certificates good and bad, from an authority of their own, for the tests of TLS.
#
#   tls.sh DIR [NAME…]      writes DIR/ca.pem, and DIR/KIND.pem and DIR/KIND.key for each kind
#
# NAMEs are the hosts of the good ones; relay.test, *.relay.test, localhost and 127.0.0.1 by default.
#
#   good, rsa    to be accepted by whoever trusts ca.pem
#   nochain      good, but sent without the certificate of its issuer
#   wronghost    for other.example
#   cnonly       its host only in the subject's common name
#   expired      since yesterday            future   from tomorrow on
#   selfsigned                              otherca  same issuer name, another key
#   usage        for clients only           weak     RSA key of 1024 bits
#
# Needs openssl. Exit status: 0 all written, 1 something failed.
set -euo pipefail
umask 077

[ $# -ge 1 ] || { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- relay.test '*.relay.test' localhost 127.0.0.1
host=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

hosts=
for name in "$@"; do
    case $name in
        *[!0-9.]*) hosts+=,DNS:$name ;;
        *) hosts+=,IP:$name ;;
    esac
done
hosts=${hosts#,}

key() { # FILE ALGORITHM OPTION
    openssl genpkey -quiet -algorithm "$2" -pkeyopt "$3" -out "$1" 2>/dev/null ||
        openssl genpkey -algorithm "$2" -pkeyopt "$3" -out "$1" 2>/dev/null
}

# certify NAME COMMON_NAME ISSUER FROM UNTIL EXTENSION…: signs work/NAME.pem. `openssl ca` is the only command of
# OpenSSL 3.0 that sets both dates.
certify() {
    local name=$1 subject=$2 issuer=$3 from=$4 until=$5
    shift 5
    printf '%s\n' "$@" >"$work/extensions"
    : >"$work/index"
    openssl rand -hex 16 >"$work/serial"
    cat >"$work/settings" <<SETTINGS
[ca]
default_ca = this
[this]
database = $work/index
serial = $work/serial
new_certs_dir = $work
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
SETTINGS
    openssl req -new -key "$work/$name.key" -subj "/CN=$subject" -out "$work/request"
    local signer=(-cert "$work/$issuer.pem" -keyfile "$work/$issuer.key")
    [ "$name" != "$issuer" ] || signer=(-selfsign -keyfile "$work/$name.key")
    openssl ca -batch -notext -config "$work/settings" "${signer[@]}" -in "$work/request" \
        -extfile "$work/extensions" -startdate "$(date -u -d "$from" +%Y%m%d%H%M%SZ)" \
        -enddate "$(date -u -d "$until" +%Y%m%d%H%M%SZ)" -out "$work/$name.pem" 2>"$work/log" ||
        { cat "$work/log" >&2; exit 1; }
}

authority=('basicConstraints = critical,CA:true' 'keyUsage = critical,keyCertSign,cRLSign' 'subjectKeyIdentifier = hash')
server=('basicConstraints = CA:false' 'keyUsage = critical,digitalSignature' 'extendedKeyUsage = serverAuth')
client=('basicConstraints = CA:false' 'keyUsage = critical,digitalSignature' 'extendedKeyUsage = clientAuth')

for name in root issuer stranger good nochain wronghost cnonly expired future selfsigned otherca usage; do
    key "$work/$name.key" EC ec_paramgen_curve:P-256
done
key "$work/rsa.key" RSA rsa_keygen_bits:2048
key "$work/weak.key" RSA rsa_keygen_bits:1024

certify root 'Test root' root '-40 days' '+3650 days' "${authority[@]}"
certify issuer 'Test issuer' root '-40 days' '+1825 days' "${authority[@]}"
certify stranger 'Test issuer' stranger '-40 days' '+1825 days' "${authority[@]}"
for name in good rsa nochain weak; do
    certify $name "$host" issuer '-1 day' '+90 days' "${server[@]}" "subjectAltName = $hosts"
done
certify wronghost other.example issuer '-1 day' '+90 days' "${server[@]}" 'subjectAltName = DNS:other.example'
certify cnonly "$host" issuer '-1 day' '+90 days' "${server[@]}"
certify expired "$host" issuer '-30 days' '-1 day' "${server[@]}" "subjectAltName = $hosts"
certify future "$host" issuer '+1 day' '+90 days' "${server[@]}" "subjectAltName = $hosts"
certify usage "$host" issuer '-1 day' '+90 days' "${client[@]}" "subjectAltName = $hosts"
certify selfsigned "$host" selfsigned '-1 day' '+90 days' "${server[@]}" "subjectAltName = $hosts"
certify otherca "$host" stranger '-1 day' '+90 days' "${server[@]}" "subjectAltName = $hosts"

cp "$work/root.pem" "$dir/ca.pem"
for name in good rsa nochain wronghost cnonly expired future selfsigned otherca usage weak; do
    cp "$work/$name.key" "$dir/"
    case $name in
        nochain | selfsigned) cat "$work/$name.pem" ;;
        otherca) cat "$work/$name.pem" "$work/stranger.pem" ;;
        *) cat "$work/$name.pem" "$work/issuer.pem" ;;
    esac >"$dir/$name.pem"
done
