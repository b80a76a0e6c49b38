# shellcheck shell=sh
# Shows the box's status at login to users who may ask for it. Unlike a message of the day, it is stored nowhere.
case $- in
    *i*)
        if { [ -x /run/bitgate ] || [ "$(id -u)" = 0 ]; } && command -v bitgate >/dev/null; then
            timeout 3 bitgate status 2>&1 || echo "See also: systemctl status bitgated"
        fi
        ;;
esac
