# shellcheck shell=sh
# What the box is doing, at every login: of those who may ask it. Nothing of it is kept, as a message of the day would be.
case $- in
    *i*)
        if { [ -x /run/bitgate ] || [ "$(id -u)" = 0 ]; } && command -v bitgate >/dev/null; then
            timeout 3 bitgate status 2>&1 || echo "See also: systemctl status bitgated"
        fi
        ;;
esac
