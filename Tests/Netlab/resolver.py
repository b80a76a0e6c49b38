#!/usr/bin/env python3
"""The resolver that only the exits of the private Tor network ask.

    resolver.py ADDRESS PORT HOSTS

HOSTS has lines like /etc/hosts, with *.NAME for all names below one, and is read anew for each query. Other names do
not exist. Each query is printed as a line.
"""
import socket
import struct
import sys

NO_ERROR, NO_SUCH_NAME = 0x8180, 0x8183
TYPE_A, CLASS_IN = 1, 1
SECONDS_TO_LIVE = 60


def find(hosts, name):
    with open(hosts) as file:
        for line in file:
            address, *patterns = line.split("#")[0].split() or [None]
            for pattern in patterns:
                if name == pattern or pattern.startswith("*.") and name.endswith(pattern[1:]):
                    return address
    return None


def parse(query):
    """The name asked for, the type, and where the question ends."""
    labels, position = [], 12
    while query[position]:
        length = query[position]
        labels.append(query[position + 1:position + 1 + length].decode("ascii", "replace"))
        position += 1 + length
    (kind,) = struct.unpack_from("!H", query, position + 1)
    return ".".join(labels).lower(), kind, position + 5


def answer(query, hosts):
    name, kind, end = parse(query)
    address = find(hosts, name)
    print(name, kind, address, flush=True)
    record = b""
    if address and kind == TYPE_A:
        record = struct.pack("!HHHIH", 0xC00C, TYPE_A, CLASS_IN, SECONDS_TO_LIVE, 4) + socket.inet_aton(address)
    flags = NO_ERROR if address else NO_SUCH_NAME
    return query[:2] + struct.pack("!HHHHH", flags, 1, bool(record), 0, 0) + query[12:end] + record


def main():
    address, port, hosts = sys.argv[1:]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((address, int(port)))
        while True:
            query, client = server.recvfrom(4096)
            try:
                server.sendto(answer(query, hosts), client)
            except (IndexError, struct.error, OSError) as problem:
                print("unanswered:", problem, flush=True)


if __name__ == "__main__":
    main()
