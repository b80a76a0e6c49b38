"""The daemon as its service: systemd itself starts it from the unit of this repository, in its sandbox, and the helper of a
wipe with it. The machine has one controller and one GPIO chip."""

import json
import os
import pathlib
import shutil
import subprocess
import time

from board import Chip
from stage import PROGRAMS, ROOT, Broken, Group, Program, eventually

group = Group()
promise = group.promise
cast = {}

# Nothing but what the service needs is started.
TARGET = """[Unit]
Requires=systemd-journald.service bitgate-erase.path bitgated.service
After=systemd-journald.service bitgate-erase.path
"""
# It does what tor does that matters to a wipe: it has its state in memory, and writes it when it is asked to stop.
TOR = """[Service]
ExecStart=/bin/sh -c 'trap "echo guard >/var/lib/tor/state; exit" TERM; while :; do sleep 1; done'
ExecStartPost=/bin/sh -c 'echo started >>/run/tor-starts'
"""
CONFIGURATION = """nickname = "the-lantern-pub"
location.cell = "u4pruy"
nostr.use_builtin_relays = false
clock.trust_system = true
panel.status = "vm-gpio0:5"
panel.button = "vm-gpio0:9"
"""


def run(*arguments):
    done = subprocess.run(arguments, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def systemctl(*arguments):
    unshare = cast["systemd"].process.pid
    first = pathlib.Path(f"/proc/{unshare}/task/{unshare}/children").read_text().split()
    if not first:
        return 1, cast["systemd"].errors.read_text()[-2000:]
    return run("nsenter", f"--target={first[0]}", "--pid", "--mount", "--root", "systemctl", "--no-pager", *arguments)


def shown(unit, name):
    return systemctl("show", unit, "--property", name, "--value")[1].strip()


def peer():
    code, told = run("bitgate", "status", "--json")
    if code:
        raise Broken(told)
    return json.loads(told)["status"]["peer"]


def trouble():
    return "".join(systemctl(*what)[1] for what in (["list-jobs"], ["--failed"], ["status", "bitgated.service"]))


def install():
    """What the package does."""
    for source, target in (
            *((path, "/etc/systemd/system") for path in (ROOT / "etc/systemd").glob("bitgate*.service")),
            *((path, "/etc/systemd/system") for path in (ROOT / "etc/systemd").glob("*.path")),
            *((path, "/etc/systemd/journald.conf.d") for path in (ROOT / "etc/systemd/journald.conf.d").iterdir()),
            *((path, "/etc/tmpfiles.d") for path in (ROOT / "etc/tmpfiles.d").iterdir()),
            *((ROOT / "etc" / name, "/usr/lib/bitgate") for name in ("erase", "boot-note")),
            *((pathlib.Path(PROGRAMS) / name, "/usr/bin") for name in ("bitgated", "bitgate"))):
        os.makedirs(target, exist_ok=True)
        shutil.copy(source, target)
    os.makedirs("/etc/bitgate", exist_ok=True)
    pathlib.Path("/etc/bitgate/bitgate.toml").write_text(CONFIGURATION)
    pathlib.Path("/etc/systemd/system/bitgate-test.target").write_text(TARGET)
    pathlib.Path("/etc/systemd/system/tor.service").write_text(TOR)
    # The machine's own tor, which would come along.
    pathlib.Path("/etc/systemd/system/tor@default.service").symlink_to("/dev/null")
    # They look through every folder of the machine that lends its files.
    for unit in ("systemd-tmpfiles-setup", "systemd-update-utmp", "systemd-timesyncd", "systemd-pcrphase-sysinit"):
        pathlib.Path(f"/etc/systemd/system/{unit}.service").symlink_to("/dev/null")
    for program in (["systemd-sysusers", str(ROOT / "etc/sysusers.d/bitgate.conf")],
                    ["systemd-tmpfiles", "--create", str(ROOT / "etc/tmpfiles.d/bitgate.conf")]):
        code, told = run(*program)
        if code:
            raise Broken(told)
    shutil.chown(Chip("vm-gpio0").device, "root", "gpio")
    os.chmod(Chip("vm-gpio0").device, 0o660)


@promise()
def testTheServiceIsUpAsItsUserWithOneRightAndNoNetwork():
    install()
    # The machine's root is a folder of the first file tree, which is nothing to systemctl.
    os.environ.update(container="vm", SYSTEMD_IGNORE_CHROOT="1", SYSTEMD_LOG_TARGET="console")
    cast["systemd"] = Program("systemd", [
        "unshare", "--pid", "--fork", "--mount-proc", "/lib/systemd/systemd", "--system", "--unit=bitgate-test.target"])
    eventually(lambda: shown("bitgated.service", "ActiveState") == "active", trouble)
    code, told = run("bitgate", "status")
    if code:
        raise Broken(told)
    own = run("pgrep", "-x", "bitgated")[1].split()
    held = dict(line.split(":\t", 1) for line in open(f"/proc/{own[0]}/status").read().split("\n") if ":\t" in line)
    if int(held["CapEff"], 16) != 1 << 12 or held["NoNewPrivs"] != "1" or held["Seccomp"] != "2" or held["Uid"][0] == "0":
        raise Broken(str(held))


@promise(needs=[testTheServiceIsUpAsItsUserWithOneRightAndNoNetwork])
def testItHasItsControllerItsLampAndItsButton():
    def well():
        told = run("bitgate", "status")[1]
        return "advertising" in told and "button listening" in told and "status: starting" not in told
    eventually(well, lambda: run("bitgate", "status")[1])


@promise(needs=[testTheServiceIsUpAsItsUserWithOneRightAndNoNetwork])
def testAWipeReachesWhatTheDaemonMayNot():
    traces = [pathlib.Path(path) for path in (
        "/var/lib/tor/state", "/var/lib/tor/cached-certs", "/var/lib/bluetooth/02:00:A1:5E:00:01/cache/x")]
    for path in traces:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    starts = pathlib.Path("/run/tor-starts")
    systemctl("start", "tor.service")
    subprocess.run(["logger", "the lantern pub was here"], check=True)
    eventually(lambda: "the lantern pub was here" in run("journalctl", "--no-pager")[1], "the journal takes nothing")
    before = peer()
    began = time.monotonic()
    code, told = run("bitgate", "wipe", "--yes", "destroy")
    if code:
        raise Broken(told + systemctl("status", "bitgate-erase.service", "bitgate-erase.path")[1])
    print(f"wiped in {time.monotonic() - began:.1f} s", flush=True)
    if pathlib.Path("/run/bitgate-erase/outcome").read_text() != "ok\n" or any(path.exists() for path in traces):
        raise Broken(str([str(path) for path in traces if path.exists()]))
    told = run("journalctl", "--no-pager")[1]
    if "the lantern pub was here" in told:
        raise Broken(told)
    text = pathlib.Path("/etc/bitgate/bitgate.toml").read_text()
    if "lantern" in text or "u4pruy" in text or "vm-gpio0:5" not in text:
        raise Broken(text)
    if peer() == before:
        raise Broken("it is the same box")
    eventually(lambda: starts.read_text() == "started\n" * 2, lambda: systemctl("status", "tor.service")[1])
    if traces[0].exists():
        raise Broken("tor was asked to stop, and wrote what it remembers")


@promise(needs=[testAWipeReachesWhatTheDaemonMayNot])
def testWhatIsKilledStartsAgain():
    before = shown("bitgated.service", "MainPID")
    systemctl("kill", "--signal=SIGKILL", "bitgated.service")
    eventually(
        lambda: shown("bitgated.service", "MainPID") not in ("0", before)
        and shown("bitgated.service", "ActiveState") == "active", lambda: systemctl("status", "bitgated")[1])
    code, told = systemctl("stop", "bitgated.service")
    if code or shown("bitgated.service", "Result") != "success":
        raise Broken(told + systemctl("status", "bitgated")[1])


group.play()
