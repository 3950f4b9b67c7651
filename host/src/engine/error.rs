//! Why a plugin cannot be loaded: everything that is wrong with it, not only the first.

use std::fmt;

use latchwork_core::ids::Hash;
use latchwork_core::pages;

/// Why the engine cannot start.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The engine refuses its configuration: a defect of this build.
    #[error("the WebAssembly engine refuses its configuration: {0:#}")]
    Config(wasmtime::Error),
    /// The cache of compiled code cannot be used safely.
    #[error(
        "the cache for compiled plugins at {path} cannot be used: {reason}; \
         put that right, or name another folder in LATCH_CACHE_DIR"
    )]
    Cache {
        /// The directory.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// A plugin that was refused, with every reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// The plugin's name in `latch.toml`.
    pub plugin: String,
    /// What is wrong, at least one thing.
    pub problems: Vec<Problem>,
}

impl LoadError {
    /// A refusal for one reason.
    pub fn one(plugin: &str, problem: Problem) -> Self {
        Self { plugin: plugin.to_owned(), problems: vec![problem] }
    }

    /// The plugin's name in `latch.toml`.
    pub fn plugin(&self) -> &str {
        &self.plugin
    }

    /// The code of the page that explains it: of its first problem.
    pub fn page(&self) -> &'static str {
        self.problems.first().map_or(pages::DEFECT, Problem::page)
    }
}

impl std::error::Error for LoadError {}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "plugin {:?} cannot be loaded:", self.plugin)?;
        match self.problems.as_slice() {
            [one] => write!(f, " {one}"),
            many => many.iter().try_for_each(|problem| write!(f, "\n  - {problem}")),
        }
    }
}

/// One thing that is wrong with a plugin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The bytes are not a component that this engine runs.
    #[error("it is not a WebAssembly component that this host runs: {0}")]
    NotAComponent(String),
    /// It imports something its world does not have, or its grants do not open.
    #[error("it imports {import}: {instead}")]
    Import {
        /// The import, as the component names it.
        import: String,
        /// What to use, or to grant, instead.
        instead: String,
    },
    /// An export its world requires is not there or has another type.
    #[error("export {export}: {wrong}")]
    Export {
        /// The export.
        export: String,
        /// What is wrong with it.
        wrong: String,
    },
    /// `describe` did not return.
    #[error("describe failed: {0}")]
    Describe(String),
    /// `describe` returned something that breaks a rule.
    #[error("its manifest says {at}: {wrong}")]
    Manifest {
        /// Which part.
        at: String,
        /// What is wrong with it.
        wrong: String,
    },
    /// It is not the component that was pinned.
    #[error(
        "its SHA-256 is {found}, but {expected} is expected; \
         take the right file, or change `digest` if the new one is wanted"
    )]
    Digest {
        /// What `latch.toml` or a job says.
        expected: Hash,
        /// What the bytes have.
        found: Hash,
    },
    /// The file cannot be read, or is not there.
    #[error("{0}")]
    Source(String),
    /// A file that belongs to it cannot be written.
    #[error("{text}")]
    Unwritable {
        /// What, where, and the system's word for why.
        text: String,
        /// The code of the page that explains it.
        page: &'static str,
    },
    /// It is a step, and is granted what no step can have.
    #[error("it is a step, which has no capabilities, and its [[plugin]] has grants; remove `grants`")]
    StepGrants,
    /// It is a step, and is to be verified or confirmed, which only effects are.
    #[error(
        "it is a step, which changes nothing, and its [[plugin]] says what confirms its effects; remove `verifier` and \
         `confirmation`"
    )]
    StepConfirmed,
    /// It is a tool, and is given what only steps need.
    #[error(
        "it is a tool, which has the WASI that its grants open, and its [[plugin]] says wasi = \"virtual\"; \
         remove `wasi`"
    )]
    ToolWasi,
    /// A function of a plain component cannot be called with JSON.
    #[error(
        "its function {export} cannot be a tool: {wrong}; to have the others, leave it out: \
         operators = {{ {operator:?} = false }}"
    )]
    Unfit {
        /// The function.
        export: String,
        /// The operator it would be.
        operator: String,
        /// What is in the way.
        wrong: String,
    },
    /// Two functions of a plain component would be one operator.
    #[error(
        "its functions {one} and {other} would both be the operator {operator}; give one another name: \
         operators = {{ {other:?} = {{ name = \"…\" }} }}"
    )]
    SameName {
        /// The operator.
        operator: String,
        /// One function.
        one: String,
        /// The other.
        other: String,
    },
    /// What `latch.toml` says of a plain component's functions does not fit it.
    #[error("`operators` in its [[plugin]]: {key:?} {wrong}")]
    Statement {
        /// The key.
        key: String,
        /// What is wrong with it.
        wrong: String,
    },
    /// It describes its operators itself.
    #[error("it describes its operators itself, and its [[plugin]] says what they are; remove `operators`")]
    SaysItself,
    /// Another plugin serves the operator.
    #[error("operator {operator} is also served by plugin {other:?}; an operator is served by exactly one")]
    DuplicateOperator {
        /// The operator.
        operator: String,
        /// The other plugin.
        other: String,
    },
}

impl Problem {
    /// A file that cannot be written, with the code of its reason.
    pub(crate) fn unwritable(text: String, error: &std::io::Error) -> Self {
        let page = pages::of_unwritable(error.kind()).unwrap_or(pages::OUTPUT_UNWRITABLE);
        Problem::Unwritable { text, page }
    }

    /// The code of the page that explains it.
    pub fn page(&self) -> &'static str {
        match self {
            Problem::NotAComponent(_) | Problem::Export { .. } => pages::PLUGIN_MALFORMED,
            Problem::Import { .. } | Problem::StepGrants | Problem::StepConfirmed | Problem::ToolWasi => {
                pages::PLUGIN_IMPORTS
            }
            Problem::Describe(_) | Problem::Manifest { .. } => pages::PLUGIN_DESCRIBE,
            Problem::Digest { .. } => pages::PLUGIN_DIGEST,
            Problem::Unfit { .. } => pages::PLAIN_UNFIT,
            Problem::SameName { .. } => pages::PLAIN_NAME,
            Problem::Statement { .. } | Problem::SaysItself => pages::PLAIN_STATEMENT,
            Problem::Source(_) => pages::PLUGIN_MISSING,
            Problem::Unwritable { page, .. } => page,
            Problem::DuplicateOperator { .. } => pages::OPERATOR_TWICE,
        }
    }
}
