// swift-tools-version:6.0
import PackageDescription

/// A system C library: one thin module, found through pkg-config where the library ships a `.pc` file.
func system(_ name: String, pkgConfig: String?, package: String) -> Target {
    .systemLibrary(name: name, path: "Sources/System/\(name)", pkgConfig: pkgConfig, providers: [.apt([package])])
}

func tests(_ name: String, _ dependencies: Target.Dependency...) -> Target {
    .testTarget(name: name, dependencies: ["TestSupport"] + dependencies)
}

let package = Package(
    name: "bitgate",
    products: [
        .executable(name: "bitgated", targets: ["bitgated"]),
        .executable(name: "bitgate", targets: ["bitgate"]),
        .executable(name: "bench", targets: ["bench"]),
    ],
    targets: [
        system("Clibevent", pkgConfig: "libevent_core", package: "libevent-dev"),
        system("Clibsodium", pkgConfig: "libsodium", package: "libsodium-dev"),
        system("Clibm", pkgConfig: nil, package: "libc6-dev"),
        system("Csecp256k1", pkgConfig: "libsecp256k1", package: "libsecp256k1-dev"),
        system("Czlib", pkgConfig: "zlib", package: "zlib1g-dev"),
        system("Cwslay", pkgConfig: nil, package: "libwslay-dev"),
        system("Copenssl", pkgConfig: "openssl", package: "libssl-dev"),
        system("Cbluetooth", pkgConfig: nil, package: "libbluetooth-dev"),
        system("Csystemd", pkgConfig: "libsystemd", package: "libsystemd-dev"),
        system("Csqlite3", pkgConfig: "sqlite3", package: "libsqlite3-dev"),
        system("Clz4", pkgConfig: "liblz4", package: "liblz4-dev"),
        system("Ctimex", pkgConfig: nil, package: "libc6-dev"),
        system("Clibedit", pkgConfig: "libedit", package: "libedit-dev"),
        system("Cqrencode", pkgConfig: "libqrencode", package: "libqrencode-dev"),
        // toml++ is C++, so its thin module is a target; its pkg-config macros are refused by the package manager.
        .target(
            name: "CToml",
            cxxSettings: [.define("TOML_HEADER_ONLY", to: "0"), .define("TOML_SHARED_LIB", to: "1")],
            linkerSettings: [.linkedLibrary("tomlplusplus"), .linkedLibrary("stdc++")]),

        // Pure: no I/O, no clock, no randomness of their own. A module imports only what stands above it here.
        .target(name: "Basics", dependencies: ["Clibsodium"]),
        .target(name: "Wire", dependencies: ["Basics", "Czlib"]),
        .target(name: "Crypto", dependencies: ["Basics", "Wire", "Clibsodium", "Csecp256k1"]),
        .target(name: "Mesh", dependencies: ["Basics", "Wire", "Crypto"]),
        .target(name: "Nostr", dependencies: ["Basics", "Wire", "Crypto", "Clibm"]),
        .target(name: "Gateway", dependencies: ["Basics", "Wire", "Crypto", "Nostr"]),
        .target(name: "Messenger", dependencies: ["Basics", "Wire", "Crypto"]),
        .target(
            name: "Simulation", dependencies: ["Basics", "Wire", "Crypto", "Mesh", "Nostr", "Gateway", "Messenger"]),

        // I/O: the only code that may block, read a clock or touch a file.
        .target(name: "EventLoop", dependencies: ["Basics", "Clibevent"]),
        .target(name: "Radio", dependencies: ["Basics", "Wire", "EventLoop", "Cbluetooth"]),
        .target(name: "Uplink", dependencies: ["Basics", "EventLoop", "Copenssl", "Cwslay"]),
        .target(name: "CPanelLines", linkerSettings: [.linkedLibrary("gpiod")]),
        .target(name: "Panel", dependencies: ["Basics", "EventLoop", "CPanelLines"]),
        .target(name: "Vault", dependencies: ["Basics", "Crypto", "EventLoop", "Csqlite3", "Clz4"]),
        .target(
            name: "Station",
            dependencies: [
                "Basics", "Wire", "Crypto", "Mesh", "Nostr", "Gateway", "Messenger", "EventLoop", "Radio", "Uplink",
                "Panel", "Vault", "CToml", "Ctimex", "Csystemd",
            ]),

        .executableTarget(name: "bitgated", dependencies: ["Basics", "EventLoop", "Station"]),
        .executableTarget(
            name: "bitgate",
            dependencies: ["Basics", "EventLoop", "Station", "Panel", "Simulation", "Clibedit", "Cqrencode"]),
        // Replaces malloc: never linked into anything but the benchmark.
        .target(name: "CAllocationCount"),
        .executableTarget(
            name: "bench",
            dependencies: [
                "Basics", "Wire", "Crypto", "Mesh", "Nostr", "EventLoop", "Uplink", "Vault", "Clibsodium", "Csecp256k1",
                "Czlib", "Copenssl", "CAllocationCount",
            ]),
        // Sources/fuzz is no target: every module it uses is to be compiled for libFuzzer, which deploy/fuzz does.

        .target(name: "TestSupport", dependencies: ["Basics"], path: "Tests/Support"),
        tests("BasicsTests", "Basics"),
        tests("WireTests", "Wire"),
        tests("CryptoTests", "Crypto", "Wire"),
        tests("MeshTests", "Simulation", "Mesh", "Wire", "Crypto"),
        tests("NostrTests", "Nostr", "Wire", "Crypto"),
        tests("GatewayTests", "Gateway", "Nostr", "Wire", "Crypto"),
        tests("MessengerTests", "Messenger", "Wire", "Crypto"),
        tests("EventLoopTests", "EventLoop"),
        tests("PanelTests", "Panel", "EventLoop"),
        tests("RadioTests", "Radio", "EventLoop", "Wire"),
        tests("UplinkTests", "Uplink", "EventLoop", "Copenssl"),
        tests("VaultTests", "Vault", "EventLoop", "Crypto", "VaultDriver"),
        // Killed by the tests at every step of what it does.
        .executableTarget(
            name: "VaultDriver", dependencies: ["Vault", "EventLoop", "Crypto", "Basics"], path: "Tests/Driver"),
        tests(
            "StationTests", "Station", "Mesh", "Gateway", "Messenger", "Nostr", "Panel", "Radio", "Uplink", "EventLoop",
            "Vault",
            "Crypto", "Wire"),
        tests("SimulationTests", "Simulation", "Mesh", "Wire", "Crypto", "Gateway", "Nostr"),
        tests("SystemTests", "Station", "Panel", "Radio", "EventLoop", "Wire", "Nostr", "Crypto", "Uplink"),
        tests("TidyTests"),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

// Nothing here has a second thread, so the optimised build counts references without atomic instructions and leaves out
// run-time checks of exclusive access. Debug builds, and with them the tests, make both.
let lean: [SwiftSetting] = [
    .unsafeFlags(
        ["-enforce-exclusivity=unchecked", "-Xfrontend", "-assume-single-threaded"], .when(configuration: .release))
]
for target in package.targets where [.regular, .executable].contains(target.type) {
    target.swiftSettings = (target.swiftSettings ?? []) + lean
}
