"""Lamps and a button on simulated GPIO chips, and a daemon of its own user that has them: for scripts that play a finger
and sample what lamps show."""

import json
import os
import pathlib
import subprocess
import time

from stage import PROGRAMS, SCRATCH, Broken, Program, eventually

USER = GPIO_GROUP = 990
CHIPS = pathlib.Path("/sys/kernel/config/gpio-sim")
PATTERNS = json.loads(subprocess.run([f"{PROGRAMS}/bitgate", "panel", "--json"], capture_output=True, check=True).stdout)
# How far a span may be off, in seconds: an emulated machine beside a busy one.
SLACK = 0.06


class Chip:
    """A simulated chip, by its label."""

    def __init__(self, label, lines=None):
        self.label = label
        self.folder = next((f for f in CHIPS.iterdir() if (f / "bank0/label").read_text().strip() == label), None)
        if self.folder is None:
            self.folder = CHIPS / label
            (self.folder / "bank0").mkdir(parents=True)
            (self.folder / "bank0/num_lines").write_text(str(lines))
            (self.folder / "bank0/label").write_text(label)
            (self.folder / "live").write_text("1")

    @property
    def device(self):
        return pathlib.Path("/dev") / (self.folder / "bank0/chip_name").read_text().strip()

    def line(self, number):
        chip = (self.folder / "bank0/chip_name").read_text().strip()
        platform = (self.folder / "dev_name").read_text().strip()
        return pathlib.Path(f"/sys/devices/platform/{platform}/{chip}/sim_gpio{number}")

    def permit(self):
        os.chown(self.device, 0, GPIO_GROUP)
        os.chmod(self.device, 0o660)

    def remove(self):
        (self.folder / "live").write_text("0")


class Lamp:
    def __init__(self, chip, number):
        self.file = open(chip.line(number) / "value")

    @property
    def lit(self):
        self.file.seek(0)
        return self.file.read(1) == "1"

    def watch(self, seconds, until=lambda: False):
        """[(seconds, lit)] for every change, the first at 0."""
        start = time.monotonic()
        seen = [(0.0, self.lit)]
        while (now := time.monotonic() - start) < seconds and not until():
            if (lit := self.lit) != seen[-1][1]:
                seen.append((now, lit))
            time.sleep(0.002)
        return seen + [(now, None)]

    def shows(self, sign, patience=60):
        """Looks until the lamp has played the sign's pattern for two rounds, or at least five seconds."""
        spans = [span / 1000 for span in PATTERNS[sign]]
        period = sum(spans) if len(spans) > 1 else 0
        end, seen = time.monotonic() + patience, []
        while time.monotonic() < end:
            seen = self.watch(max(2 * period, 5) + 0.2)
            if fits(seen, spans):
                return
        told = [f"{'lit' if lit else 'dark'} {(later - at) * 1000:.0f} ms" for (at, lit), (later, _) in zip(seen, seen[1:])]
        raise Broken(f"the lamp does not show {sign} {PATTERNS[sign]} but {told[:24]}")


def fits(seen, spans):
    """Whether the spans that were seen whole are the pattern's, from wherever in it one began to look."""
    if len(spans) < 2:
        return len(seen) == 2 and seen[0][1] == bool(spans)
    whole = [(later - at, lit) for (at, lit), (later, _) in zip(seen[1:], seen[2:-1])]
    if len(whole) < len(spans) - 1 or len(seen) < 3:
        return False
    for first in range(len(spans)):
        if all(
                lit == ((first + index) % len(spans) % 2 == 0)
                and abs(span - spans[(first + index) % len(spans)]) <= SLACK + 0.05 * span
                for index, (span, lit) in enumerate(whole)):
            return True
    return False


class Box(Program):
    """A bitgated of its own user, with the right to manage controllers and no other."""

    def __init__(self, name, more, controller=0):
        self.home = SCRATCH / name
        self.markers = f"{self.home}/markers"
        pathlib.Path(self.markers).mkdir(parents=True, exist_ok=True)
        self.socket = f"{self.home}/control"
        self.configuration = self.home / "bitgate.toml"
        self.configuration.write_text(
            f'state_directory = "{self.home}/state"\ncontrol_socket = "{self.socket}"\npanic.helper = "none"\n'
            f'panic.marker_directory = "{self.markers}"\nradio.adapters = ["hci{controller}"]\n'
            f'nostr.use_builtin_relays = false\n{more}\n')
        for path in (self.home, self.markers, self.configuration):
            os.chown(path, USER, USER)
        super().__init__(name, [
            "setpriv", f"--reuid={USER}", f"--regid={USER}", f"--groups={GPIO_GROUP}", "--inh-caps=-all,+net_admin",
            "--ambient-caps=-all,+net_admin", "--bounding-set=-all,+net_admin", "--no-new-privs", f"{PROGRAMS}/bitgated",
            "--config", str(self.configuration)])
        eventually(lambda: self.wipe() is not None, lambda: f"no answer: {self.errors.read_text()[-500:]}")

    def ask(self, *arguments):
        done = subprocess.run(
            [f"{PROGRAMS}/bitgate", *arguments, "--json", "--socket", self.socket], capture_output=True, text=True)
        answer = json.loads(done.stdout) if done.stdout else {}
        return next((value for value in answer.values() if isinstance(value, dict)), None)

    def status(self):
        return self.ask("status") or {}

    def wipe(self):
        return (self.ask("wipe", "--status") or {}).get("state")

    @property
    def attention(self):
        return [item["code"] for item in self.status().get("attention", [])]

    @property
    def panel(self):
        return self.status().get("panel") or {}


class Button:
    def __init__(self, chip, number):
        self.pull = chip.line(number) / "pull"
        self.up()

    # It is wired to ground.
    def down(self):
        self.pull.write_text("pull-down")

    def up(self):
        self.pull.write_text("pull-up")

    def press(self, seconds):
        self.down()
        time.sleep(seconds)
        self.up()
