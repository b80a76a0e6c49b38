"""Joins an asyncio phone to whoever tests it: lines in are said, what happens is told in lines."""

import asyncio
import sys


class Terminal:
    def __init__(self, listener):
        self.listener = listener
        self.told = set()
        self.count = 0

    def hear(self, frame):
        self.listener.receive(frame)
        for name in self.listener.names - self.told:
            self.told.add(name)
            print(f"knows {name}", flush=True)
        for name, text in self.listener.texts[self.count:]:
            print(f"heard {name}: {text}", flush=True)
        self.count = len(self.listener.texts)

    async def run(self, identity, deliver):
        """Says line after line until told to leave; announces itself every few seconds, as phones do."""
        lines = asyncio.StreamReader(limit=1 << 20)
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
        line = asyncio.ensure_future(lines.readline())
        while True:
            done, _ = await asyncio.wait([line], timeout=5)
            if not done:
                await deliver(identity.announce())
                continue
            text = line.result().decode().rstrip("\n")
            if text == "/quit" or not line.result():
                await deliver(identity.leave())
                return
            await deliver(identity.message(text))
            line = asyncio.ensure_future(lines.readline())
