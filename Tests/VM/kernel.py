"""The kernel's Bluetooth sockets for test phones: the management channel and L2CAP on the channel of ATT.

Addresses go to the kernel as bytes through libc, since Python's own know neither the management channel nor the channel
and address type of ATT. Every socket is polled and none ever blocks in recv: in some 6.1 kernels that stops the whole
controller.
"""

import ctypes
import errno
import os
import select
import socket
import struct
import time

FAMILY, L2CAP, HCI = 31, 0, 1
CONTROL_CHANNEL = 3
NO_INDEX = 0xFFFF
ATT_CHANNEL = 4
PUBLIC, RANDOM = 1, 2

COMMANDS = dict(
    read_index_list=0x03, read_info=0x04, set_powered=0x05, set_connectable=0x07, set_bondable=0x09, set_le=0x0D,
    disconnect=0x14, start_discovery=0x23, stop_discovery=0x24, add_advertising=0x3E, remove_advertising=0x3F,
    read_advertising_features=0x3D,
)
COMPLETE, STATUS, INDEX_ADDED, INDEX_REMOVED = 0x01, 0x02, 0x04, 0x05
CONNECTED, DISCONNECTED, FOUND, DISCOVERING = 0x0B, 0x0C, 0x12, 0x13

libc = ctypes.CDLL(None, use_errno=True)


def call(name, *arguments):
    """A libc function that tells of failure by -1."""
    result = getattr(libc, name)(*arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result


def address_bytes(text):
    return bytes(reversed(bytes.fromhex(text.replace(":", ""))))


def address_text(raw):
    return ":".join(f"{byte:02X}" for byte in reversed(raw))


def controller_address(number):
    """What the air calls the controller hciN."""
    return f"02:00:A1:5E:00:{number + 1:02X}"


class ManagementError(Exception):
    def __init__(self, command, status):
        super().__init__(f"{command}: management status 0x{status:02x}")
        self.status = status


class Management:
    """A management socket. Events not asked for are kept until somebody waits for them."""

    def __init__(self):
        self.socket = socket.socket(FAMILY, socket.SOCK_RAW | socket.SOCK_NONBLOCK, HCI)
        call("bind", self.socket.fileno(), struct.pack("<HHH", FAMILY, NO_INDEX, CONTROL_CHANNEL), 6)
        self.events = []

    def close(self):
        self.socket.close()

    def read(self, seconds):
        if not select.select([self.socket], [], [], max(0, seconds))[0]:
            return None
        data = self.socket.recv(65536)
        code, index, size = struct.unpack_from("<HHH", data)
        return code, index, data[6:6 + size]

    def command(self, name, index, parameters=b"", seconds=20):
        self.socket.send(struct.pack("<HHH", COMMANDS[name], index, len(parameters)) + parameters)
        end = time.monotonic() + seconds
        while (event := self.read(end - time.monotonic())) is not None:
            code, of, data = event
            if code in (COMPLETE, STATUS) and struct.unpack_from("<H", data)[0] == COMMANDS[name]:
                if data[2]:
                    raise ManagementError(name, data[2])
                return data[3:]
            self.events = self.events[-500:] + [(code, of, data)]
        raise TimeoutError(name)

    def wait(self, code, index, seconds, matching=lambda data: True):
        """The data of the next such event, or None."""
        end = time.monotonic() + seconds
        while True:
            for number, (kind, of, data) in enumerate(self.events):
                if kind == code and of == index and matching(data):
                    del self.events[number]
                    return data
            event = self.read(end - time.monotonic())
            if event is None:
                return None
            self.events = self.events[-500:] + [event]

    def indexes(self):
        data = self.command("read_index_list", NO_INDEX)
        return sorted(struct.unpack_from(f"<{struct.unpack_from('<H', data)[0]}H", data, 2))

    def settings(self, index):
        return struct.unpack_from("<I", self.command("read_info", index), 13)[0]

    def power_on(self, index):
        for name, value in (("set_le", 1), ("set_bondable", 0), ("set_powered", 1), ("set_connectable", 1)):
            self.command(name, index, bytes([value]))

    def power_off(self, index):
        self.command("set_powered", index, b"\0")

    def advertise(self, index, data, flags=0x3, instance=1):
        self.command(
            "add_advertising", index,
            struct.pack("<BIHHBB", instance, flags, 0, 0, len(data), 0) + data)

    def instances(self, index):
        data = self.command("read_advertising_features", index)
        return list(data[8:8 + data[7]])

    def discover(self, index, accept, seconds):
        """The first report `accept` takes, as (address, kind of address, data), or None."""
        end = time.monotonic() + seconds
        found = None
        while found is None and time.monotonic() < end:
            self.events = [event for event in self.events if event[:2] != (FOUND, index)]
            try:
                self.command("start_discovery", index, b"\x06")
            except ManagementError:
                time.sleep(0.2)
                continue
            while found is None:
                event = self.read(min(11, end - time.monotonic()))
                if event is None or (event[0] == DISCOVERING and event[1] == index and event[2][1] == 0):
                    break
                if event[0] == FOUND and event[1] == index:
                    size, = struct.unpack_from("<H", event[2], 12)
                    address, data = address_text(event[2][:6]), event[2][14:14 + size]
                    found = (address, event[2][6], data) if accept(address, data) else None
            try:
                self.command("stop_discovery", index, b"\x06")
            except ManagementError:
                pass
        return found


def advertising_fields(data):
    """The AD structures of a report, as (type, value)."""
    fields, at = [], 0
    while at + 1 < len(data) and data[at]:
        fields.append((data[at + 1], data[at + 2:at + 1 + data[at]]))
        at += 1 + data[at]
    return fields


def l2cap_address(address, kind=PUBLIC, channel=ATT_CHANNEL):
    return struct.pack("<HH6sHBx", FAMILY, 0, address_bytes(address), channel, kind)


def att_socket(local):
    made = socket.socket(FAMILY, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK, L2CAP)
    call("bind", made.fileno(), l2cap_address(local), 14)
    return made


def att_listen(local):
    made = att_socket(local)
    call("listen", made.fileno(), 8)
    return made


def att_accept(listener):
    """The next link as (socket, address of the peer, kind of address)."""
    buffer, size = ctypes.create_string_buffer(64), ctypes.c_uint(64)
    descriptor = call("accept4", listener.fileno(), buffer, ctypes.byref(size), socket.SOCK_NONBLOCK)
    made = socket.socket(FAMILY, socket.SOCK_SEQPACKET, L2CAP, descriptor)
    return made, address_text(buffer.raw[4:10]), buffer.raw[12]


def att_connect(local, remote, kind, seconds=20):
    """A link to `remote`. While one from there exists, or has only just ended, the kernel refuses; so it is tried again."""
    end = time.monotonic() + seconds
    while True:
        made = att_socket(local)
        try:
            result = libc.connect(made.fileno(), l2cap_address(remote, kind), 14)
            code = ctypes.get_errno() if result < 0 else 0
            if code == errno.EINPROGRESS:
                if not select.select([], [made], [], max(0, end - time.monotonic()))[1]:
                    raise TimeoutError("connect")
                code = made.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if code == 0:
                return made
            raise OSError(code, f"connect: {os.strerror(code)}")
        except OSError as error:
            made.close()
            if error.errno not in (errno.EBUSY, errno.ECONNABORTED, errno.ECONNREFUSED) or time.monotonic() > end:
                raise
            time.sleep(0.3)
