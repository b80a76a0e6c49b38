"""A phone whose Bluetooth is the system's: bleak on bluetoothd. Arguments: adapter, name."""

import asyncio
import sys

from bleak import BleakClient, BleakScanner

import mesh
from terminal import Terminal


async def main(adapter, name):
    identity = mesh.Identity(name)
    terminal = Terminal(mesh.Listener(identity.peer))
    device = None
    while device is None:
        device = await BleakScanner.find_device_by_filter(
            lambda _, heard: mesh.SERVICE in heard.service_uuids, timeout=30, bluez={"adapter": adapter})
    print("found", flush=True)
    async with BleakClient(device, timeout=120, bluez={"adapter": adapter}) as client:
        service = client.services.get_service(mesh.SERVICE)
        characteristic = service.get_characteristic(mesh.CHARACTERISTIC)
        assert set(characteristic.properties) == {"read", "write", "write-without-response", "notify"}, \
            characteristic.properties
        assert bytes(await client.read_gatt_char(characteristic)) == b""
        await client.start_notify(characteristic, lambda _, value: terminal.hear(bytes(value)))
        print("subscribed", flush=True)
        limit = min(characteristic.max_write_without_response_size, 512)
        print(f"writes up to {limit}", flush=True)

        async def deliver(packet):
            for number, frame in enumerate(mesh.frames(packet, limit)):
                # Phones write without response; that a write with one works as well shows here and there.
                await client.write_gatt_char(characteristic, frame, response=number % 8 == 7)
                await asyncio.sleep(0.03)

        await deliver(identity.announce())
        await terminal.run(identity, deliver)
    print("left", flush=True)


asyncio.run(main(*sys.argv[1:]))
