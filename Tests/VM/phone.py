"""Phones on the kernel's sockets, scripted: they do what iOS and Android were seen to do, or whatever a test wants."""

import errno
import select
import struct
import time
import uuid

import kernel
import mesh

ERROR, MTU_REQUEST, MTU_RESPONSE = 0x01, 0x02, 0x03
FIND_INFORMATION, FIND_BY_VALUE, READ_BY_TYPE, READ, READ_BLOB, READ_BY_GROUP = 0x04, 0x06, 0x08, 0x0A, 0x0C, 0x10
WRITE_REQUEST, WRITE_COMMAND, NOTIFICATION, INDICATION, CONFIRMATION = 0x12, 0x52, 0x1B, 0x1D, 0x1E
NOT_FOUND, UNSUPPORTED = 0x0A, 0x06


def uuid_bytes(value):
    return struct.pack("<H", value) if isinstance(value, int) else bytes(reversed(uuid.UUID(value).bytes))


SERVICE, CHARACTERISTIC = uuid_bytes(mesh.SERVICE), uuid_bytes(mesh.CHARACTERISTIC)
ADVERTISEMENT = bytes([17, 0x07]) + SERVICE


class Gone(Exception):
    """The link has ended."""


class Link:
    """One connection, in either role. Both sides of ATT run on it at once, as on a phone."""

    def __init__(self, phone, socket, peer, is_client):
        self.phone, self.socket, self.is_client = phone, socket, is_client
        self.peer, self.kind = peer
        self.mtu = 23
        self.target = None      # the handle of the peer's characteristic
        self.subscribed = False  # the peer to ours
        self.answer = None
        self.ended = False
        self.received = 0
        self.requests = []      # opcodes the peer asked with
        self.waiting = []       # what the socket did not take yet

    def fileno(self):
        return self.socket.fileno()

    def send(self, data):
        self.waiting.append(data)
        self.flush()

    def flush(self):
        try:
            while self.waiting:
                self.socket.send(self.waiting[0])
                self.waiting.pop(0)
        except BlockingIOError:
            pass
        except OSError:
            self.end()

    def end(self):
        if not self.ended:
            self.ended = True
            self.socket.close()

    def read(self):
        try:
            data = self.socket.recv(1024)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.end()
        elif data[0] in (NOTIFICATION, INDICATION):
            if data[0] == INDICATION:
                self.send(bytes([CONFIRMATION]))
            if struct.unpack_from("<H", data, 1)[0] == self.target:
                self.take(data[3:])
        elif data[0] & 1 and data[0] != CONFIRMATION:
            self.answer = data
        elif data[0] != CONFIRMATION:
            self.phone.serve(self, data)

    def take(self, frame):
        self.received += 1
        self.phone.listener.receive(frame)

    # Our own questions

    def request(self, data, seconds=30):
        """Asks, and returns the answer, errors included; serves whatever is asked meanwhile."""
        self.answer = None
        self.send(data)
        if not self.phone.world.run(seconds, lambda: self.answer is not None or self.ended):
            raise TimeoutError(f"no answer to {data.hex()}")
        if self.answer is None:
            raise Gone()
        return self.answer

    def exchange_mtu(self, size=517):
        answer = self.request(struct.pack("<BH", MTU_REQUEST, size))
        assert answer[0] == MTU_RESPONSE, answer.hex()
        self.mtu = max(23, min(size, struct.unpack_from("<H", answer, 1)[0]))

    def walk(self, opcode, kind, first=1, last=0xFFFF):
        """All entries of a discovery by ranges, as (handle, rest)."""
        entries = []
        while first <= last:
            answer = self.request(struct.pack("<BHH", opcode, first, last) + uuid_bytes(kind))
            if answer[0] == ERROR:
                assert answer[4] == NOT_FOUND, answer.hex()
                break
            size = answer[1]
            for at in range(2, len(answer), size):
                entry = answer[at:at + size]
                entries.append((struct.unpack_from("<H", entry)[0], entry[2:]))
            handle, rest = entries[-1]
            first = (struct.unpack_from("<H", rest)[0] if opcode == READ_BY_GROUP else handle) + 1
        return entries

    def descriptors(self, first, last):
        found = []
        while first <= last:
            answer = self.request(struct.pack("<BHH", FIND_INFORMATION, first, last))
            if answer[0] == ERROR:
                break
            size = 4 if answer[1] == 1 else 18
            for at in range(2, len(answer), size):
                found.append((struct.unpack_from("<H", answer, at)[0], answer[at + 2:at + size]))
            first = found[-1][0] + 1
        return found

    def subscribe(self, start, end):
        """Finds the characteristic in its service and turns its notifications on."""
        for handle, rest in self.walk(READ_BY_TYPE, 0x2803, start, end):
            if rest[3:] == CHARACTERISTIC:
                assert rest[0] == 0x1E, f"properties {rest[0]:02x}"
                self.target, = struct.unpack_from("<H", rest, 1)
        assert self.target, "no characteristic"
        switches = [handle for handle, kind in self.descriptors(self.target + 1, end) if kind == uuid_bytes(0x2902)]
        assert switches, "no descriptor to subscribe with"
        answer = self.request(struct.pack("<BHH", WRITE_REQUEST, switches[0], 1))
        assert answer == b"\x13", answer.hex()

    def notify(self, value):
        self.send(struct.pack("<BH", NOTIFICATION, Phone.VALUE) + value)

    def deliver(self, packet):
        """Sends a packet the way this link's role has it, in fragments if it must be."""
        for frame in mesh.frames(packet, min(self.mtu - 3, 512)):
            if self.is_client:
                self.send(struct.pack("<BH", WRITE_COMMAND, self.target) + frame)
            else:
                self.notify(frame)


class Phone:
    """Somebody with a phone on controller N. It answers as a phone's system does; what is not answered there is not here."""

    SWITCH, VALUE = 0x0024, 0x0023
    NAME = b"phone"

    def __init__(self, world, number, name):
        self.world, self.number = world, number
        self.address = kernel.controller_address(number)
        self.identity = mesh.Identity(name)
        self.listener = mesh.Listener(self.identity.peer)
        self.links = []
        self.server = None
        self.is_mute = False        # answers no request
        self.mtu_offer = 517
        world.phones.append(self)

    # As a peripheral

    def advertise(self, data=ADVERTISEMENT):
        if self.server is None:
            self.server = kernel.att_listen(self.address)
        self.world.management.advertise(self.number, data)

    def hide(self):
        self.world.management.command("remove_advertising", self.number, b"\0")

    def accept(self):
        try:
            socket, *peer = kernel.att_accept(self.server)
        except OSError as error:
            if error.errno != errno.EAGAIN:
                raise
            return
        self.links.append(Link(self, socket, peer, False))

    TABLE = [
        (0x0001, 0x2800, uuid_bytes(0x1800), 0x0005), (0x0002, 0x2803, b"\x02\x03\0" + uuid_bytes(0x2A00), 0),
        (0x0003, 0x2A00, NAME, 0), (0x0004, 0x2803, b"\x02\x05\0" + uuid_bytes(0x2A01), 0),
        (0x0005, 0x2A01, b"\x40\0", 0), (0x0006, 0x2800, uuid_bytes(0x1801), 0x0009),
        (0x0007, 0x2803, b"\x20\x08\0" + uuid_bytes(0x2A05), 0), (0x0008, 0x2A05, b"", 0),
        (0x0009, 0x2902, b"\0\0", 0), (0x0021, 0x2800, SERVICE, 0x0024),
        (0x0022, 0x2803, b"\x1e" + struct.pack("<H", VALUE) + CHARACTERISTIC, 0),
        (0x0023, mesh.CHARACTERISTIC, b"", 0), (0x0024, 0x2902, b"\0\0", 0),
    ]

    def serve(self, link, data):
        link.requests.append(data[0])
        if self.is_mute and data[0] != WRITE_COMMAND:
            return
        answer = self.answer(link, data)
        if answer is not None:
            link.send(answer)

    def answer(self, link, data):
        opcode = data[0]

        def error(handle, code):
            return struct.pack("<BBHB", ERROR, opcode, handle, code)

        if opcode == MTU_REQUEST:
            link.mtu = max(23, min(struct.unpack_from("<H", data, 1)[0], self.mtu_offer))
            return struct.pack("<BH", MTU_RESPONSE, self.mtu_offer)
        if opcode in (WRITE_REQUEST, WRITE_COMMAND):
            handle, = struct.unpack_from("<H", data, 1)
            if handle == self.VALUE:
                link.take(data[3:])
            elif handle == self.SWITCH:
                link.subscribed = data[3:] == b"\x01\0"
            elif opcode == WRITE_REQUEST and handle != 0x0009:
                return error(handle, 0x03)
            return b"\x13" if opcode == WRITE_REQUEST else None
        if opcode in (READ, READ_BLOB):
            # Android never answers a read of the characteristic; nobody should ask.
            handle, = struct.unpack_from("<H", data, 1)
            known = [row for row in self.TABLE if row[0] == handle]
            if handle in (self.VALUE, self.SWITCH):
                return None
            return bytes([opcode + 1]) + known[0][2] if known else error(handle, 0x01)
        if opcode not in (FIND_INFORMATION, FIND_BY_VALUE, READ_BY_TYPE, READ_BY_GROUP):
            return None if opcode & 0x40 else error(0, UNSUPPORTED)
        first, last = struct.unpack_from("<HH", data, 1)
        rows = [row for row in self.TABLE if first <= row[0] <= last]
        if opcode == FIND_BY_VALUE:
            found = [row for row in rows if uuid_bytes(row[1]) == data[5:7] and row[2] == data[7:]]
            body = b"".join(struct.pack("<HH", row[0], row[3]) for row in found)
            return b"\x07" + body if body else error(first, NOT_FOUND)
        if opcode == FIND_INFORMATION:
            entries = [struct.pack("<H", row[0]) + uuid_bytes(row[1]) for row in rows]
            head = [bytes([0x05, 1 if len(entries[0]) == 4 else 2])] if entries else []
        else:
            rows = [row for row in rows if uuid_bytes(row[1]) == data[5:]]
            middle = (lambda row: struct.pack("<H", row[3])) if opcode == READ_BY_GROUP else (lambda row: b"")
            entries = [struct.pack("<H", row[0]) + middle(row) + row[2] for row in rows]
            head = [bytes([opcode + 1, len(entries[0])])] if entries else []
        if not entries:
            return error(first, NOT_FOUND)
        body = b""
        for entry in entries:
            if len(entry) != len(entries[0]) or 2 + len(body) + len(entry) > link.mtu:
                break
            body += entry
        return head[0] + body

    # As a central

    def find(self, seconds=60):
        """The first box in reach, as (its address with the kind of it, its advertising data); None when there is none."""
        found = self.world.management.discover(self.number, lambda _, data: SERVICE in data, seconds)
        return found and (found[:2], found[2])

    def dial(self, box, seconds=20):
        link = Link(self, kernel.att_connect(self.address, *box, seconds), box, True)
        self.links.append(link)
        return link

    def join_like_ios(self, box):
        """Connects the way iOS does: its own curiosity first, then the app's filtered discovery."""
        link = self.dial(box)
        link.exchange_mtu(527)
        services = link.walk(READ_BY_GROUP, 0x2800)
        link.walk(READ_BY_TYPE, 0x2803)
        for kind in (0x2A00, 0x2B2A, 0x2B3A, 0x2802):
            link.walk(READ_BY_TYPE, kind)
        changed = [handle for handle, kind in link.descriptors(1, 0xFFFF) if kind == uuid_bytes(0x2902)][0]
        assert link.request(struct.pack("<BHH", WRITE_REQUEST, changed, 2)) == b"\x13"
        answer = link.request(struct.pack("<BHHH", FIND_BY_VALUE, 1, 0xFFFF, 0x2800) + SERVICE)
        assert answer[0] == 0x07, answer.hex()
        start, end = struct.unpack_from("<HH", answer, 1)
        ends = [struct.unpack_from("<H", rest)[0] for handle, rest in services if rest[2:] == SERVICE]
        assert ends == [end], (ends, end)
        link.subscribe(start, end)
        self.world.run(0.05)
        link.deliver(self.identity.announce())
        return link

    def join_like_android(self, box):
        """Connects the way Android does: MTU after 200 ms, every service, the announce 400 ms after subscribing."""
        link = self.dial(box)
        self.world.run(0.2)
        link.exchange_mtu(517)
        services = link.walk(READ_BY_GROUP, 0x2800)
        for handle, rest in services:
            end, = struct.unpack_from("<H", rest)
            link.walk(READ_BY_TYPE, 0x2802, handle, end)
            link.walk(READ_BY_TYPE, 0x2803, handle, end)
        start, end = [(handle, struct.unpack_from("<H", rest)[0]) for handle, rest in services if rest[2:] == SERVICE][0]
        link.subscribe(start, end)
        self.world.run(0.4)
        link.deliver(self.identity.announce())
        return link

    def say(self, text):
        """To every link that carries anything."""
        packet = self.identity.message(text)
        for link in self.usable_links():
            link.deliver(packet)

    def announce(self):
        for link in self.usable_links():
            link.deliver(self.identity.announce())

    def usable_links(self):
        return [link for link in self.links if not link.ended and (link.target if link.is_client else link.subscribed)]

    def leave(self):
        """Ends every link at once."""
        for link in self.links:
            if link.ended:
                continue
            try:
                self.world.management.command(
                    "disconnect", self.number, kernel.address_bytes(link.peer) + bytes([link.kind]))
            except kernel.ManagementError:
                pass
            link.end()
        self.links = []


class World:
    """All phones of one process: they live while `run` runs."""

    def __init__(self, controllers):
        self.management = kernel.Management()
        self.phones = []
        for number in controllers:
            self.management.power_on(number)

    def run(self, seconds, until=lambda: False):
        """Lets the phones live for so long or until the condition holds; whether it did."""
        end = time.monotonic() + seconds
        while not until():
            left = end - time.monotonic()
            if left <= 0:
                return False
            links = [link for phone in self.phones for link in phone.links if not link.ended]
            servers = [phone.server for phone in self.phones if phone.server]
            busy = [link for link in links if link.waiting]
            readable, writable, _ = select.select(links + servers, busy, [], min(left, 0.25))
            for phone in self.phones:
                if phone.server in readable:
                    phone.accept()
            for link in readable:
                if isinstance(link, Link) and not link.ended:
                    link.read()
            for link in writable:
                if not link.ended:
                    link.flush()
        return True
