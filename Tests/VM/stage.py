"""What a group of radio tests is made of: gateways and people as processes, the air's controls, promises and verdicts.

A group prints one line for each promise, `ok NAME`, `not ok NAME: why` or `left out NAME: why`; the XCTest of that name
repeats the verdict.
"""

import json
import os
import pathlib
import subprocess
import sys
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAMS = os.environ.get("BITGATE_PROGRAMS", str(ROOT / ".build/debug"))
SCRATCH = pathlib.Path("/run/stage")
PATIENCE = 90
started = []


class Broken(Exception):
    """A promise that was not kept."""


def eventually(condition, why, seconds=PATIENCE):
    """Waits until the condition gives something true, and returns that."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise Broken(why() if callable(why) else why)
        time.sleep(0.1)
    return value


def air(command):
    done = subprocess.run(["vair", "-c", command], capture_output=True, text=True)
    if done.returncode:
        raise Broken(f"air: {command}: {done.stdout}{done.stderr}")
    return done.stdout


class Program:
    """A process with its outputs in files."""

    def __init__(self, name, arguments):
        SCRATCH.mkdir(exist_ok=True)
        self.output, self.errors = SCRATCH / f"{name}.out", SCRATCH / f"{name}.err"
        with open(self.output, "w") as output, open(self.errors, "w") as errors:
            self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=output, stderr=errors)
        started.append(self)

    @property
    def lines(self):
        return self.output.read_text(errors="replace").split("\n")

    def proc(self, file):
        return pathlib.Path(f"/proc/{self.process.pid}/{file}")

    @property
    def resident(self):
        """KiB."""
        return int([line for line in self.proc("status").read_text().split("\n") if line.startswith("VmRSS")][0].split()[1])

    @property
    def descriptors(self):
        return len(os.listdir(self.proc("fd")))

    def stop(self):
        self.process.terminate()
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Broken(f"{self.output.stem} did not stop")


class Gate(Program):
    """A bitgated on one or more controllers."""

    def __init__(self, name, *controllers, more=""):
        SCRATCH.mkdir(exist_ok=True)
        self.socket = str(SCRATCH / f"{name}.socket")
        self.configuration = SCRATCH / f"{name}.toml"
        adapters = ", ".join(f'"hci{number}"' for number in controllers)
        self.configuration.write_text(
            f'nickname = "{name}"\nstate_directory = "{SCRATCH}/{name}"\ncontrol_socket = "{self.socket}"\n'
            f'radio.kind = "bluetooth"\nradio.adapters = [{adapters}]\nnetwork.tor = "off"\n'
            f'nostr.use_builtin_relays = false\nclock.trust_system = true\n{more}\n')
        super().__init__(name, [f"{PROGRAMS}/bitgated", "--config", str(self.configuration)])
        eventually(self.status, lambda: f"{name} does not answer: {self.errors.read_text()[-500:]}")

    def ask(self, command):
        done = subprocess.run(
            [f"{PROGRAMS}/bitgate", command, "--json", "--socket", self.socket], capture_output=True, text=True)
        if done.returncode:
            return None
        answer = json.loads(done.stdout)
        return answer.get(command, answer)

    def status(self):
        return self.ask("status")

    @property
    def adapters(self):
        return ((self.status() or {}).get("radio") or {}).get("adapters") or []

    @property
    def links(self):
        return ((self.status() or {}).get("radio") or {}).get("links") or []

    @property
    def roles(self):
        return sorted(link["role"] for link in self.links)

    def counted(self, group, *names):
        """Counters of one group, together; all of it without a name."""
        counters = self.ask("counters")[group]
        return sum(counters[name] for name in names or counters)


class Person(Program):
    """A bitgate chat on a controller."""

    def __init__(self, name, controller):
        self.name = name
        super().__init__(name, [f"{PROGRAMS}/bitgate", "chat", "--radio", f"hci{controller}", "--nick", name])

    def types(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def sees(self, line, seconds=PATIENCE):
        eventually(
            lambda: line in self.lines,
            lambda: f"{self.name} did not see {line[:80]!r} but {[seen[:80] for seen in self.lines[-8:]]}; "
            + self.errors.read_text()[-300:], seconds)

    def hears(self, whom, text, seconds=PATIENCE):
        self.sees(f"<{whom}> {text}", seconds)

    def knows(self, *names, seconds=PATIENCE):
        for name in names:
            self.sees(f"* {name} came", seconds)


class Group:
    """Promises in the order in which they are kept. What fails does not keep the next from being tried."""

    def __init__(self):
        self.promises = []
        self.failed = 0

    def promise(self, needs=()):
        def add(function):
            self.promises.append((function.__name__, function, needs))
            return function
        return add

    def play(self, only=()):
        kept, start = set(), time.monotonic()
        for name, function, needs in self.promises:
            if only and name not in only:
                continue
            missing = [need.__name__ for need in needs if need.__name__ not in kept]
            if missing and not only:
                print(f"not ok {name}: needs {missing[0]}", flush=True)
                self.failed += 1
                continue
            began = time.monotonic()
            try:
                function()
                kept.add(name)
                print(f"ok {name}", flush=True)
            except Exception as error:
                self.failed += 1
                print(f"not ok {name}: {error or type(error).__name__}".replace("\n", " "), flush=True)
                traceback.print_exc()
                self.tell()
            print(f"{name}: {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
        for program in started:
            if program.process.poll() is None:
                program.process.terminate()
        print(f"{time.monotonic() - start:.0f} s in all", file=sys.stderr, flush=True)
        sys.exit(1 if self.failed else 0)

    def tell(self):
        """What there is to see, for whoever looks into a failure."""
        print(air("list"), file=sys.stderr)
        sockets = pathlib.Path("/sys/kernel/debug/bluetooth/l2cap")
        print(sockets.read_text() if sockets.exists() else "", file=sys.stderr)
        for program in started:
            errors = program.errors.read_text(errors="replace")[-2000:]
            print(f"-- {program.output.stem} ({program.process.poll()}): {errors}", file=sys.stderr)
            if isinstance(program, Gate):
                print(json.dumps((program.status() or {}).get("radio")), file=sys.stderr)
                counters = program.ask("counters") or {}
                counted = {group: {name: count for name, count in names.items() if count} for group, names in counters.items()}
                print(json.dumps({group: names for group, names in counted.items() if names}), file=sys.stderr)
