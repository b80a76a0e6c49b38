"""`bitgate doctor` on a real kernel: it names what was done to the machine."""

import json
import pathlib
import subprocess
import sys

import kernel
import systems
from stage import PROGRAMS, SCRATCH, Broken, Gate, Group, air, eventually

group = Group()
promise = group.promise
FINE = SCRATCH / "fine.toml"


HERE = str(pathlib.Path(__file__).parent)


def doctor(configuration=FINE, prefix=()):
    done = subprocess.run(
        [*prefix, f"{PROGRAMS}/bitgate", "doctor", "--json", "--config", str(configuration)], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise Broken(f"status {done.returncode}: {done.stderr}")
    answer = json.loads(done.stdout)
    codes = [finding["code"] for finding in answer["findings"]]
    if (done.returncode == 0) != (not codes):
        raise Broken(f"status {done.returncode} with {codes}")
    return answer, codes


def expect(codes, wanted):
    if sorted(codes) != sorted(wanted):
        raise Broken(f"found {codes} instead of {wanted}")


@promise()
def testTheDoctorFindsNothingOnAWellMachine():
    SCRATCH.mkdir(exist_ok=True)
    FINE.write_text(
        f'state_directory = "{SCRATCH}/state"\nradio.kind = "bluetooth"\nnetwork.tor = "off"\nclock.trust_system = true\n')
    answer, codes = doctor()
    expect(codes, [])
    if [adapter["name"] for adapter in answer["adapters"]] != ["hci0", "hci1"]:
        raise Broken(answer["adapters"])
    if not all(adapter["low_energy"] and adapter["advertises"] for adapter in answer["adapters"]):
        raise Broken(answer["adapters"])
    text = subprocess.run([f"{PROGRAMS}/bitgate", "doctor", "--config", str(FINE)], capture_output=True, text=True)
    if text.returncode or "All is well." not in text.stdout:
        raise Broken(text.stdout + text.stderr)


@promise()
def testTheDoctorNamesABlockedAdapter():
    switch = next(path for path in pathlib.Path("/sys/class/rfkill").iterdir()
                  if (path / "name").read_text().strip() == "hci1")
    (switch / "soft").write_text("1")
    try:
        expect(doctor()[1], ["adapter-soft-blocked"])
    finally:
        (switch / "soft").write_text("0")


@promise()
def testTheDoctorNamesAMissingRight():
    expect(doctor(prefix=("setpriv", "--bounding-set", "-net_admin", "--inh-caps", "-net_admin"))[1], ["no-net-admin"])


@promise()
def testTheDoctorNamesAnAdapterSomebodyHasToThemselves():
    holder = subprocess.Popen(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {HERE!r}); "
         "import kernel, socket, struct, time; s = socket.socket(31, socket.SOCK_RAW, 1); "
         "kernel.call('bind', s.fileno(), struct.pack('<HHH', 31, 1, 1), 6); print('held', flush=True); time.sleep(600)"],
        stdout=subprocess.PIPE)
    try:
        holder.stdout.readline()
        answer, codes = doctor()
        expect(codes, ["adapter-held"])
        if [other["pid"] for other in answer["holders"]] != [holder.pid]:
            raise Broken(answer["holders"])
    finally:
        holder.kill()
        holder.wait()


@promise()
def testTheDoctorNamesAYoungerListener():
    gate = Gate("gate", 0)
    try:
        eventually(lambda: [adapter["state"] for adapter in gate.adapters] == ["ready"], lambda: f"{gate.adapters}")
        expect(doctor(gate.configuration)[1], [])
        listener = subprocess.Popen(
            [sys.executable, "-c", f"import sys; sys.path.insert(0, {HERE!r}); import kernel, time; "
             "kept = kernel.att_listen(kernel.controller_address(0)); print('listens', flush=True); time.sleep(600)"],
            stdout=subprocess.PIPE)
        listener.stdout.readline()
        answer, codes = doctor(gate.configuration)
        listener.kill()
        listener.wait()
        expect(codes, ["younger-listener"])
        if answer["daemon_pid"] != gate.process.pid:
            raise Broken(answer)
    finally:
        gate.stop()


@promise()
def testTheDoctorNamesTheSystemsBluetoothService():
    systems.start_system_bluetooth()
    answer, codes = doctor()
    expect(codes, ["bluetoothd"])
    if "bluetoothd" not in [other["name"] for other in answer["holders"]]:
        raise Broken(answer["holders"])


@promise()
def testTheDoctorNamesAMachineWithoutAdapters():
    for number in (0, 1):
        air(f"unplug {number}")
    eventually(lambda: not kernel.Management().indexes(), "the adapters are still there")
    if "no-adapter" not in doctor()[1]:
        raise Broken(doctor()[1])


if __name__ == "__main__":
    group.play(sys.argv[1:])
