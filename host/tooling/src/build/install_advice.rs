//! Installation advice for the programs that builds need.

/// Advice on how to install a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct InstallAdvice {
    /// Sentence for the error of a build that needs the program but does not find it. Names the sources of the program.
    pub(super) sentence: &'static str,
    /// Command for the list of missing programs.
    pub(super) command: &'static str,
}

/// cargo and rustc.
pub(super) const RUST: InstallAdvice = InstallAdvice {
    sentence: "install Rust from https://rustup.rs or with the system's package manager",
    command: "curl https://sh.rustup.rs -sSf | sh, or apt-get install cargo",
};
/// Node.js and npm.
pub(super) const NODE: InstallAdvice = InstallAdvice {
    sentence: "install Node.js 20 or later, with npm, from https://nodejs.org or with the system's package manager",
    command: "apt-get install nodejs npm (Node.js 20 or later), or https://nodejs.org",
};
/// Python and pip.
pub(super) const PYTHON: InstallAdvice = InstallAdvice {
    sentence: "install Python 3.10 or later with pip: https://python.org, or Debian's python3 and python3-pip",
    command: "apt-get install python3 python3-pip (3.10 or later), or https://python.org",
};

/// Short advice for a build command that uses Node.js or npm. An earlier command of the same build has already checked
/// that both are installed.
pub(super) const NODE_BRIEF: &str = "install Node.js 20 or later, with npm";
/// Short advice for a build command that uses Python or pip. An earlier command of the same build has already checked
/// that Python is installed.
pub(super) const PYTHON_BRIEF: &str = "install Python 3.10 or later with pip";
/// Advice for C. The compiler is clang, or a zig that pip installs.
pub(super) const C_COMPILER: &str = "install clang, lld and wasi-libc, or Python 3.10 or later with pip";
/// Advice for Go. The compiler is an installed Go, or a Go that pip installs.
pub(super) const GO: &str = "install Go 1.25 or later from https://go.dev, or Python 3.10 or later with pip";
/// Advice for rustup, which adds the Wasm target.
pub(super) const RUSTUP: &str = "it is part of https://rustup.rs";
/// Advice for a `LATCH_WASM_INSTALLER` that cannot be started.
pub(super) const INSTALLER: &str = "set LATCH_WASM_INSTALLER to an existing program";
/// Advice for machines without rustup.
pub(super) const WITHOUT_RUSTUP: &str =
    "on Debian without rustup: set LATCH_WASM_INSTALLER to .cargo/wasm-rust-debian.sh of a checkout of Latchwork";
