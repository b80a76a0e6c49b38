#!/usr/bin/env python3
"""Stands between clients and a Nostr relay on this machine, passes everything on, and says what goes by.

    witness.py PORT RELAYPORT

Needs the Python that has `websockets`. Prints `ready ws://127.0.0.1:PORT`, PORT 0 picking a free one, and then a line
for each of these, with the time of the monotonic clock in seconds:

    event ID TIME CREATED
                      a client's event has come in, dated so
    ok ID TIME        the relay's answer to it has been taken by the client

    left TIME         a client is gone, and everything it sent has come in before
    held TIME         see below

An answer is taken for certain: a client that answers a ping has read what was sent before it, and one that answers more
of them after that has been through all that followed. At SIGUSR1 the clients that are there get nothing more; `held`
says of each that it has taken all it got. SIGTERM ends it.
"""
import asyncio
import json
import signal
import sys
import time

from websockets.asyncio.client import connect
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed

MEBIBYTE = 1 << 20


def say(*words):
    print(*words, flush=True)


class Witness:
    def __init__(self, relay):
        self.relay = f"ws://127.0.0.1:{relay}"
        self.held = {}

    def hold(self):
        for client, held in self.held.items():
            held.set()
            asyncio.ensure_future(self.settled(client, "held"))

    async def attend(self, client):
        self.held[client] = asyncio.Event()
        try:
            async with connect(self.relay, max_size=MEBIBYTE) as relay:
                ways = [asyncio.ensure_future(self.from_client(client, relay)),
                        asyncio.ensure_future(self.from_relay(relay, client))]
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)
        except (OSError, ConnectionClosed):
            pass
        finally:
            del self.held[client]
            say("left", time.monotonic())

    async def from_client(self, client, relay):
        async for message in client:
            frame = json.loads(message)
            if frame[0] == "EVENT":
                say("event", frame[1]["id"], time.monotonic(), frame[1]["created_at"])
            await relay.send(message)

    async def from_relay(self, relay, client):
        tasks = set()
        async for message in relay:
            if self.held[client].is_set():
                continue
            await client.send(message)
            frame = json.loads(message)
            if frame[0] == "OK" and frame[2]:
                task = asyncio.ensure_future(self.settled(client, "ok", frame[1]))
                tasks.add(task)
                task.add_done_callback(tasks.discard)

    @staticmethod
    async def settled(client, *words):
        try:
            for _ in range(3):
                await (await client.ping())
            say(*words, time.monotonic())
        except ConnectionClosed:
            pass


def without_date(_connection, _request, response):
    """Clients may set their clocks by it, and the relay behind gives none."""
    del response.headers["Date"]
    return response


async def main(port, relay):
    witness = Witness(relay)
    done = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, done.set)
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, witness.hold)
    async with serve(witness.attend, "127.0.0.1", port, process_response=without_date, max_size=MEBIBYTE) as server:
        say(f"ready ws://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        await done.wait()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        sys.exit(64)
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
