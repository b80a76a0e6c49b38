"""As much of bitchat's packets as a test phone needs: announces, public messages, fragments, signatures."""

import hashlib
import os
import struct
import time
import zlib

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

SERVICE = "f47b5e2d-4a9e-4c5a-9b3f-8e1d2c3a4b5c"
CHARACTERISTIC = "a1b2c3d4-e5f6-4a5b-8c9d-0e1f2a3b4c5d"
ANNOUNCE, MESSAGE, LEAVE, FRAGMENT = 0x01, 0x02, 0x03, 0x20
HAS_RECIPIENT, HAS_SIGNATURE, IS_COMPRESSED, HAS_ROUTE = 1, 2, 4, 8
SLICE = 469


class Packet:
    """One decoded packet. `body` is the payload as it travelled, compressed or not."""

    def __init__(self, frame):
        self.version, self.type, self.ttl, self.timestamp, self.flags = struct.unpack_from(">BBBQB", frame)
        if self.version not in (1, 2):
            raise ValueError("not a version")
        length, at = (struct.unpack_from(">H", frame, 12)[0], 14) if self.version == 1 else (
            struct.unpack_from(">I", frame, 12)[0], 16)
        self.sender = frame[at:at + 8]
        at += 8
        self.recipient = None
        if self.flags & HAS_RECIPIENT:
            self.recipient, at = frame[at:at + 8], at + 8
        if self.version == 2 and self.flags & HAS_ROUTE:
            at += 1 + 8 * frame[at]
        end = at + length
        self.signature = frame[end:end + 64] if self.flags & HAS_SIGNATURE else None
        if len(frame) < end + (64 if self.signature is not None else 0):
            raise ValueError("cut short")
        self.payload = frame[at:end]
        if self.flags & IS_COMPRESSED:
            self.payload = zlib.decompress(frame[at + (2 if self.version == 1 else 4):end], -15)
        self.signed = pad(frame[:2] + b"\0" + frame[3:11] + bytes([self.flags & 0x0D]) + frame[12:end])

    def is_by(self, signing_key):
        try:
            Ed25519PublicKey.from_public_bytes(signing_key).verify(self.signature or b"", self.signed)
            return True
        except (InvalidSignature, ValueError):
            return False


def pad(frame):
    for size in (256, 512, 1024, 2048):
        if len(frame) + 16 <= size:
            count = size - len(frame)
            return frame + bytes([count]) * count if count <= 255 else frame
    return frame


def fields(payload):
    found, at = {}, 0
    while at + 2 <= len(payload):
        found[payload[at]] = payload[at + 2:at + 2 + payload[at + 1]]
        at += 2 + payload[at + 1]
    return found


class Identity:
    def __init__(self, name):
        self.name = name
        self.noise = X25519PrivateKey.generate().public_key().public_bytes_raw()
        self.key = Ed25519PrivateKey.generate()
        self.peer = hashlib.sha256(self.noise).digest()[:8]

    def packet(self, kind, payload, ttl=7, compresses=True):
        flags = 0
        body = payload
        if compresses and len(payload) >= 100 and 10 * len(set(payload)) < 9 * min(len(payload), 256):
            deflate = zlib.compressobj(5, zlib.DEFLATED, -15, 8)
            small = deflate.compress(payload) + deflate.flush()
            if len(small) < len(payload):
                flags, body = IS_COMPRESSED, struct.pack(">H", len(payload)) + small
        head = struct.pack(">QBH", int(time.time() * 1000), flags, len(body)) + self.peer + body
        signature = self.key.sign(pad(bytes([1, kind, 0]) + head))
        return bytes([1, kind, ttl]) + head[:8] + bytes([flags | HAS_SIGNATURE]) + head[9:] + signature

    def announce(self):
        name = self.name.encode()
        signing = self.key.public_key().public_bytes_raw()
        return self.packet(
            ANNOUNCE, bytes([1, len(name)]) + name + b"\x02\x20" + self.noise + b"\x03\x20" + signing)

    def message(self, text, compresses=True):
        return self.packet(MESSAGE, text.encode(), compresses=compresses)

    def message_of(self, size, salt):
        """A text and its packet of so many bytes, which nobody is obliged to compress."""
        text = hashlib.shake_256(salt.encode()).hexdigest(size)[:size - len(self.message("", False))]
        packet = self.message(text, False)
        assert len(packet) == size, len(packet)
        return text, packet

    def leave(self):
        return self.packet(LEAVE, b"")


def frames(packet, limit=512):
    """The packet as frames of at most `limit` bytes."""
    if len(packet) <= limit:
        return [packet]
    size = min(SLICE, limit - 35)
    slices = [packet[at:at + size] for at in range(0, len(packet), size)]
    stream = os.urandom(8)
    return [
        bytes([1, FRAGMENT, packet[2]]) + packet[3:11] + b"\0" + struct.pack(">H", 13 + len(part)) + packet[14:22]
        + stream + struct.pack(">HHB", number, len(slices), packet[1]) + part
        for number, part in enumerate(slices)
    ]


class Listener:
    """What somebody on the mesh makes of the frames that reach them."""

    def __init__(self, own):
        self.own = own
        self.people = {}
        self.texts = []
        self.undecodable = 0
        self.forged = 0
        self.parts = {}

    def receive(self, frame):
        try:
            packet = Packet(frame)
        except (ValueError, struct.error, zlib.error, IndexError):
            self.undecodable += 1
            return
        if packet.sender == self.own:
            return
        if packet.type == FRAGMENT:
            stream, (number, total) = packet.payload[:8], struct.unpack_from(">HH", packet.payload, 8)
            parts = self.parts.setdefault((packet.sender, stream), {})
            parts[number] = packet.payload[13:]
            if len(parts) == total:
                del self.parts[(packet.sender, stream)]
                self.receive(b"".join(parts[index] for index in range(total)))
        elif packet.type == ANNOUNCE:
            told = fields(packet.payload)
            if packet.is_by(told.get(3, b"")) and packet.sender == hashlib.sha256(told.get(2, b"")).digest()[:8]:
                self.people[packet.sender] = (told[1].decode(), told[3])
            else:
                self.forged += 1
        elif packet.type == MESSAGE:
            name, key = self.people.get(packet.sender, (None, b""))
            if name is None:
                return
            said = (name, packet.payload.decode(errors="replace"))
            if not packet.is_by(key):
                self.forged += 1
            elif said not in self.texts:
                self.texts.append(said)

    @property
    def names(self):
        return {name for name, _ in self.people.values()}
