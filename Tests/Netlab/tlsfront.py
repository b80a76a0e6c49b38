#!/usr/bin/env python3
"""TLS in front of a server on this machine, well or badly. Standard library only.

    tlsfront.py DIR TARGETPORT PORT:KIND[,OPTION…] …

DIR holds the certificates that tls.sh wrote, KIND is one of them. PORT 0 picks a free one. All fronts of one call lead
to 127.0.0.1:TARGETPORT.

    stall      accept, and never answer the handshake
    tls12      TLS 1.2 only                tls13    TLS 1.3 only
    cut=N      drop the connection after N bytes of the target's
    abort      end without close_notify

Prints `ready KIND[,OPTION…] PORT` for each front, then one line a connection: `PORT TLSv1.3 HOST`, with the server name
the client asked for or `-`, or `PORT failed REASON`. SIGTERM ends it.
"""
import asyncio
import os
import signal
import ssl
import sys


def say(*words):
    print(*words, flush=True)


class Front:
    def __init__(self, folder, target, spec):
        port, self.name = spec.split(":", 1)
        self.port = int(port)
        kind, *options = self.name.split(",")
        self.options = dict((option + "=").split("=")[:2] for option in options)
        self.target = target
        self.asked = "-"
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(os.path.join(folder, kind + ".pem"), os.path.join(folder, kind + ".key"))
        for option, version in (("tls12", ssl.TLSVersion.TLSv1_2), ("tls13", ssl.TLSVersion.TLSv1_3)):
            if option in self.options:
                self.context.minimum_version = self.context.maximum_version = version
        self.context.sni_callback = self.name_asked

    def name_asked(self, _connection, name, _context):
        self.asked = name or "-"

    async def start(self):
        server = await asyncio.start_server(self.serve, "127.0.0.1", self.port)
        self.port = server.sockets[0].getsockname()[1]
        say("ready", self.name, self.port)

    async def serve(self, reader, writer):
        try:
            if "stall" in self.options:
                say(self.port, "stalled")
                await reader.read()
                return
            self.asked = "-"
            try:
                await writer.start_tls(self.context, ssl_handshake_timeout=30)
            except (OSError, ssl.SSLError) as error:
                say(self.port, "failed", getattr(error, "reason", None) or type(error).__name__)
                return
            say(self.port, writer.get_extra_info("ssl_object").version(), self.asked)
            await self.forward(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def forward(self, reader, writer):
        target_reader, target_writer = await asyncio.open_connection("127.0.0.1", self.target)
        cut = int(self.options.get("cut") or sys.maxsize)
        ways = [asyncio.ensure_future(pump(reader, target_writer, sys.maxsize)),
                asyncio.ensure_future(pump(target_reader, writer, cut))]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        target_writer.close()
        if "abort" in self.options or "cut" in self.options:
            writer.transport.abort()


async def pump(reader, writer, left):
    try:
        while left > 0 and (data := await reader.read(65536)):
            writer.write(data[:left])
            await writer.drain()
            left -= len(data)
    except (OSError, ssl.SSLError):
        pass


async def main(folder, target, specs):
    for spec in specs:
        await Front(folder, int(target), spec).start()
    done = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, done.set)
    await done.wait()


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
