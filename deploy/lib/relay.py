#!/usr/bin/env python3
"""Runs a real Nostr relay on this machine's loopback interface until it is told to stop.

    relay.py rust PORT      LocalRelay of rust-nostr (package nostr-sdk): in memory
    relay.py python PORT    nostr-relay: an SQLite file in a temporary directory, removed at the end

PORT 0 picks a free one. The line "ready ws://127.0.0.1:PORT" says that connections are accepted. SIGTERM and SIGINT
stop it. Start it with the Python that has the package.
"""
import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
# Far above what a demo or a test sends; the library's own limit is 60 events a minute.
EVENTS_PER_MINUTE = 100_000
SUBSCRIPTIONS = 500
PATIENCE_SECONDS = 30


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def announce(port):
    print(f"ready ws://127.0.0.1:{port}", flush=True)


async def run_rust(port):
    import nostr_sdk

    loop = asyncio.get_running_loop()
    # The library's threads look for the loop that its callbacks belong to.
    register = getattr(nostr_sdk, "uniffi_set_event_loop", None)
    if register:
        register(loop)
    limits = nostr_sdk.RateLimit(max_reqs=SUBSCRIPTIONS, notes_per_minute=EVENTS_PER_MINUTE)
    relay = nostr_sdk.LocalRelayBuilder().addr("127.0.0.1").port(port).rate_limit(limits).build()
    stopped = asyncio.Event()
    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, stopped.set)
    await relay.run()
    announce(port)
    await stopped.wait()
    relay.shutdown()


SETTINGS = """\
relay_name: bitgate demo
DEBUG: false
subscription_limit: {subscriptions}
storage:
  class: nostr_relay.storage.db.DBStorage
  sqlalchemy.url: sqlite+aiosqlite:///{folder}/events.sqlite3
  validators: [nostr_relay.validators.is_signed]
verification: {{nip05_verification: disabled}}
gunicorn: {{bind: "127.0.0.1:{port}", workers: 1}}
authentication: {{enabled: false}}
"""


def run_python(port):
    folder = tempfile.mkdtemp(prefix="bitgate-relay-")
    server = None

    def stop(*_):
        if server and server.poll() is None:
            server.terminate()

    for number in STOP_SIGNALS:
        signal.signal(number, stop)
    try:
        settings = os.path.join(folder, "relay.yaml")
        with open(settings, "w") as file:
            file.write(SETTINGS.format(folder=folder, port=port, subscriptions=SUBSCRIPTIONS))
        # In this process group, so that whoever ends the group ends the server too.
        start = "from nostr_relay.cli import main; main()"
        server = subprocess.Popen(
            [sys.executable, "-c", start, "-c", settings, "serve", "--use-uvicorn"],
            cwd=folder, stdin=subprocess.DEVNULL, stdout=sys.stderr)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while server.poll() is None and time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
            except OSError:
                time.sleep(0.05)
                continue
            announce(port)
            break
        else:
            stop()
        code = server.wait()
        return 0 if code in (0, -signal.SIGTERM) else 1
    finally:
        stop()
        shutil.rmtree(folder, ignore_errors=True)


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("rust", "python") or not sys.argv[2].isdigit():
        print(__doc__, file=sys.stderr)
        return 64
    port = int(sys.argv[2]) or free_port()
    if sys.argv[1] == "rust":
        asyncio.run(run_rust(port))
        return 0
    return run_python(port)


if __name__ == "__main__":
    sys.exit(main())
