#!/usr/bin/env bash
# Draws docs/wiring.svg: where lamps and button go on the 40-pin header. The lines are those of panel.wiring = "header". The
# lamps have the colours of LEDs that 3.3 volts light: no blue, no white.
#
#   deploy/lib/wiring.sh >docs/wiring.svg
set -euo pipefail

odd=(3V3 GPIO2 GPIO3 GPIO4 GND GPIO17 GPIO27 GPIO22 3V3 GPIO10 GPIO9 GPIO11 GND GPIO0 GPIO5 GPIO6 GPIO13 GPIO19 GPIO26 GND)
even=(5V 5V GND GPIO14 GPIO15 GPIO18 GND GPIO23 GPIO24 GND GPIO25 GPIO8 GPIO7 GPIO1 GND GPIO12 GND GPIO16 GPIO20 GPIO21)

text() { printf '<text x="%s" y="%s" text-anchor="%s"%s>%s</text>\n' "$1" "$2" "$3" "${5:+ font-weight=\"bold\"}" "$4"; }
wire() { printf '<polyline points="%s" fill="none" stroke="%s" stroke-width="2.5"/>\n' "$1" "$2"; }
# A resistor and an LED, from x on in direction d (1 right, -1 left), at height y.
lamp() {
    local x=$1 y=$2 d=$3 colour=$4
    printf '<rect x="%s" y="%s" width="34" height="12" fill="#fff" stroke="#333"/>\n' $((d > 0 ? x : x - 34)) $((y - 6))
    printf '<polygon points="%s,%s %s,%s %s,%s" fill="%s" stroke="#333"/>\n' \
        $((x + d * 60)) $((y - 9)) $((x + d * 60)) $((y + 9)) $((x + d * 78)) "$y" "$colour"
    printf '<path d="M%s,%sv18" stroke="#333" stroke-width="2"/>\n' $((x + d * 78)) $((y - 9))
    wire "$((x + d * 34)),$y $((x + d * 60)),$y" '#333'
}

cat <<'S'
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 560" font-family="sans-serif" font-size="12">
<title>Lamps and button on the 40-pin header</title>
<rect width="760" height="560" fill="#fff"/>
<rect x="330" y="30" width="100" height="500" rx="6" fill="#2f6f4f"/>
S
for row in {0..19}; do
    y=$((52 + row * 24))
    for side in 0 1; do
        if [ $side = 0 ]; then name=${odd[row]} x=362; else name=${even[row]} x=398; fi
        case $name in
            GPIO17 | GPIO27 | GPIO22 | GPIO23 | GPIO24) colour='#ffd24a' ;;
            GND) colour='#222' ;;
            3V3 | 5V) colour='#d9534f' ;;
            *) colour='#cfd8d3' ;;
        esac
        printf '<circle cx="%s" cy="%s" r="10" fill="%s" stroke="#111"/>\n' "$x" "$y" "$colour"
    done
done
# Left: status, mesh, internet on pins 11, 13, 15; ground on pin 9.
wire "50,148 360,148" '#222'
wire "50,148 50,220" '#222'
number=0
for entry in status:172:#4caf50 mesh:196:#fbc02d internet:220:#ff9800; do
    IFS=: read -r name y colour <<<"$entry"
    number=$((number + 1))
    wire "360,$y 230,$y" "$colour"
    lamp 230 "$y" -1 "$colour"
    wire "152,$y 50,$y" '#222'
    text 240 $((y - 5)) start "$name" bold
done
text 56 142 start 'ground, pin 9'
text 40 250 start 'each lamp: 470 Ω to 1 kΩ, then the LED,'
text 40 266 start 'its short leg to ground'
# Right: mail on pin 16, button on pin 18, grounds on 14 and 20.
wire "400,196 700,196 700,220 " '#222'
wire "400,220 530,220" '#f44336'
lamp 530 220 1 '#f44336'
wire "608,220 700,220" '#222'
text 520 214 end 'mail' bold
text 694 190 end 'ground, pin 14'
wire "400,244 480,244 480,310 560,310" '#7e57c2'
wire "400,268 460,268 460,350 640,350 640,310 610,310" '#222'
cat <<'S'
<circle cx="560" cy="310" r="4" fill="#fff" stroke="#333" stroke-width="2"/>
<circle cx="610" cy="310" r="4" fill="#fff" stroke="#333" stroke-width="2"/>
<path d="M560,300h50M585,300v-8M573,292h24" stroke="#333" stroke-width="2" fill="none"/>
S
text 490 302 start 'button' bold
text 634 366 end 'ground, pin 20'
for row in {0..19}; do
    for side in 0 1; do
        if [ $side = 0 ]; then name=${odd[row]} x=362; else name=${even[row]} x=398; fi
        case $name in GND) colour='#fff' ;; *) colour='#111' ;; esac
        printf '<text x="%s" y="%s" text-anchor="middle" font-size="10" fill="%s">%s</text>\n' \
            "$x" $((56 + row * 24)) "$colour" $((row * 2 + side + 1))
    done
done
text 380 546 middle 'pin 1 is the corner next to the card, odd pins are on the inner side; on a 400 the header is on the back'
text 444 58 start '3.3 V and 5 V (red): never to'
text 444 74 start 'a pin of a lamp or the button'
echo '</svg>'
