//! Error pages. Each page describes one code: the error, its usual cause and the remedy. `latch explain`
//! prints a page.

/// The page of one code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorPage {
    /// The code, such as `L0001` or `RATE_LIMIT`.
    pub code: &'static str,
    /// Text of the page in Markdown.
    pub text: &'static str,
}

impl ErrorPage {
    /// Returns the title of the page, which describes the code in a few words.
    pub fn title(&self) -> &'static str {
        let first = self.text.lines().next().unwrap_or_default();
        first.split_once(": ").map_or(first, |(_, title)| title)
    }
}

/// Returns the text of the page for a code. Upper and lower case are equivalent.
///
/// ```
/// use latchwork_core::model::error_docs;
/// assert!(error_docs::find("INDETERMINATE_EFFECT").is_some_and(|page| page.contains("job resolve")));
/// assert_eq!(error_docs::find("no such code"), None);
/// ```
pub fn find(code: &str) -> Option<&'static str> {
    PAGES.iter().find(|page| page.code.eq_ignore_ascii_case(code)).map(|page| page.text)
}

/// Returns the code for a failed file write if the disk is full or the folder is not writable.
pub fn code_of_write_error(kind: std::io::ErrorKind) -> Option<&'static str> {
    use std::io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    match kind {
        StorageFull | QuotaExceeded => Some(DISK_FULL),
        ReadOnlyFilesystem | PermissionDenied => Some(FOLDER_READ_ONLY),
        _ => None,
    }
}

/// Returns all pages. Codes of usage, configuration and stores come first, followed by reason codes of steps
/// and jobs.
pub fn all() -> &'static [ErrorPage] {
    PAGES
}

macro_rules! pages {
    (errors { $($name:ident = $code:literal,)* } reasons { $($reason:literal,)* }) => {
        $(
            #[doc = concat!("Code `", $code, "`.")]
            #[doc = ""]
            #[doc = include_str!(concat!("../../errors/", $code, ".md"))]
            pub const $name: &str = $code;
        )*
        const PAGES: &[ErrorPage] = &[
            $(ErrorPage { code: $code, text: include_str!(concat!("../../errors/", $code, ".md")) },)*
            $(ErrorPage { code: $reason, text: include_str!(concat!("../../errors/", $reason, ".md")) },)*
        ];
    };
}

pages! {
    errors {
    CONFIG_UNREADABLE = "L0001",
    CONFIG_SYNTAX = "L0002",
    CONFIG_UNKNOWN_KEY = "L0003",
    CONFIG_NOT_SUPPORTED = "L0004",
    CONFIG_WRONG_TYPE = "L0005",
    CONFIG_INVALID_VALUE = "L0006",
    CONFIG_MISSING_KEY = "L0007",
    CONFIG_DUPLICATE_PLUGIN = "L0008",
    CONFIG_DATABASE = "L0009",
    USAGE = "L0010",
    INPUT_UNREADABLE = "L0011",
    PLAN_REFUSED = "L0012",
    REQUEST_CONFLICT = "L0013",
    NO_SUCH_JOB = "L0014",
    JOB_REFUSES = "L0015",
    NO_SUCH_CODE = "L0016",
    JOB_HELD = "L0017",
    PLUGIN_MISSING = "L0020",
    PLUGIN_DIGEST = "L0021",
    PLUGIN_IMPORTS = "L0022",
    PLUGIN_MALFORMED = "L0023",
    OPERATOR_DUPLICATE = "L0024",
    PLUGIN_DESCRIBE = "L0025",
    PLUGIN_BUILD = "L0026",
    GRANTED_FOLDER = "L0027",
    CONFIG_UNTRUSTED = "L0028",
    PERSON_KEY = "L0029",
    DATABASE_DAMAGED = "L0030",
    DATABASE_NOT_DURABLE = "L0031",
    DATABASE_UNAVAILABLE = "L0032",
    DATABASE_RESTORED = "L0033",
    PLUGIN_TOO_LARGE = "L0034",
    LOCK_FILE = "L0036",
    CHECK_BASELINE = "L0037",
    OUTPUT_UNWRITABLE = "L0040",
    NOT_EVIDENCE = "L0050",
    KEY_REFUSED = "L0051",
    COMPONENT_MISSING = "L0052",
    WITHHOLD_UNKNOWN = "L0053",
    TOOLS_MISSING = "L0056",
    PLUGIN_SOURCES = "L0057",
    PLUGIN_SDK = "L0058",
    PLUGIN_NEW = "L0059",
    CASES_WRONG = "L0060",
    HISTORY_DAMAGED = "L0061",
    QUEUE_FULL = "L0062",
    WORKER_INTERRUPTED = "L0063",
    JOB_UNLOADABLE = "L0064",
    NO_OUTPUT = "L0075",
    NO_SUCH_STEP = "L0076",
    WAIT_ENDED = "L0077",
    UNTYPED_UNSUITABLE = "L0080",
    UNTYPED_NAME = "L0081",
    UNTYPED_OVERRIDE = "L0082",
    PARAMETERS_REFUSED = "L0083",
    CALL_REFUSED = "L0085",
    INIT_REFUSED = "L0086",
    DEFECT = "L0099",
    DISK_FULL = "L0100",
    FOLDER_READ_ONLY = "L0101",
    NO_PROJECT = "L0110",
    OUTPUT_EXISTS = "L0111",
    DATABASE_READ_ONLY = "L0112",
    }
    reasons {
    "NETWORK_TIMEOUT",
    "RATE_LIMIT",
    "TEMPORARY_PROVIDER_ERROR",
    "TRANSIENT_DB_LOCK",
    "DEPENDENCY_UNAVAILABLE",
    "POLICY_DENIED",
    "INVALID_INPUT",
    "SCHEMA_VALIDATION_FAILED",
    "MISSING_REQUIRED_CONTEXT",
    "AUTH_FORBIDDEN",
    "CONTRACT_VIOLATION",
    "PLUGIN_TRAP",
    "PLUGIN_EXCEPTION",
    "CAPABILITY_DENIED",
    "GRANT_REQUIRED",
    "NETWORK_UNAVAILABLE",
    "OUT_OF_FUEL",
    "MEMORY_LIMIT",
    "STACK_OVERFLOW",
    "WALL_CLOCK_LIMIT",
    "MACHINE_FAULT",
    "OUTPUT_LIMIT",
    "WAIT_TIMED_OUT",
    "GATE_REJECTED",
    "GATE_EXPIRED",
    "BUDGET_EXCEEDED",
    "INVOCATION_LOST",
    "CANCELLED",
    "INTERNAL",
    "REQUIRES_APPROVAL",
    "REQUIRES_SIGNAL",
    "WAITING_TIMER",
    "RETRY_SCHEDULED",
    "INDETERMINATE_EFFECT",
    "CONFIRMATION_REQUIRED",
    "CONFIRMATION_MISMATCH",
    "ACTION_IN_PROGRESS",
    "ATTEMPTS_EXHAUSTED",
    "COMPENSATION_FAILED",
    "RESOLUTION_CONFLICT",
    "MODE_FORBIDS",
    "DRY_RUN_UPSTREAM",
    "DIVERGED",
    "RESTORED",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::model::error::Code;

    #[test]
    fn every_reason_code_has_a_page() {
        for code in Code::ALL {
            assert!(find(code.as_str()).is_some(), "{code} has no page");
        }
    }

    #[test]
    fn every_page_has_the_required_sections() {
        for page in all() {
            assert!(page.text.starts_with(&format!("# {}: ", page.code)), "{}: the heading", page.code);
            let mut rest = page.text;
            for section in ["## What happened", "## Usual cause", "## What to do"] {
                let (_, after) = rest
                    .split_once(&format!("\n{section}\n\n"))
                    .unwrap_or_else(|| panic!("{}: no {section:?}", page.code));
                let body = after.split("\n## ").next().unwrap();
                assert!(body.trim().len() > 10, "{}: {section:?} says nothing", page.code);
                rest = after;
            }
        }
    }

    #[test]
    fn every_file_is_a_page_and_no_code_is_used_twice() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/errors");
        let files: BTreeSet<String> =
            std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        let pages: BTreeSet<String> = all().iter().map(|page| format!("{}.md", page.code)).collect();
        assert_eq!(files, pages);
        assert_eq!(pages.len(), all().len());
    }
}
