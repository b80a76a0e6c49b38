import Foundation
import XCTest

/// The scripts of the image, in a folder that stands for the box.
class BoxScriptCase: XCTestCase {
    private(set) var scratch: Scratch!

    override func setUpWithError() throws {
        scratch = try Scratch()
        for path in [
            "/run", "/sys", "/boot/firmware", "/etc/bitgate", "/data/config/bitgate", "/data/config/tor",
            "/data/bitgate",
            "/data/ssh", "/data/wifi", "/usr/share/box/boot", "/bin",
        ] {
            try folder(path)
        }
        try put("packaged", "/etc/bitgate/bitgate.toml")
        try put("the-key", "/data/ssh/ssh_host_ed25519_key")
        try put("", "/data/ssh/authorized_keys")
    }
    override func tearDown() { scratch = nil }

    func folder(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: scratch.path + path, withIntermediateDirectories: true)
    }
    func put(_ text: String, _ path: String) throws {
        try text.write(toFile: scratch.path + path, atomically: false, encoding: .utf8)
    }
    func text(_ path: String) -> String? { try? String(contentsOfFile: scratch.path + path, encoding: .utf8) }
    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: scratch.path + path) }
    func link(_ path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: scratch.path + path, withDestinationPath: scratch.path + target)
    }
    func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: scratch.path + path)
        return try XCTUnwrap(attributes[.posixPermissions] as? Int)
    }
    func isLink(_ path: String) -> Bool {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: scratch.path + path)) != nil
    }

    /// The files of the boot partition as the image has them.
    func layTemplates() throws {
        for (folder, names) in [
            ("/image/files/usr/share/box/boot/", ["network.conf", "authorized_keys", "bridges.txt"]),
            ("/etc/", ["bitgate.toml"]),
        ] {
            for name in names {
                let template = try String(contentsOfFile: Programs.root.path + folder + name, encoding: .utf8)
                try put(template, "/usr/share/box/boot/" + name)
                try put(template, "/boot/firmware/" + name)
            }
        }
    }

    /// A program of the system's, in the place of the one by that name.
    func program(_ name: String, _ lines: String) throws {
        try put("#!/bin/sh\n" + lines + "\n", "/bin/" + name)
        chmod(scratch.path + "/bin/" + name, 0o755)
    }

    func status(_ script: String, _ arguments: [String] = [], now: Int? = nil) throws -> Programs.Outcome {
        var environment = [
            "BOX_ROOT": scratch.path, "BOX_PAUSE": "0.01",
            "PATH": scratch.path + "/bin:" + Programs.folder.path + ":/usr/sbin:/usr/bin:/bin",
        ]
        environment["BOX_NOW"] = now.map(String.init)
        return try Programs.start(
            "/bin/sh", [Programs.root.path + "/image/files/usr/libexec/box/" + script] + arguments, in: scratch,
            environment: environment
        ).wait()
    }

    @discardableResult
    func run(_ script: String) throws -> String {
        let outcome = try status(script)
        XCTAssertEqual(outcome.status, 0, outcome.errors)
        return outcome.output
    }
}
