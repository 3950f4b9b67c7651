//! Runs the programs of a build. A build runs code of the project, such as a `build.rs`. The programs therefore get
//! only the variables that a build needs.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::build::error::BuildError;

/// Number of trailing output lines that the error of a failed program contains.
const MAX_OUTPUT_LINES: usize = 60;

/// Variables that a program of a build gets, besides those with a prefix in [`PASSED_PREFIXES`]. Every other variable
/// stays with this process: secrets, passwords, and settings of the build of this program.
const PASSED: [&str; 32] = [
    "ALL_PROXY",
    "CARGO_HOME",
    "CURL_CA_BUNDLE",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "PATH",
    "REQUESTS_CA_BUNDLE",
    "SHELL",
    "SOURCE_DATE_EPOCH",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "GOCACHE",
    "GOMODCACHE",
    "GOPATH",
    "GOPROXY",
];

/// Prefixes of variables that a program of a build gets: locale, and settings of package managers.
const PASSED_PREFIXES: [&str; 10] = [
    "CARGO_HTTP_",
    "CARGO_NET_",
    "CARGO_REGISTRIES_",
    "CARGO_REGISTRY_",
    "CARGO_SOURCE_",
    "LC_",
    "NPM_CONFIG_",
    "PIP_",
    "RUSTUP_",
    "npm_config_",
];

/// Parts of the names of variables that are never passed on, because they hold credentials.
const CREDENTIALS: [&str; 5] = ["AUTH", "CREDENTIAL", "PASSWORD", "SECRET", "TOKEN"];

/// Returns true if a program of a build gets the variable.
fn is_passed(name: &str) -> bool {
    let is_listed = PASSED.contains(&name) || PASSED_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let upper = name.to_ascii_uppercase();
    is_listed && !CREDENTIALS.iter().any(|part| upper.contains(part))
}

/// Returns a command that runs `program` in `dir`, with the variables that a build needs and no others.
pub(super) fn command(program: impl AsRef<std::ffi::OsStr>, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(dir).stdin(Stdio::null()).env_clear();
    command.envs(std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_passed)));
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
        let mut reported = Vec::new();
        let script = "i=0; while [ $i -lt 3000 ]; do echo out-$i; echo msg-$i >&2; i=$((i+1)); done";
        let printed = run("it", "", &mut sh(script), &mut |line| reported.push(line.to_owned())).unwrap();
        assert_eq!(String::from_utf8(printed).unwrap().lines().count(), 3000);
        assert_eq!((reported.len(), reported[2999].as_str()), (3000, "msg-2999"));
    }

    /// I203. No secret and no setting of another build reaches a program of a build.
    #[test]
    fn only_listed_variables_are_passed() {
        for passed in ["PATH", "HOME", "LC_ALL", "PIP_INDEX_URL", "RUSTUP_HOME", "CARGO_HOME", "CARGO_NET_OFFLINE"] {
            assert!(is_passed(passed), "{passed}");
        }
        for kept in [
            "LATCH_SECRET_KEY",
            "LATCH_DATABASE",
            "PGPASSWORD",
            "AWS_ACCESS_KEY_ID",
            "CARGO_REGISTRIES_MINE_TOKEN",
            "CARGO_REGISTRY_TOKEN",
            "NPM_CONFIG__AUTH",
            "npm_config_//registry.example/:_authToken",
            "PIP_PASSWORD",
            "CARGO",
            "CARGO_TARGET_DIR",
            "RUSTFLAGS",
            "RUSTC",
            "PYTHONPATH",
            "GOFLAGS",
            "LD_PRELOAD",
        ] {
            assert!(!is_passed(kept), "{kept}");
        }
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
