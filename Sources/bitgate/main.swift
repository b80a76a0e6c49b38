import Glibc

exit(Bitgate.run(Array(CommandLine.arguments.dropFirst())))
