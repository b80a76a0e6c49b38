"""Phones on Bluetooth stacks that are not ours, as processes: BlueZ behind bleak, and bumble."""

import os
import pathlib
import re
import subprocess
import sys
import time

from stage import PATIENCE, Broken, Program, eventually

HERE = pathlib.Path(__file__).resolve().parent


def start_system_bluetooth():
    """D-Bus and bluetoothd, which takes every controller. Whoever listens after it gets the links."""
    for file, line in (
            ("/etc/passwd", "messagebus:x:9999:9999::/nonexistent:/usr/sbin/nologin"),
            ("/etc/group", "messagebus:x:9999:"), ("/etc/group", "bluetooth:x:9998:")):
        text = pathlib.Path(file).read_text()
        if not any(known.startswith(line.split(":")[0] + ":") for known in text.split("\n")):
            pathlib.Path(file).write_text(text.rstrip("\n") + "\n" + line + "\n")
    pathlib.Path("/etc/bluetooth").mkdir(exist_ok=True)
    pathlib.Path("/etc/bluetooth/main.conf").write_text(
        "[General]\nControllerMode = le\nReverseServiceDiscovery = false\n[Policy]\nAutoEnable = false\n")
    os.makedirs("/run/dbus", exist_ok=True)
    subprocess.run(["dbus-uuidgen", "--ensure"], check=True)
    subprocess.run(["dbus-daemon", "--system", "--fork"], check=True)
    folder = next(path for path in ("/usr/libexec/bluetooth", "/usr/lib/bluetooth") if os.path.exists(path))
    daemon = Program("bluetoothd", [f"{folder}/bluetoothd", "-n"])
    eventually(lambda: adapter_property(0, "Get", "Powered"), "bluetoothd does not come up", 2 * PATIENCE)
    return daemon


def adapter_property(number, action, name, value=None):
    """Whether BlueZ did what was asked."""
    done = subprocess.run(
        ["dbus-send", "--system", "--print-reply", "--dest=org.bluez", f"/org/bluez/hci{number}",
         f"org.freedesktop.DBus.Properties.{action}", "string:org.bluez.Adapter1", f"string:{name}"]
        + ([f"variant:{value}"] if value else []), capture_output=True, text=True)
    return done.returncode == 0


class Phone(Program):
    """A phone that tells what happens to it, a line each, and says what it is told to."""

    def __init__(self, name, script, *arguments):
        super().__init__(name, [sys.executable, str(HERE / script), *arguments])
        self.name = name

    def says(self, text):
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def tells(self, pattern, seconds=2 * PATIENCE):
        def found():
            if any(re.fullmatch(pattern, line) for line in self.lines):
                return True
            if self.process.poll() is not None:
                raise Broken(f"{self.name} ended: {self.lines[-4:]} {self.errors.read_text()[-600:]}")
            return False
        eventually(
            found, lambda: f"{self.name} did not tell {pattern!r} but {[line[:80] for line in self.lines[-8:]]}; "
            + self.errors.read_text()[-600:], seconds)


def bleak_phone(controller):
    eventually(
        lambda: adapter_property(controller, "Set", "Powered", "boolean:true"), "bluetoothd does not switch it on")
    return Phone("bea", "bleak_phone.py", f"hci{controller}", "bea")


def bumble_phone(where, role, name):
    return Phone(name, "bumble_phone.py", where, role, name)


def meet(phone, *people):
    """A phone joins the mesh of these people: it hears all of them, and they hear it, short and long."""
    try:
        phone.tells("subscribed")
        for person in people:
            phone.tells(f"knows {person.name}")
            person.knows(phone.name)
        phone.says("hello from another stack")
        for person in people:
            person.hears(phone.name, "hello from another stack")
            person.types(f"welcome, {phone.name}, says {person.name}")
            phone.tells(f"heard {person.name}: welcome, {phone.name}, says {person.name}")
        long = f"{phone.name} tells a story: " + " ".join(str(number * 7919 % 10007) for number in range(600))
        phone.says(long)
        people[0].hears(phone.name, long)
        people[0].types(long[::-1])
        phone.tells(re.escape(f"heard {people[0].name}: {long[::-1]}"))
        for number in range(10):
            phone.says(f"{phone.name} counts {number}")
            time.sleep(0.3)
        for person in people:
            for number in range(10):
                person.hears(phone.name, f"{phone.name} counts {number}")
        phone.says("/quit")
        phone.tells("left")
    finally:
        if phone.process.poll() is None:
            phone.process.terminate()
