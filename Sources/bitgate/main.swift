import Glibc
import Station

StandardDescriptors.fill()
exit(Bitgate.run(Array(CommandLine.arguments.dropFirst())))
