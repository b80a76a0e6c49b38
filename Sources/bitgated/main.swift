import Glibc
import Station

ProcessName.set("bitgated")
StandardDescriptors.fill()
exit(Daemon.run(Array(CommandLine.arguments.dropFirst())))
