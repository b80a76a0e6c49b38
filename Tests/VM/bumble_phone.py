"""A phone on bumble. Arguments: where, role, name.

Where is the number N of a controller whose kernel side bumble takes over, so that its host speaks to the air; or `own`:
then the controllers are bumble's as well, one below the phone and one that the kernel gets as a new adapter, and the air
between the two is bumble's. The role is central or peripheral.
"""

import asyncio
import socket
import struct
import sys

from bumble.controller import Controller
from bumble.core import AdvertisingData, UUID
from bumble.device import Device, Peer
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.hci import Address
from bumble.host import Host
from bumble.link import LocalLink
from bumble.transport import open_transport
from bumble.transport.common import ParserSource

import kernel
import mesh
from terminal import Terminal

USER_CHANNEL = 1
PHONE_ADDRESS, KERNEL_ADDRESS = "02:00:A1:5E:01:01/P", "02:00:A1:5E:01:02/P"


class UserChannel:
    """A controller taken over from the kernel, as a transport."""

    def __init__(self, number):
        self.socket = socket.socket(kernel.FAMILY, socket.SOCK_RAW | socket.SOCK_NONBLOCK, kernel.HCI)
        kernel.call("bind", self.socket.fileno(), struct.pack("<HHH", kernel.FAMILY, number, USER_CHANNEL), 6)
        self.source = ParserSource()
        self.sink = self
        asyncio.get_running_loop().add_reader(self.socket, self.read)

    def read(self):
        try:
            while True:
                self.source.parser.feed_data(self.socket.recv(4096))
        except BlockingIOError:
            pass

    def on_packet(self, packet):
        self.socket.setblocking(True)  # for writing only: reading waits for readiness
        self.socket.send(packet)
        self.socket.setblocking(False)


class Air(LocalLink):
    """bumble's air takes LE data to come from a controller's random address, whichever its link was made with; the
    kernel gives each advertising set an address of its own. So here data comes from the link's."""

    def send_acl_data(self, sender_controller, destination_address, transport, data):
        link = sender_controller.le_connections.get(destination_address)
        receiver = self.find_le_controller(destination_address)
        if link and receiver:
            asyncio.get_running_loop().call_soon(receiver.on_link_acl_data, link.self_address, transport, data)


async def open_device(where, name):
    if where != "own":
        management = kernel.Management()
        management.power_off(int(where))
        channel = UserChannel(int(where))
        return Device.with_hci(name, Address("F0:F1:F2:F3:F4:F5"), channel.source, channel.sink)
    air = Air()
    transport = await open_transport("vhci")
    below_kernel = Controller(
        "kernel", host_source=transport.source, host_sink=transport.sink, link=air, public_address=KERNEL_ADDRESS)
    device = Device(name, address=Address("F0:F1:F2:F3:F4:F5"))
    device.host = Host()
    device.host.controller = Controller("phone", link=air, public_address=PHONE_ADDRESS)
    device.kept = (transport, below_kernel)
    return device


async def call(device, terminal):
    """As central: finds the box, connects, subscribes; gives what delivers packets."""
    found = asyncio.get_running_loop().create_future()

    def heard(advertisement):
        services = [UUID.from_bytes(bytes(data)) for kind, data in advertisement.data.ad_structures
                    if kind in (AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS,
                                AdvertisingData.INCOMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS)]
        if UUID(mesh.SERVICE) in services and advertisement.is_connectable and not found.done():
            found.set_result(advertisement.address)

    device.on("advertisement", heard)
    await device.start_scanning()
    address = await found
    await device.stop_scanning()
    print("found", flush=True)
    peer = Peer(await device.connect(address, timeout=60))
    mtu = await peer.request_mtu(517)
    print(f"mtu {mtu}", flush=True)
    services = await peer.discover_service(UUID(mesh.SERVICE))
    assert len(services) == 1, services
    characteristics = await peer.discover_characteristics([UUID(mesh.CHARACTERISTIC)], services[0])
    assert len(characteristics) == 1, characteristics
    characteristic = characteristics[0]
    await peer.discover_descriptors(characteristic)
    await peer.subscribe(characteristic, lambda value: terminal.hear(bytes(value)))

    async def deliver(packet):
        for frame in mesh.frames(packet, min(mtu - 3, 512)):
            await characteristic.write_value(frame, with_response=False)
            await asyncio.sleep(0.03)
    return deliver


async def be_called(device, terminal):
    """As peripheral: advertises, and waits until the box has connected and subscribed."""
    subscribed = asyncio.get_running_loop().create_future()
    mtu = [23]
    characteristic = Characteristic(
        mesh.CHARACTERISTIC,
        Characteristic.Properties.READ | Characteristic.Properties.WRITE
        | Characteristic.Properties.WRITE_WITHOUT_RESPONSE | Characteristic.Properties.NOTIFY,
        Characteristic.READABLE | Characteristic.WRITEABLE,
        CharacteristicValue(write=lambda _, value: terminal.hear(bytes(value))))

    def on_subscription(connection, notify, indicate):
        mtu[0] = connection.att_mtu
        if notify and not subscribed.done():
            subscribed.set_result(connection)

    characteristic.on("subscription", on_subscription)
    device.add_service(Service(mesh.SERVICE, [characteristic]))
    data = AdvertisingData([
        (AdvertisingData.FLAGS, b"\x06"),
        (AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, UUID(mesh.SERVICE).to_bytes()),
    ])
    await device.start_advertising(advertising_data=bytes(data), auto_restart=True)
    print("advertising", flush=True)
    await subscribed
    print(f"mtu {mtu[0]}", flush=True)

    async def deliver(packet):
        for frame in mesh.frames(packet, min(mtu[0] - 3, 512)):
            await device.notify_subscribers(characteristic, frame)
            await asyncio.sleep(0.03)
    return deliver


async def main(where, role, name):
    identity = mesh.Identity(name)
    terminal = Terminal(mesh.Listener(identity.peer))
    device = await open_device(where, name)
    await device.power_on()
    deliver = await (call if role == "central" else be_called)(device, terminal)
    print("subscribed", flush=True)
    await deliver(identity.announce())
    await terminal.run(identity, deliver)
    for connection in list(device.connections.values()):
        await connection.disconnect()
    print("left", flush=True)
    await device.power_off()


asyncio.run(main(*sys.argv[1:]))
