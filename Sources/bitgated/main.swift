import Glibc
import Station

StandardDescriptors.fill()
exit(Daemon.run(Array(CommandLine.arguments.dropFirst())))
