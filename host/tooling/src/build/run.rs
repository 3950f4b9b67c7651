//! Runs the programs of a build. The programs do not get the variables of cargo and rustc that are set for the build of
//! the host program. Such variables could break the build of a plugin.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::build::error::BuildError;

/// Number of trailing output lines that the error of a failed program contains.
const MAX_OUTPUT_LINES: usize = 60;

/// Variables of cargo and rustc that are removed from the environment of a build. They may be set for the build of the
/// host program. In the build of a plugin, they would select a wrong compiler, wrong flags, or the target folder of the
/// host program.
const HOST_BUILD_VARIABLES: [&str; 20] = [
    "CARGO",
    "CARGO_BUILD_RUSTC",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_INCREMENTAL",
    "CARGO_MAKEFLAGS",
    "CARGO_TARGET_DIR",
    "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS",
    "MAKEFLAGS",
    "MFLAGS",
    "RUSTC",
    "RUSTC_BOOTSTRAP",
    "RUSTC_LINKER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "RUSTDOCFLAGS",
    "RUSTFLAGS",
];

/// Returns a command that runs `program` in `dir`.
pub(super) fn command(program: impl AsRef<std::ffi::OsStr>, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(dir).stdin(Stdio::null());
    for name in HOST_BUILD_VARIABLES {
        command.env_remove(name);
    }
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PROFILE_") || text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name);
        }
    }
    command
}

/// Runs a command and returns its standard output. Sends each line of standard error to `progress` when the line
/// arrives.
pub(super) fn run(
    what: &str,
    advice: &'static str,
    command: &mut Command,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<u8>, BuildError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = match command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(BuildError::Missing { program, advice });
        }
        Err(error) => return Err(BuildError::io("start", Path::new(&program), error)),
    };
    let mut stdout = child.stdout.take().expect("stdout is piped");
    let stderr = child.stderr.take().expect("stderr is piped");
    // Both pipes are read concurrently, because a full pipe would block the program.
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stdout.read_to_end(&mut bytes).map(|_| bytes)
    });
    let mut last = VecDeque::new();
    for line in BufReader::new(stderr).split(b'\n') {
        let Ok(line) = line else { break };
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        if !line.trim().is_empty() {
            progress(line);
        }
        last.push_back(line.to_owned());
        if last.len() > MAX_OUTPUT_LINES {
            last.pop_front();
        }
    }
    let status = child.wait().map_err(|error| BuildError::io("wait for", Path::new(&program), error))?;
    let printed = reader.join().expect("reading does not panic");
    let printed = printed.map_err(|error| BuildError::io("read from", Path::new(&program), error))?;
    if status.success() {
        return Ok(printed);
    }
    let output = Vec::from(last).join("\n");
    Err(BuildError::Failed { what: what.to_owned(), status: status.to_string(), output })
}

/// Runs a command and returns its trimmed standard output. Returns `None` if the program is missing or fails.
pub(super) fn output_of(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        let mut sh = command("sh", Path::new("/"));
        sh.args(["-c", script]);
        sh
    }

    #[test]
    fn stdout_and_stderr_are_separated() {
        let mut told = Vec::new();
        let script = "i=0; while [ $i -lt 3000 ]; do echo out-$i; echo msg-$i >&2; i=$((i+1)); done";
        let printed = run("it", "", &mut sh(script), &mut |line| told.push(line.to_owned())).unwrap();
        assert_eq!(String::from_utf8(printed).unwrap().lines().count(), 3000);
        assert_eq!((told.len(), told[2999].as_str()), (3000, "msg-2999"));
    }

    #[test]
    fn program_failure_contains_its_output() {
        let error = run("asking", "", &mut sh("echo no such thing >&2; exit 3"), &mut |_| ()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("asking failed") && text.contains("no such thing") && text.contains('3'), "{text}");
        let error = run("x", "get it", &mut command("no-such-program-here", Path::new("/")), &mut |_| ()).unwrap_err();
        assert_eq!(error.to_string(), "no-such-program-here is not installed: get it");
    }
}
