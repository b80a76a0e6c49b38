"""The whole of it: a box with lamps and a button, phones that do not hear each other, a real relay and a second venue. They
talk through the box; the button is pressed; the box is wiped; the phones see a new relay that nobody knows.

Controllers: 0 the box, 1 alice and 2 adam beside it, 3 the other venue's gateway, 4 bella beside that."""

import re
import sys
import time

from board import Box, Button, Chip, Lamp
from stage import PATIENCE, PROGRAMS, ROOT, Broken, Gate, Group, Person, Program, air, eventually

group = Group()
promise = group.promise
cast = {}
CELL = "u4pruy"


class Guest(Person):
    """Somebody whose messages may go over the bridge."""

    def __init__(self, name, controller):
        self.name = name
        Program.__init__(self, name, [
            f"{PROGRAMS}/bitgate", "chat", "--radio", f"hci{controller}", "--nick", name, "--bridge", "on"])

    def hears_text(self, text, seconds=PATIENCE):
        eventually(
            lambda: any(line.endswith(f"> {text}") for line in self.lines),
            lambda: f"{self.name} did not hear {text!r} but {self.lines[-8:]}; {self.errors.read_text()[-300:]}", seconds)


def box():
    return cast["box"]


@promise()
def testPhonesTalkThroughTheBoxAndThroughTheRelay():
    relay = Program("relay", [sys.executable, str(ROOT / "deploy/lib/relay.py"), "rust", "0"])
    address = eventually(
        lambda: next((line[6:] for line in relay.lines if line.startswith("ready ")), None),
        lambda: relay.errors.read_text()[-500:])
    air("range * * off")
    for pair in ((0, 1), (0, 2), (3, 4)):
        air(f"range {pair[0]} {pair[1]} on")
    chip = Chip("vm-gpio0")
    chip.permit()
    cast.update(button=Button(chip, 9), status=Lamp(chip, 5))
    place = (
        f'location.cell = "{CELL}"\nnostr.relays = ["{address}"]\nnetwork.tor = "off"\nclock.trust_system = true\n')
    cast["box"] = Box("box", f'nickname = "gate-a"\npanel.status = "vm-gpio0:5"\npanel.button = "vm-gpio0:9"\n{place}')
    cast["other"] = Gate("gate-b", 3, more=f'location.cell = "{CELL}"\nnostr.relays = ["{address}"]')
    for name, controller in (("alice", 1), ("adam", 2), ("bella", 4)):
        cast[name] = Guest(name, controller)
    cast["alice"].knows("adam")
    cast["adam"].knows("alice")
    for name in ("alice", "adam", "bella"):
        eventually(
            lambda: any(line.startswith("* bridge: ") for line in cast[name].lines), lambda: f"{name} found no bridge")
    for gate in (box(), cast["other"]):
        eventually(
            lambda: any(relay["state"] == "connected" for relay in gate.status()["network"]["relays"]),
            lambda: str(gate.status()["network"]))
    cast["alice"].types("the north gate is open")
    cast["adam"].hears_text("the north gate is open")
    cast["bella"].hears_text("the north gate is open")
    cast["bella"].types("on our way")
    cast["alice"].hears_text("on our way")
    cast["adam"].hears_text("on our way")
    cast["status"].shows("without-tor")


@promise(needs=[testPhonesTalkThroughTheBoxAndThroughTheRelay])
def testTheButtonWipesTheBox():
    cast["peer"] = box().status()["peer"]
    cast["button"].press(6.5)
    time.sleep(1)
    cast["button"].press(2)
    eventually(lambda: box().wipe() == "wiped", lambda: f"{box().wipe()} {box().errors.read_text()[-500:]}")
    cast["status"].shows("wiped")
    status = box().status()
    if status["peer"] == cast["peer"] or not re.fullmatch(r"anon\d{4}", status["nickname"]):
        raise Broken(f"{status['peer']} {status['nickname']}")
    if status["gateway"]["enabled"] or status["bridge"]["enabled"] or status["network"]["relays"]:
        raise Broken(f"it still knows a place or relays: {status}")
    for name in ("gate-a", CELL):
        for path in box().home.rglob("*"):
            if path.is_file() and name.encode() in path.read_bytes():
                raise Broken(f"{path} holds {name}")
    cast["name"] = status["nickname"]


@promise(needs=[testTheButtonWipesTheBox])
def testPhonesSeeANewAnonymousRelayAndTalkThroughIt():
    for name in ("alice", "adam"):
        cast[name].knows(cast["name"], seconds=2 * PATIENCE)
    cast["alice"].types("does anybody hear me still?")
    cast["adam"].hears_text("does anybody hear me still?", 2 * PATIENCE)
    cast["bella"].types("and does anybody hear me?")
    time.sleep(15)
    if any(line.endswith("> and does anybody hear me?") for line in cast["alice"].lines):
        raise Broken("the box is a bridge still")


group.play()
