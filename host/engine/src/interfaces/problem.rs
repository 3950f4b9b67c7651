//! Reasons why a plugin is refused.

use latchwork_core::model::error_docs;
use latchwork_core::model::ids::Hash;

/// One problem of a plugin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PluginProblem {
    /// The bytes are not a component that this engine runs.
    #[error("it is not a WebAssembly component that this host can run: {0}")]
    NotAComponent(String),
    /// The component is larger than a limit, or its compilation could take too much time or memory.
    #[error("it is too large: {0}")]
    TooLarge(String),
    /// The component has an import that the world of its plugin kind does not allow, or that its grants do not cover.
    #[error("it imports {import}: {instead}")]
    Import {
        /// The import, as the component names it.
        import: String,
        /// The alternative to use, or the grant to add.
        instead: String,
    },
    /// An export that the component's world requires is missing or has another type.
    #[error("export {export}: {wrong}")]
    Export {
        /// The export.
        export: String,
        /// Description of the problem.
        wrong: String,
    },
    /// The call of `describe` failed.
    #[error("describe failed: {0}")]
    Describe(String),
    /// The manifest that `describe` returned breaks a rule.
    #[error("its manifest is invalid at {at}: {wrong}")]
    Manifest {
        /// The part of the manifest.
        at: String,
        /// Description of the problem.
        wrong: String,
    },
    /// The digest of the component differs from the digest that `latch.toml` or a job requires.
    #[error(
        "its SHA-256 is {found}, expected {expected}; \
         use the right file, or update `digest` if the new file is intended"
    )]
    Digest {
        /// The digest that `latch.toml` or a job requires.
        expected: Hash,
        /// The digest of the bytes.
        found: Hash,
    },
    /// The file is missing or cannot be read.
    #[error("{0}")]
    Source(String),
    /// A file that belongs to the plugin cannot be written.
    #[error("{text}")]
    Unwritable {
        /// Names the file, its path, and the operating system's error.
        text: String,
        /// Code of the error page that explains the problem.
        page: &'static str,
    },
    /// A folder cannot be granted, because it holds files of the host, or because another plugin could replace it.
    #[error("{0}")]
    GrantedFolder(String),
    /// A step has grants, but a step cannot have capabilities.
    #[error("it is a step, and steps have no capabilities; remove `grants` from its [[plugin]]")]
    GrantsOnStep,
    /// A step has a verifier or a confirmation setting. Both apply only to effects, and a step has no effects.
    #[error(
        "it is a step, and steps have no effects to confirm; remove `verifier` and `confirmation` from its [[plugin]]"
    )]
    ConfirmationOnStep,
    /// A tool has the setting `wasi`, which only steps may have.
    #[error("it is a tool, and a tool's WASI follows from its grants; remove `wasi` from its [[plugin]]")]
    VirtualWasiOnTool,
    /// A function of an untyped component cannot be an operator.
    #[error(
        "its function {export} cannot be an operator: {wrong}; exclude it to load the others: \
         operators = {{ {operator:?} = false }}"
    )]
    UnsuitableFunction {
        /// The function.
        export: String,
        /// The operator that the function would serve.
        operator: String,
        /// Reason why the function cannot be an operator.
        wrong: String,
    },
    /// Two functions of an untyped component would serve the same operator.
    #[error(
        "its functions {one} and {other} would both be the operator {operator}; rename one of them: \
         operators = {{ {other:?} = {{ name = \"…\" }} }}"
    )]
    DuplicateOperatorName {
        /// The operator.
        operator: String,
        /// One function.
        one: String,
        /// The other function.
        other: String,
    },
    /// A setting of `operators` in `latch.toml` does not fit the component's functions or operators.
    #[error("`operators` in its [[plugin]]: {key:?} {wrong}")]
    InvalidOverride {
        /// The key in `operators`.
        key: String,
        /// Description of the problem.
        wrong: String,
    },
    /// `latch.toml` sets `operators` for a step, whose effects are those of the tools that it calls.
    #[error("a step has no effects of its own; remove `operators` from its [[plugin]]")]
    RedundantOverrides,
    /// Another plugin serves the same operator.
    #[error("operator {operator} is also served by plugin {other:?}; an operator is served by exactly one")]
    DuplicateOperator {
        /// The operator.
        operator: String,
        /// The other plugin.
        other: String,
    },
}

impl PluginProblem {
    /// Creates the problem of a file that cannot be written. The kind of `error` determines the error page.
    pub fn unwritable(text: String, error: &std::io::Error) -> Self {
        let page = error_docs::code_of_write_error(error.kind()).unwrap_or(error_docs::OUTPUT_UNWRITABLE);
        PluginProblem::Unwritable { text, page }
    }

    /// Code of the error page that explains this problem.
    pub fn page(&self) -> &'static str {
        match self {
            PluginProblem::NotAComponent(_) | PluginProblem::Export { .. } => error_docs::PLUGIN_MALFORMED,
            PluginProblem::TooLarge(_) => error_docs::PLUGIN_TOO_LARGE,
            PluginProblem::Import { .. }
            | PluginProblem::GrantsOnStep
            | PluginProblem::ConfirmationOnStep
            | PluginProblem::VirtualWasiOnTool => error_docs::PLUGIN_IMPORTS,
            PluginProblem::Describe(_) | PluginProblem::Manifest { .. } => error_docs::PLUGIN_DESCRIBE,
            PluginProblem::Digest { .. } => error_docs::PLUGIN_DIGEST,
            PluginProblem::UnsuitableFunction { .. } => error_docs::UNTYPED_UNSUITABLE,
            PluginProblem::DuplicateOperatorName { .. } => error_docs::UNTYPED_NAME,
            PluginProblem::InvalidOverride { .. } | PluginProblem::RedundantOverrides => error_docs::UNTYPED_OVERRIDE,
            PluginProblem::Source(_) => error_docs::PLUGIN_MISSING,
            PluginProblem::GrantedFolder(_) => error_docs::GRANTED_FOLDER,
            PluginProblem::Unwritable { page, .. } => page,
            PluginProblem::DuplicateOperator { .. } => error_docs::OPERATOR_DUPLICATE,
        }
    }
}

/// Function that adds details to the reasons why a component is refused. The function reads the details from the
/// component's bytes. The default adds nothing. Without such a function, a refusal names only the first type that
/// differs, and gives no call path to a refused import.
#[derive(Clone, Copy, Debug)]
pub struct Explain(pub fn(&[u8], Vec<PluginProblem>) -> Vec<PluginProblem>);

impl Default for Explain {
    fn default() -> Self {
        Self(|_, problems| problems)
    }
}
