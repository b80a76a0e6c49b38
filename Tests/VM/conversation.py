"""Two gateways and two people on four controllers, a phone's system on a fifth, another stack altogether on a sixth.

Everybody reaches only the next at first: anna - gate - booth - bob."""

import random
import subprocess
import sys

import systems
from stage import PATIENCE, Broken, Gate, Group, Person, air, eventually

group = Group()
promise = group.promise
cast = {}

# The adapter that appears when bumble brings its own controllers; the booth is told of it from the start.
SECOND = 6


def stand_in_line(callers):
    """Puts the four in a line, in which of each two neighbours only the first of `callers` takes notice of the other."""
    air("range * * off")
    for gate in (cast["gate"], cast["booth"]):
        eventually(lambda: not gate.links, lambda: f"links out of reach stay: {gate.links}")
    for caller, called in callers:
        air(f"hears {caller} {called} on")
        air(f"hears {called} {caller} off")
        air(f"range {caller} {called} on")


def long_text(size):
    """Text that compression can make little of, of so many bytes."""
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_" + "äöüßéèçñøå"
    text, used = [], 0
    generator = random.Random(size)
    while used < size - 1:
        text.append(generator.choice(letters))
        used += len(text[-1].encode())
    return "".join(text) + "." * (size - used)


def talk(round_name):
    anna, bob = cast["anna"], cast["bob"]
    anna.types(f"good morning, {round_name}")
    bob.hears("anna", f"good morning, {round_name}")
    bob.types(f"and to you, {round_name}")
    anna.hears("bob", f"and to you, {round_name}")


@promise()
def testPeopleTalkAcrossTwoGatewaysThatTheyCallThemselves():
    air("range * * off")
    cast["gate"], cast["booth"] = Gate("gate", 0), Gate("booth", 1, SECOND)
    cast["anna"], cast["bob"] = Person("anna", 2), Person("bob", 3)
    stand_in_line([(2, 0), (3, 1), (0, 1)])
    cast["anna"].knows("bob")
    cast["bob"].knows("anna")
    talk("called")
    roles = cast["gate"].roles, cast["booth"].roles
    if roles != (["incoming", "outgoing"], ["incoming", "incoming"]):
        raise Broken(f"roles: {roles}")


@promise(needs=[testPeopleTalkAcrossTwoGatewaysThatTheyCallThemselves])
def testPrivateMessagesArriveWithTheirReceiptsAcrossTwoGateways():
    anna, bob = cast["anna"], cast["bob"]
    anna.types("/msg bob the key is under the stone")
    bob.sees("[private] <anna> the key is under the stone")
    for state in ("sent", "delivered", "read"):
        anna.sees(f"* 1 to bob: {state}")
    bob.types("/msg anna I have it")
    anna.sees("[private] <bob> I have it")


@promise(needs=[testPeopleTalkAcrossTwoGatewaysThatTheyCallThemselves])
def testMessagesOf64KiBArriveInFragmentsAcrossTwoGateways():
    anna, bob = cast["anna"], cast["bob"]
    text = long_text(65_535)
    anna.types(text)
    bob.hears("anna", text, 2 * PATIENCE)
    text = long_text(30_000)
    bob.types(text)
    anna.hears("bob", text, 2 * PATIENCE)


@promise(needs=[testPeopleTalkAcrossTwoGatewaysThatTheyCallThemselves])
def testPeopleTalkAcrossTwoGatewaysThatCallThem():
    stand_in_line([(0, 2), (1, 3), (1, 0)])
    anna, bob = cast["anna"], cast["bob"]
    eventually(
        lambda: (cast["gate"].roles, cast["booth"].roles) == (["incoming", "outgoing"], ["outgoing", "outgoing"]),
        lambda: f"roles: {cast['gate'].roles}, {cast['booth'].roles}")
    talk("calling")
    anna.types("/msg bob still the same stone")
    bob.sees("[private] <anna> still the same stone")


@promise(needs=[testPeopleTalkAcrossTwoGatewaysThatTheyCallThemselves])
def testEverybodyInReachOfEverybodyHearsEachLineOnce():
    air("reset")
    for gate in (cast["gate"], cast["booth"]):
        eventually(lambda: len(gate.links) >= 3, lambda: f"links: {gate.roles}")
    talk("all together")
    for person, line in ((cast["anna"], "<bob> and to you, all together"), (cast["bob"], "<anna> good morning, all together")):
        if person.lines.count(line) != 1:
            raise Broken(f"{person.name} saw it {person.lines.count(line)} times")


@promise(needs=[testPeopleTalkAcrossTwoGatewaysThatTheyCallThemselves])
def testAPhonesOwnSystemDiscoversSubscribesWritesAndReadsNotifications():
    systems.meet(systems.bleak_phone(4), cast["anna"], cast["bob"])


@promise(needs=[testPeopleTalkAcrossTwoGatewaysThatTheyCallThemselves])
def testAnIndependentStackIsCalledByTheBox():
    cast["system"].process.kill()  # not a signal on which it would switch everybody's adapters off
    systems.meet(systems.bumble_phone("5", "peripheral", "bix"), cast["anna"], cast["bob"])


@promise(needs=[testPeopleTalkAcrossTwoGatewaysThatTheyCallThemselves])
def testAnIndependentStackDownToTheControllerIsMetOnASecondAdapter():
    if [adapter["state"] for adapter in cast["booth"].adapters] != ["ready", "absent"]:
        raise Broken(f"adapters: {cast['booth'].adapters}")
    systems.meet(systems.bumble_phone("own", "central", "bo"), cast["anna"], cast["bob"])


@promise(needs=[testPeopleTalkAcrossTwoGatewaysThatTheyCallThemselves])
def testGatewaysAndPeopleLeaveInOrder():
    for person in (cast["anna"], cast["bob"]):
        person.types("/quit")
        if person.process.wait(60):
            raise Broken(f"{person.name} ended with {person.process.returncode}: {person.errors.read_text()}")
    for gate in (cast["gate"], cast["booth"]):
        if status := gate.stop():
            raise Broken(f"the gateway ended with {status}: {gate.errors.read_text()}")
    left = subprocess.run(["vair", "-c", "list"], capture_output=True, text=True).stdout
    if any(line.startswith(("advertiser 0", "advertiser 1")) for line in left.split("\n")):
        raise Broken(f"still advertised: {left}")


if __name__ == "__main__":
    cast["system"] = systems.start_system_bluetooth()
    group.play(sys.argv[1:])
