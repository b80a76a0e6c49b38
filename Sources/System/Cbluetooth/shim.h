#pragma once
// Structures and numbers of the kernel's Bluetooth sockets; nothing is linked.
#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/l2cap.h>
