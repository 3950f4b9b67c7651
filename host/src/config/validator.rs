//! Names of the validators that come with the host.

/// Validators that come with the host, by their names in `latch.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltinValidator {
    /// Accepts every step.
    NoOp,
    /// Checks the imports of the step.
    Static,
    /// Runs the step twice in a sandbox before its real run.
    Sandbox,
}

impl BuiltinValidator {
    /// Names of the validators in `latch.toml`.
    pub const NAMES: [(&'static str, BuiltinValidator); 3] = [
        ("no-op", BuiltinValidator::NoOp),
        ("static", BuiltinValidator::Static),
        ("sandbox", BuiltinValidator::Sandbox),
    ];
}
