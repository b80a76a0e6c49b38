"""Two gateways and two people on four controllers, a phone's system on a fifth, another stack altogether on a sixth.

Everybody reaches only the next at first: anna - gate - booth - bob."""

import random
import re
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


ASCII = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"


def long_text(size, salt, letters=ASCII + "äöüßéèçñøå"):
    """Text that compression can make little of, of so many bytes."""
    text, used = [], 0
    generator = random.Random(salt)
    while used < size - 1:
        text.append(generator.choice(letters))
        used += len(text[-1].encode())
    return "".join(text) + "." * (size - used)


def write_privately(sender, receiver, text):
    """Arrives in pieces of 255 bytes, the longest a private message may be, and each is said to be sent and read. Where
    the second receipt overtakes the first, nobody says any more that it was delivered."""
    pieces = [text[at:at + 255] for at in range(0, len(text), 255)]

    def receipts():
        return [
            sum(bool(re.fullmatch(rf"\* \d+ to {receiver.name}: {state}", line)) for line in sender.lines)
            for state in ("sent", "read", "delivered")]

    before = receipts()
    sender.types(f"/msg {receiver.name} {text}")
    for piece in pieces:
        receiver.sees(f"[private] <{sender.name}> {piece}")
    eventually(
        lambda: [now - then for now, then in zip(receipts(), before)][:2] == [len(pieces)] * 2,
        lambda: f"receipts for {len(pieces)} to {receiver.name}: {before}, then {receipts()}")
    if len(pieces) > 1 and receipts()[2] == before[2]:
        raise Broken("nothing was said to be delivered")


def converse(round_name):
    """Everything people can say to each other, each way."""
    anna, bob = cast["anna"], cast["bob"]
    talk(round_name)
    for sender, receiver in ((anna, bob), (bob, anna)):
        write_privately(sender, receiver, f"the key is under the stone, {round_name}")
        # The longest text that is written privately, in sixteen messages.
        write_privately(sender, receiver, long_text(4_080, f"{sender.name} {round_name}", ASCII))
        text = long_text(65_535, f"{sender.name} {round_name}")
        sender.types(text)
        receiver.hears(sender.name, text, 2 * PATIENCE)


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
    roles = cast["gate"].roles, cast["booth"].roles
    if roles != (["incoming", "outgoing"], ["incoming", "incoming"]):
        raise Broken(f"roles: {roles}")
    talk("on the way")


@promise(needs=[testPeopleTalkAcrossTwoGatewaysThatTheyCallThemselves])
def testPublicPrivateAndLongMessagesArriveWherePeopleCallTheirGateways():
    converse("called")


@promise(needs=[testPeopleTalkAcrossTwoGatewaysThatTheyCallThemselves])
def testPeopleTalkAcrossTwoGatewaysThatCallThem():
    stand_in_line([(0, 2), (1, 3), (1, 0)])
    eventually(
        lambda: (cast["gate"].roles, cast["booth"].roles) == (["incoming", "outgoing"], ["outgoing", "outgoing"]),
        lambda: f"roles: {cast['gate'].roles}, {cast['booth'].roles}")
    talk("the other way round")


@promise(needs=[testPeopleTalkAcrossTwoGatewaysThatCallThem])
def testPublicPrivateAndLongMessagesArriveWhereGatewaysCallPeople():
    converse("calling")


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
