#!/usr/bin/env python3
"""Subscribes at a Nostr relay to everything from now on and prints each event's JSON as a line, until stopped.

    listen.py ws://127.0.0.1:PORT [KIND…]

The kinds are those of the bridge and of sealed mail by default.
"listening" on a line of its own says that the relay has accepted the subscription.
"""
import json
import sys
import time

from websockets.sync.client import connect


def main():
    if len(sys.argv) < 2 or not all(kind.isdigit() for kind in sys.argv[2:]):
        print(__doc__, file=sys.stderr)
        return 64
    kinds = [int(kind) for kind in sys.argv[2:]] or [1401, 20000, 20001]
    with connect(sys.argv[1]) as relay:
        # nostr-relay delivers live only events newer than `since`, and dates are whole seconds.
        relay.send(json.dumps(["REQ", "demo", {"kinds": kinds, "since": int(time.time()) - 5}]))
        for message in relay:
            answer = json.loads(message)
            if answer[0] == "EOSE":
                print("listening", flush=True)
            elif answer[0] == "EVENT":
                print(json.dumps(answer[2], ensure_ascii=False, separators=(",", ":")), flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        pass
