#!/usr/bin/env python3
"""Asks a SOCKS5 proxy for a connection.

    reach.py PROXY HOST PORT    status 0 when HOST answered, if only by refusing the port
"""
import socket
import struct
import sys

REFUSED = 5
SECONDS = 15


def exactly(stream, count):
    data = b""
    while len(data) < count:
        piece = stream.recv(count - len(data))
        if not piece:
            raise OSError("the proxy hung up")
        data += piece
    return data


def ask(proxy, host, port):
    """The proxy's reply code."""
    address, proxy_port = proxy.rsplit(":", 1)
    name = host.encode()
    with socket.create_connection((address, int(proxy_port)), SECONDS) as stream:
        stream.sendall(b"\x05\x01\x02")
        exactly(stream, 2)
        stream.sendall(b"\x01\x06tornet\x06answer")
        exactly(stream, 2)
        stream.sendall(b"\x05\x01\x00\x03" + bytes([len(name)]) + name + struct.pack("!H", port))
        return exactly(stream, 2)[1]


def main():
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 64
    try:
        return 0 if ask(sys.argv[1], sys.argv[2], int(sys.argv[3])) in (0, REFUSED) else 1
    except OSError:
        return 1


if __name__ == "__main__":
    sys.exit(main())
