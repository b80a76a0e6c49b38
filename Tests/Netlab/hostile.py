#!/usr/bin/env python3
"""WebSocket servers that mean harm, each on a port of its own. Standard library only.

    hostile.py MODE…

    stall       takes the request and never answers
    drip        answers the upgrade a byte a second
    headers     header fields without end
    redirect    HTTP 302 to somewhere else
    deflate     chooses a compression nobody offered
    gigabyte    one message of 1 GiB
    fragments   one message of one-byte fragments without end
    empty       empty messages without end
    pings       pings without end, and reads nothing
    garbage     random bytes instead of frames
    halves      the first half of a message, and then nothing

And Nostr relays, which wait for a request first. Each sends without end:

    json        text that is no JSON        deep       JSON of many levels
    foreign     events of a kind and a place nobody asked for, under the subscription "s"
    ends        the end of stored events    notices    notices
    answers     answers to events that it was never sent
    challenges  challenges to authenticate
    binary      binary messages

Prints `ready MODE PORT` for each, then `MODE BYTES` when a connection ends: how much was sent. SIGTERM ends it.
"""
import asyncio
import base64
import hashlib
import os
import signal
import sys
import time

BLOCK = 65536


def say(*words):
    print(*words, flush=True)


def upgrade(request, extra=b""):
    key = next(line[19:] for line in request.split(b"\r\n") if line.startswith(b"Sec-WebSocket-Key: "))
    accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
    return (b"HTTP/1.1 101 OK\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + accept
            + b"\r\n" + extra + b"\r\n")


def message(text, opcode=0x81):
    size = len(text)
    length = bytes([size]) if size < 126 else b"\x7e" + size.to_bytes(2, "big")
    return bytes([opcode]) + length + text


def foreign(number):
    return (b'["EVENT","s",{"id":"%064x","pubkey":"%064x","created_at":%d,"kind":1,"tags":[["g","zzzzz"]],'
            b'"content":"%s","sig":"%0128x"}]' % (number, number, time.time(), b"unasked " * 20, number))


NOSTR = {
    "json": lambda: message(b'{"EVENT":' + b"[" * 200),
    "deep": lambda: message(b"[" * 60000),
    "foreign": lambda: b"".join(message(foreign(number)) for number in range(100)),
    "ends": lambda: message(b'["EOSE","s"]'),
    "notices": lambda: message(b'["NOTICE","%s"]' % (b"noise " * 50)),
    "answers": lambda: message(b'["OK","%064x",true,""]' % 1),
    "challenges": lambda: message(b'["AUTH","challenge"]'),
    "binary": lambda: message(b"b" * 100, 0x82),
}


def answer(mode, request):
    """What is sent first, and what is sent again and again after it."""
    if mode == "headers":
        return b"HTTP/1.1 200 OK\r\n", b"X: " + b"y" * 61 + b"\r\n"
    if mode == "redirect":
        return b"HTTP/1.1 302 Found\r\nLocation: ws://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", b""
    if mode == "deflate":
        return upgrade(request, b"Sec-WebSocket-Extensions: permessage-deflate\r\n"), b""
    good = upgrade(request)
    if mode == "gigabyte":
        return good + b"\x81\x7f" + (1 << 30).to_bytes(8, "big"), b"a" * BLOCK
    if mode == "fragments":
        return good + b"\x01\x01a", b"\x00\x01a" * (BLOCK // 3)
    if mode == "empty":
        return good, b"\x81\x00" * (BLOCK // 2)
    if mode == "pings":
        return good, b"\x89\x7d" + b"p" * 125
    if mode == "garbage":
        return good, os.urandom(BLOCK)
    if mode == "halves":
        return good + b"\x81\x7e\xff\xff" + b"a" * 30000, b""
    if mode in NOSTR:
        block = NOSTR[mode]()
        return good, block * max(1, BLOCK // len(block))
    return good, b""


async def serve(mode, reader, writer):
    sent = 0
    try:
        request = await reader.readuntil(b"\r\n\r\n")
        first, more = answer(mode, request)
        if mode == "stall":
            await reader.read()
        elif mode == "drip":
            for byte in first:
                writer.write(bytes([byte]))
                await writer.drain()
                sent += 1
                await asyncio.sleep(1)
        else:
            writer.write(first)
            sent += len(first)
            if mode in NOSTR:
                await reader.read(1)
            while more:
                writer.write(more)
                await writer.drain()
                sent += len(more)
            await reader.read()
    except (asyncio.IncompleteReadError, OSError, asyncio.CancelledError):
        pass
    finally:
        say(mode, sent)
        writer.close()


async def main(modes):
    for mode in modes:
        server = await asyncio.start_server(lambda r, w, mode=mode: serve(mode, r, w), "127.0.0.1", 0)
        say("ready", mode, server.sockets[0].getsockname()[1])
    done = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, done.set)
    await done.wait()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    asyncio.run(main(sys.argv[1:]))
