"""Fills what two gateways remember of messages, over virtual air on this machine. Whoever starts them afterwards from the
folders that this leaves, over any radio, finds them as they are after hours of talk.

    fill.py FOLDER

FOLDER/gate and FOLDER/booth are their state directories. BITGATE_PROGRAMS is the folder with bitgated and bitgate.
"""

import json
import pathlib
import subprocess
import sys
import time

from stage import PROGRAMS

GATES = ("gate", "booth")
PEOPLE = ("anna", "bob", "carol", "dave")
# A gateway remembers 32,768 messages by their IDs once it has let go of them, and holds 1,000.
MESSAGES = 34_000
# Lines a second: more than people say, less than a gateway takes from so many neighbours.
PACE = 240


def configure(folder, name):
    file = folder / f"{name}.toml"
    file.write_text(
        f'nickname = "{name}"\nstate_directory = "{folder}/{name}"\ncontrol_socket = "{folder}/{name}.socket"\n'
        f'radio.kind = "air"\nair.room = "{folder}/room"\nnetwork.tor = "off"\nnostr.use_builtin_relays = false\n'
        "clock.trust_system = true\n")
    return file


def delivered(folder, name):
    done = subprocess.run(
        [f"{PROGRAMS}/bitgate", "counters", "--json", "--socket", f"{folder}/{name}.socket"], capture_output=True, text=True)
    return json.loads(done.stdout)["counters"]["mesh"]["messages_delivered"] if done.returncode == 0 else 0


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    gates = [
        subprocess.Popen([f"{PROGRAMS}/bitgated", "--config", configure(folder, name)], stderr=subprocess.DEVNULL)
        for name in GATES
    ]
    people = [
        subprocess.Popen(
            [f"{PROGRAMS}/bitgate", "chat", "--room", folder / "room", "--name", name],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        for name in PEOPLE
    ]
    said, least, shown = 0, 0, 0
    try:
        while least < MESSAGES:
            time.sleep(1)
            for _ in range(PACE):
                people[said % len(people)].stdin.write(f"line {said}\n".encode())
                said += 1
            for person in people:
                person.stdin.flush()
            if said - shown >= 20 * PACE:
                shown, before = said, least
                least = min(delivered(folder, name) for name in GATES)
                print(f"{least} of {MESSAGES} messages", file=sys.stderr, flush=True)
                if least <= before:
                    sys.exit("nothing arrives any more")
    finally:
        for program in people + gates:
            program.terminate()
    sys.exit(max(gate.wait(60) for gate in gates))


if __name__ == "__main__":
    main()
