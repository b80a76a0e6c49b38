import Glibc

/// Numbers of the system, out of the way of names in the modules under test.
enum SystemErrorNumbers {
    static let hostDown = EHOSTDOWN
}
