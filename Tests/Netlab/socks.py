#!/usr/bin/env python3
"""A SOCKS5 proxy for which every host is this machine. Standard library only.

    socks.py [PORT]

Prints `ready PORT`, then one line a request: `USER PASSWORD HOST PORT`. SIGTERM ends it.
"""
import asyncio
import signal
import sys


def say(*words):
    print(*words, flush=True)


async def pump(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def serve(reader, writer):
    try:
        _, methods = await reader.readexactly(2)
        await reader.readexactly(methods)
        writer.write(b"\x05\x02")
        _, length = await reader.readexactly(2)
        user = await reader.readexactly(length)
        password = await reader.readexactly((await reader.readexactly(1))[0])
        writer.write(b"\x01\x00")
        _, _, _, kind = await reader.readexactly(4)
        if kind != 3:
            say("an address instead of a name")
            return
        host = await reader.readexactly((await reader.readexactly(1))[0])
        port = int.from_bytes(await reader.readexactly(2), "big")
        say(user.decode(), password.decode(), host.decode(), port)
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.write(b"\x05\x05\x00\x01" + bytes(6))
            return
        writer.write(b"\x05\x00\x00\x01" + bytes(6))
        await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))
    except (asyncio.IncompleteReadError, OSError, asyncio.CancelledError):
        pass
    finally:
        writer.close()


async def main(port):
    server = await asyncio.start_server(serve, "127.0.0.1", port)
    say("ready", server.sockets[0].getsockname()[1])
    done = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, done.set)
    await done.wait()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
