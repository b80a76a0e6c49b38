"""Lamps and the button on simulated GPIO chips: what a finger does and what lamps show, sampled from the lines and compared
with the table that `bitgate panel --json` prints. The daemon runs as a user of its own with the one right its unit gives.

The panel's chip is the third that was made and the first is gone again, so that neither number nor order tells which it is.
"""

import shutil
import subprocess
import sys
import time

from board import PATTERNS, Box, Button, Chip, Lamp, fits
from stage import Broken, Group, Person, air, eventually

group = Group()
promise = group.promise
cast = {}
PANEL = "".join(
    f'panel.{name} = "vm-gpio2:{line}"\n' for name, line in
    {"status": 5, "mesh": 6, "internet": 7, "button": 9}.items()) + 'panel.mail = "vm-late:1"\n'


def setup():
    first, third = Chip("vm-gpio0"), Chip("vm-gpio2")
    first.remove()
    cast.update(
        chip=third, button=Button(third, 9), status=Lamp(third, 5), mesh=Lamp(third, 6), internet=Lamp(third, 7))


def box():
    return cast["box"]


DIRECT = 'network.tor = "off"\nclock.trust_system = true\n'


@promise()
def testLinesThatMayNotBeTakenYetAreToldOfAndTakenOnceTheyMay():
    cast["box"] = Box("box", PANEL + DIRECT)
    eventually(lambda: box().attention.count("panel_line") == 5, lambda: str(box().status()))
    if box().panel["button"] != "missing":
        raise Broken(f"{box().panel}")
    cast["chip"].permit()
    eventually(lambda: box().panel.get("button") == "listening", lambda: str(box().panel))
    eventually(lambda: box().attention.count("panel_line") == 1, lambda: str(box().attention))


@promise(needs=[testLinesThatMayNotBeTakenYetAreToldOfAndTakenOnceTheyMay])
def testAChipThatComesLateIsFoundByItsLabel():
    late = Chip("vm-late", 4)
    late.permit()
    eventually(lambda: "panel_line" not in box().attention, lambda: str(box().attention))
    Lamp(late, 1).shows("dark")


@promise(needs=[testLinesThatMayNotBeTakenYetAreToldOfAndTakenOnceTheyMay])
def testTheRightToManageControllersIsAllTheDaemonNeeds():
    eventually(
        lambda: any(a["state"] == "ready" and a["advertising"] for a in box().status()["radio"]["adapters"]),
        lambda: str(box().status()["radio"]))
    held = [line.split()[1] for line in box().proc("status").read_text().split("\n") if line.startswith("CapEff")]
    if int(held[0], 16) != 1 << 12:
        raise Broken(f"it has {held}")


@promise(needs=[testLinesThatMayNotBeTakenYetAreToldOfAndTakenOnceTheyMay])
def testAWellBoxWithoutNeighboursShowsThat():
    cast["status"].shows("well")
    cast["mesh"].shows("silent")
    cast["internet"].shows("silent")


@promise(needs=[testAWellBoxWithoutNeighboursShowsThat])
def testTheMeshLampFollowsTheFrames():
    cast["anna"] = Person("anna", 1)
    eventually(lambda: box().status()["radio"]["links"], lambda: str(box().status()["radio"]))
    cast["mesh"].shows("alive")


@promise(needs=[testAWellBoxWithoutNeighboursShowsThat])
def testATapLightsEveryLamp():
    lamps = [cast["status"], cast["mesh"], cast["internet"]]
    cast["button"].press(0.2)
    eventually(lambda: all(lamp.lit for lamp in lamps), "not every lamp was lit", 1)
    time.sleep(22)
    cast["status"].shows("well")


@promise(needs=[testAWellBoxWithoutNeighboursShowsThat])
def testTheLampFollowsAHoldThatIsNotConfirmed():
    peer = box().status()["peer"]
    cast["button"].down()
    time.sleep(1.1)
    arming = cast["status"].watch(3.6)
    spans = [later - at for (at, _), (later, _) in zip(arming[1:], arming[2:-1])]
    if len(spans) < 10 or spans[-1] > 0.2 or any(then > before + 0.06 for before, then in zip(spans, spans[1:])):
        raise Broken(f"arming: {arming}")
    time.sleep(1)
    armed = cast["status"].watch(1)
    if len(armed) != 2 or not armed[0][1]:
        raise Broken(f"armed: {armed}")
    cast["button"].up()
    time.sleep(0.1)
    confirm = cast["status"].watch(4)
    if not fits(confirm, [span / 1000 for span in PATTERNS["wipe-confirm"]]):
        raise Broken(f"to be confirmed: {confirm}")
    time.sleep(2)
    cast["status"].shows("well")
    if box().status()["peer"] != peer:
        raise Broken("it was wiped")


@promise(needs=[testTheLampFollowsAHoldThatIsNotConfirmed])
def testTheWholeGestureWipesAndTheOutcomeIsShownUntilItWasSeen():
    peer = box().status()["peer"]
    cast["button"].press(6.5)
    time.sleep(1)
    cast["button"].press(2)
    eventually(lambda: box().wipe() == "wiped", lambda: f"{box().wipe()} {box().errors.read_text()[-500:]}")
    if box().status()["peer"] == peer:
        raise Broken("the identity is the old one")
    cast["status"].shows("wiped")
    time.sleep(10)
    cast["button"].press(0.2)
    eventually(lambda: box().wipe() == "none", "the tap did not take it away")
    time.sleep(2)
    cast["status"].shows("well")


@promise(needs=[testTheWholeGestureWipesAndTheOutcomeIsShownUntilItWasSeen])
def testOnAReadOnlyCardTheLampTellsThatTheWipeFailedAndTheRadioIsOff():
    card = [f"{box().home}/state", box().markers]
    for place in card:
        for arguments in (["--bind", place, place], ["-o", "remount,bind,ro", place]):
            subprocess.run(["mount", *arguments], check=True)
    # The third place for a marker is in memory.
    cast["button"].press(6.5)
    time.sleep(1)
    cast["button"].press(2)
    eventually(lambda: box().wipe() == "incomplete", lambda: f"{box().wipe()} {box().errors.read_text()[-500:]}")
    cast["status"].shows("wipe-failed")
    if "advertiser 0" in air("list"):
        raise Broken(air("list"))
    # The second place may stay as it is: nothing of the box is there.
    subprocess.run(["umount", "-l", card[0]], check=True)
    cast["button"].press(6.5)
    time.sleep(1)
    cast["button"].press(2)
    eventually(lambda: box().wipe() == "wiped", lambda: f"{box().wipe()} {box().errors.read_text()[-500:]}")
    subprocess.run(["umount", "-l", card[1]], check=True)
    box().stop()


@promise(needs=[testOnAReadOnlyCardTheLampTellsThatTheWipeFailedAndTheRadioIsOff])
def testWhatAKilledBoxLeftOnTheAirIsTakenDownByAWipeThatCannotBeCompleted():
    cast["box"] = Box("killed", PANEL + DIRECT)
    eventually(lambda: "advertiser 0" in air("list"), lambda: air("list"))
    box().process.kill()
    box().process.wait()
    if "advertiser 0" not in air("list"):
        raise Broken("the kernel does not advertise on, so that this shows nothing")
    # A marker nobody can remove.
    stuck = box().home / "state/wiping"
    (stuck / "x").mkdir(parents=True)
    cast["box"] = Box("killed", PANEL + DIRECT)
    eventually(lambda: box().wipe() == "incomplete", lambda: f"{box().wipe()} {box().errors.read_text()[-500:]}")
    if "advertiser 0" in air("list"):
        raise Broken(air("list"))
    cast["status"].shows("wipe-failed")
    shutil.rmtree(stuck)
    cast["button"].press(6.5)
    time.sleep(1)
    cast["button"].press(2)
    eventually(lambda: box().wipe() == "wiped", lambda: f"{box().wipe()} {box().errors.read_text()[-500:]}")
    eventually(lambda: "advertiser 0" in air("list"), lambda: air("list"))
    box().stop()


@promise(needs=[testWhatAKilledBoxLeftOnTheAirIsTakenDownByAWipeThatCannotBeCompleted])
def testABoxWithoutTimeAndWithoutTorSaysSo():
    cast["box"] = Box("waiting", PANEL + 'network.socks = "unix:/run/nowhere"\nnetwork.control = "none"\n')
    cast["status"].shows("waiting-for-time")
    cast["internet"].shows("waiting-for-time")
    box().stop()
    cast["box"] = Box(
        "torless", PANEL + 'clock.trust_system = true\nnetwork.socks = "unix:/run/nowhere"\nnetwork.control = "none"\n')
    cast["internet"].shows("tor-unreachable")
    cast["status"].shows("well")


@promise(needs=[testABoxWithoutTimeAndWithoutTorSaysSo])
def testAnAdapterThatIsTakenAwayIsAFaultUntilItIsBack():
    air("unplug 0")
    cast["status"].shows("fault", 90)
    air("plug 0")
    cast["status"].shows("well", 90)
    box().stop()
    if any(lamp.lit for lamp in (cast["status"], cast["mesh"], cast["internet"])):
        raise Broken("a lamp is still lit")


@promise(needs=[testAnAdapterThatIsTakenAwayIsAFaultUntilItIsBack])
def testAButtonPressedFromTheStartIsToldOfAndDoesNotWipe():
    cast["chip"].permit()
    cast["button"].down()
    # A simulated line with a pull of its own would be let go of by it.
    cast["box"] = Box("stuck", PANEL + 'panel.button_bias = "none"\n' + DIRECT)
    eventually(lambda: box().panel.get("button") == "stuck", lambda: str(box().status()))
    if "panel_button_stuck" not in box().attention:
        raise Broken(f"{box().attention}")
    time.sleep(8)
    cast["button"].up()
    eventually(lambda: box().panel.get("button") == "listening", lambda: str(box().panel))
    if box().wipe() != "none":
        raise Broken(f"{box().wipe()}")


setup()
group.play(sys.argv[1:])
