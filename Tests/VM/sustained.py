"""Two gateways and two people talk for so many minutes: memory and descriptors stay, and no public message is lost.

The argument is how many minutes, to which warming up is added; the names of the promises may follow. BITGATE_FILLED names
a folder that fill.py made: then what gateways remember of messages is full from the start."""

import os
import shutil
import sys
import time

from stage import SCRATCH, Broken, Gate, Group, Person, air, eventually

MINUTES = float(sys.argv[1]) if len(sys.argv) > 1 else 2
# Before the first measurement everything bounded is filled that a conversation fills at all: history holds 1,000
# messages, the display remembers 2,000.
WARMING = 2_100
BATCH = 20
# Lines a second meanwhile, of both, in even batches. A gateway hands on 15 packets a second of what one link brings in; what
# is more waits, while a sync round is answered, for the next round, and 1,000 messages later it is forgotten.
PACE = 20
# Then the measured pace for so many seconds, until what the batches took is given back.
SETTLING = 180
GROWTH = 0.02

group = Group()
table = []
lost = []


def is_settled(gate, links):
    """Whether it has the links it is to have, and calls nobody: then each has its descriptor, and there is no other."""
    radio = (gate.status() or {}).get("radio") or {}
    return len(radio.get("links", [])) == links and not any(each["connecting"] for each in radio["adapters"])


def sample(programs, start, said):
    for gate in programs[:2]:
        eventually(lambda: is_settled(gate, 2), lambda: f"{gate.output.stem} has {gate.links}")
    row = [time.monotonic() - start, said]
    for program in programs:
        row += [program.resident, program.descriptors]
    table.append(row)
    cells = "  ".join(f"{value:>8}" for value in row[2:])
    print(f"{row[0] / 60:7.1f} {said:7} {cells}", file=sys.stderr, flush=True)


@group.promise()
def testPeopleTalkForMinutesWithoutALostMessage():
    air("range * * off")
    for near, far in ((2, 0), (0, 1), (1, 3)):
        air(f"range {near} {far} on")
    if filled := os.environ.get("BITGATE_FILLED"):
        for name in ("gate", "booth"):
            shutil.copytree(f"{filled}/{name}", SCRATCH / name)
    gates = [Gate("gate", 0), Gate("booth", 1)]
    people = [Person("anna", 2), Person("bob", 3)]
    people[0].knows("bob")
    people[1].knows("anna")
    names = [program.output.stem for program in gates + people]
    print(f"{'minute':>7} {'said':>7} " + "  ".join(f"{name:>4} KiB  {'files':>8}" for name in names), file=sys.stderr)
    said = 0

    def say():
        nonlocal said
        # Short lines, and now and then one that travels in fragments.
        people[said % 2].types(f"line {said}" + (" words" * 200 if said % 20 == 19 else ""))
        said += 1

    start = time.monotonic()
    while said < WARMING:
        began = time.monotonic()
        for _ in range(BATCH):
            say()
        people[1].hears("anna", f"line {said - 2}")
        people[0].hears("bob", f"line {said - 1}" + " words" * 200)
        time.sleep(max(0, began + BATCH / PACE - time.monotonic()))
    print(f"warm after {time.monotonic() - start:.0f} s", file=sys.stderr)
    last_drop = time.monotonic()
    start = last_drop + SETTLING
    sampled = None
    while time.monotonic() - start < MINUTES * 60:
        say()
        now = time.monotonic()
        if now >= start and (sampled is None or now - sampled >= max(5, MINUTES * 2)):
            sampled = now
            sample(gates + people, start, said)
        if now - last_drop >= 120:
            # A link ends, as links do; what was said meanwhile comes with the history.
            last_drop = now
            air("drop 0 1")
        time.sleep(1)
    wanted = [(people[1 - number % 2], f"<{people[number % 2].name}> line {number}") for number in range(said)]

    def arrived():
        heard = {person: {" ".join(line.split(" ", 3)[:3]) for line in person.lines} for person in people}
        lost[:] = [line for person, line in wanted if line not in heard[person]]
        return not lost

    eventually(arrived, lambda: f"{len(lost)} of {said} are lost: {lost[:5]}", 180)
    sample(gates + people, start, said)
    print(f"{said} lines said, {len(lost)} lost", file=sys.stderr)


@group.promise(needs=[testPeopleTalkForMinutesWithoutALostMessage])
def testMemoryAndDescriptorsStayAsTheyAre():
    first, rest = table[0], table[1:]
    if not rest:
        raise Broken("too short to tell")
    last = rest[len(rest) // 2:]
    for place in range(2, len(first), 2):
        most = max(row[place] for row in last)
        if most > first[place] * (1 + GROWTH):
            raise Broken(f"memory of process {place // 2} grew from {first[place]} to {most} KiB")
    for place in range(3, len(first), 2):
        if max(row[place] for row in last) > first[place]:
            raise Broken(f"descriptors of process {place // 2} grew from {first[place]} to {last[-1][place]}")


if __name__ == "__main__":
    group.play(sys.argv[2:])
