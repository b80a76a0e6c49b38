import Station

/// `bitgate doctor`: looks at the machine, with or without a running daemon.
enum DoctorCommand {
    static func run(_ arguments: [String]) throws -> Int32 {
        let arguments = try Arguments(arguments, flags: ["--json"], options: ["--config"])
        try arguments.expectWords(atMost: 0)
        let diagnosis = Diagnosis(HostSurvey.facts(configurationPath: arguments.value("--config")))
        Output.write(arguments.has("--json") ? DoctorReport.json(diagnosis) : DoctorReport.text(diagnosis))
        return diagnosis.findings.isEmpty ? ExitStatus.ok : ExitStatus.findings
    }
}
