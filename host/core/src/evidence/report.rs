//! What a verification found, and what it could not look at.

use serde::Serialize;

use crate::ids::JobId;
use crate::job::JobState;

/// What the `schema` of a report says.
const SCHEMA: &str = "latchwork.verify/1";

/// One thing that is wrong: where, what, and the two values that do not agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Line of the file, from 1.
    pub line: u64,
    /// What kind of thing is wrong.
    pub kind: Found,
    /// What is wrong, for a person.
    pub message: String,
    /// What would be right.
    pub expected: String,
    /// What is there.
    pub found: String,
}

/// Kinds of findings: stable words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// A line is not the one that was written.
    DamagedLine,
    /// Lines are missing, doubled or out of order.
    MissingLines,
    /// The file does not have the hash its trailer states.
    FileHash,
    /// The signature is missing although it was announced, or is wrong.
    Signature,
    /// The file is not signed, or by nobody whom the trust file names. It may be intact all the same.
    Trust,
    /// The hash chain of the events is broken.
    Chain,
    /// The state machines refuse the events.
    Illegal,
    /// The header says other things than the events.
    Header,
    /// Ledger and events do not agree.
    Ledger,
    /// Effects and events do not agree.
    Effect,
    /// A call that may change the world was executed again, or twice.
    DoubleExecution,
    /// A call was made without the permission it needs.
    Permission,
    /// A payload does not have the recorded hash.
    Payload,
    /// The response or an outcome does not follow from the events.
    Response,
    /// Executed again, a step does something else.
    Reexecution,
}

impl Found {
    /// The word of reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Found::DamagedLine => "damaged_line",
            Found::MissingLines => "missing_lines",
            Found::FileHash => "file_hash",
            Found::Signature => "signature",
            Found::Trust => "trust",
            Found::Chain => "chain",
            Found::Illegal => "illegal",
            Found::Header => "header",
            Found::Ledger => "ledger",
            Found::Effect => "effect",
            Found::DoubleExecution => "double_execution",
            Found::Permission => "permission",
            Found::Payload => "payload",
            Found::Response => "response",
            Found::Reexecution => "reexecution",
        }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Problem { line, kind, message, expected, found } = self;
        write!(f, "line {line}: {message} [{}]", kind.as_str())?;
        match (expected.as_str(), found.as_str()) {
            ("", "") => Ok(()),
            _ => write!(f, "\n    expected {expected}\n    found    {found}"),
        }
    }
}

/// Something that was not looked at, and why it matters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotChecked {
    /// A stable word.
    pub code: &'static str,
    /// What it means, for a person.
    pub message: String,
}

impl NotChecked {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// What is known about the signature.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SignatureReport {
    /// Whether there is one.
    pub signed: bool,
    /// Whether it is that of its key over this file.
    pub valid: bool,
    /// Whether a trust file names the key.
    pub trusted: bool,
    /// The key: `ed25519:…`.
    pub key: Option<String>,
    /// What the trust file calls it.
    pub name: Option<String>,
}

/// What a verification found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// `latchwork.verify/1`.
    pub schema: &'static str,
    /// Whether nothing is wrong.
    pub intact: bool,
    /// The job, where the header can be read.
    pub job_id: Option<JobId>,
    /// Where the job stood when it was exported.
    pub state: Option<JobState>,
    /// Lines in the file.
    pub lines: u64,
    /// Events.
    pub events: u64,
    /// Ledger rows.
    pub ledger_rows: u64,
    /// Effects.
    pub effects: u64,
    /// Payloads.
    pub payloads: u64,
    /// Effects and payloads whose content is withheld.
    pub withheld: u64,
    /// Runs of step plugins, all with the recorded calls and output.
    pub steps_reexecuted: u64,
    /// Who signed it.
    pub signature: SignatureReport,
    /// Everything that is wrong, in the order of the lines.
    pub problems: Vec<Problem>,
    /// Everything that was not looked at.
    pub not_checked: Vec<NotChecked>,
}

impl Report {
    pub(super) fn new(lines: u64) -> Self {
        Self {
            schema: SCHEMA,
            intact: true,
            job_id: None,
            state: None,
            lines,
            events: 0,
            ledger_rows: 0,
            effects: 0,
            payloads: 0,
            withheld: 0,
            steps_reexecuted: 0,
            signature: SignatureReport::default(),
            problems: Vec::new(),
            not_checked: Vec::new(),
        }
    }

    /// Takes one more problem.
    pub fn add(&mut self, problem: Problem) {
        self.intact = false;
        let at = self.problems.partition_point(|before| before.line <= problem.line);
        self.problems.insert(at, problem);
    }

    pub(super) fn wrong(
        &mut self,
        line: u64,
        kind: Found,
        message: impl Into<String>,
        expected: impl ToString,
        found: impl ToString,
    ) {
        let (expected, found) = (expected.to_string(), found.to_string());
        self.add(Problem { line, kind, message: message.into(), expected, found });
    }
}
