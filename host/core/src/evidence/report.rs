//! Report of a verification: its findings, and the checks that were not possible.

use serde::Serialize;

use crate::model::ids::JobId;
use crate::model::job::JobState;

/// Value of `schema` in a report.
const SCHEMA: &str = "latchwork.verify/1";

/// A contradiction in the file: its line, a message, and the two values that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EvidenceProblem {
    /// Line of the file, from 1.
    pub line: u64,
    /// Kind of the problem.
    pub kind: ProblemKind,
    /// Message for a person.
    pub message: String,
    /// The value that the rest of the file requires.
    pub expected: String,
    /// The value that the file contains.
    pub found: String,
}

/// Kinds of problems. Their names are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// A line was changed after it was written.
    DamagedLine,
    /// Lines are missing, duplicated or out of order.
    MissingLines,
    /// The hash of the file differs from the hash in its trailer.
    FileHash,
    /// The signature is invalid, or it is missing although the header names a signer.
    Signature,
    /// The file is unsigned, or the trust file does not name the signing key. The file itself may still be intact.
    Trust,
    /// The hash chain of the events is broken.
    Chain,
    /// The state machines refuse the events.
    Illegal,
    /// The header contradicts the events.
    Header,
    /// The ledger contradicts the events.
    Ledger,
    /// An effect contradicts the events.
    Effect,
    /// A world-changing call was executed more than once.
    DoubleExecution,
    /// A call was made without the permission it needs.
    Permission,
    /// A payload does not have the recorded hash.
    Payload,
    /// The response or an outcome does not follow from the events.
    Response,
    /// The signature of a person does not match the decision.
    Decision,
    /// The file of people names another person, or no person, for the key that signed a decision.
    Person,
    /// A step that was executed again behaved differently.
    Reexecution,
}

impl ProblemKind {
    /// Returns the name of the kind in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            ProblemKind::DamagedLine => "damaged_line",
            ProblemKind::MissingLines => "missing_lines",
            ProblemKind::FileHash => "file_hash",
            ProblemKind::Signature => "signature",
            ProblemKind::Trust => "trust",
            ProblemKind::Chain => "chain",
            ProblemKind::Illegal => "illegal",
            ProblemKind::Header => "header",
            ProblemKind::Ledger => "ledger",
            ProblemKind::Effect => "effect",
            ProblemKind::DoubleExecution => "double_execution",
            ProblemKind::Permission => "permission",
            ProblemKind::Payload => "payload",
            ProblemKind::Response => "response",
            ProblemKind::Decision => "decision",
            ProblemKind::Person => "person",
            ProblemKind::Reexecution => "reexecution",
        }
    }
}

impl std::fmt::Display for EvidenceProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let EvidenceProblem { line, kind, message, expected, found } = self;
        write!(f, "line {line}: {message} [{}]", kind.as_str())?;
        match (expected.as_str(), found.as_str()) {
            ("", "") => Ok(()),
            _ => write!(f, "\n    expected {expected}\n    found    {found}"),
        }
    }
}

/// A check that was not possible, and its consequence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotChecked {
    /// Stable code of the missing check.
    pub code: &'static str,
    /// Explanation for a person.
    pub message: String,
}

impl NotChecked {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// Result of the signature check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SignatureReport {
    /// True if the file has a signature.
    pub signed: bool,
    /// True if the signature is valid for this file and for the signing key.
    pub valid: bool,
    /// True if the trust file names the key.
    pub trusted: bool,
    /// The signing key, as `ed25519:…`.
    pub key: Option<String>,
    /// Name of the key in the trust file.
    pub name: Option<String>,
}

/// Numbers of approvals and rejections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DecisionReport {
    /// Number of decisions under a claimed name.
    pub claimed: u64,
    /// Number of signed decisions.
    pub signed: u64,
    /// Number of decisions with a valid signature of a key that the file of people names for this person.
    pub trusted: u64,
}

/// Result of a verification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// Always `latchwork.verify/1`.
    pub schema: &'static str,
    /// True if no problem was found.
    pub intact: bool,
    /// ID of the job, if the header is readable.
    pub job_id: Option<JobId>,
    /// State of the job at the time of the export.
    pub state: Option<JobState>,
    /// Number of lines in the file.
    pub lines: u64,
    /// Number of events.
    pub events: u64,
    /// Number of ledger rows.
    pub ledger_rows: u64,
    /// Number of effects.
    pub effects: u64,
    /// Number of payloads.
    pub payloads: u64,
    /// Number of effects and payloads whose content is withheld.
    pub withheld: u64,
    /// Number of step plugin runs that were executed again with the recorded calls and output.
    pub steps_reexecuted: u64,
    /// Result of the signature check.
    pub signature: SignatureReport,
    /// Approvals and rejections, by the assurance of the names.
    pub decisions: DecisionReport,
    /// All problems, in order of their lines.
    pub problems: Vec<EvidenceProblem>,
    /// All checks that were not possible.
    pub not_checked: Vec<NotChecked>,
}

impl VerifyReport {
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
            decisions: DecisionReport::default(),
            problems: Vec::new(),
            not_checked: Vec::new(),
        }
    }

    /// Adds a problem. The file then no longer counts as intact.
    pub fn add(&mut self, problem: EvidenceProblem) {
        self.intact = false;
        let at = self.problems.partition_point(|before| before.line <= problem.line);
        self.problems.insert(at, problem);
    }

    pub(super) fn add_problem(
        &mut self,
        line: u64,
        kind: ProblemKind,
        message: impl Into<String>,
        expected: impl ToString,
        found: impl ToString,
    ) {
        let (expected, found) = (expected.to_string(), found.to_string());
        self.add(EvidenceProblem { line, kind, message: message.into(), expected, found });
    }
}
