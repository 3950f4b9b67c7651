//! Commands of one page, run by one shell.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};

use super::block::{BlockUse, ShellBlock};
use super::expected_output::missing_line;

/// Exit code of the script if a block ends with another exit code than the page states.
const OTHER_CODE: u8 = 70;

/// Returns the line that the script prints before a block.
fn place(page: &str, line: usize) -> String {
    format!("[{page}:{line}]")
}

/// Returns one script with all blocks that are run. Variables and the working folder pass from block to block, as in
/// the reader's shell. Before each block the script prints the place of the block to stderr.
pub(super) fn script(page: &str, blocks: &[ShellBlock]) -> String {
    let mut script = String::from("set -e\n");
    for ShellBlock { line, use_of_block, text, .. } in blocks {
        let place = format!("echo '{}' >&2\n", place(page, *line));
        match use_of_block {
            BlockUse::Run => script.push_str(&(place + text)),
            BlockUse::RunWithExitCode(code) => write!(
                script,
                "{place}set +e\n{text}docs_code=$?\nset -e\nif [ $docs_code -ne {code} ]; then\n\
                 echo \"exit code $docs_code, the page says {code}\" >&2\nexit {OTHER_CODE}\nfi\n"
            )
            .expect("a string takes all text"),
            BlockUse::Skip { .. } => {}
        }
    }
    script
}

/// Runs the blocks of a page in a fresh folder with these variables. Returns the exit status and the output.
fn run_script(script: String, variables: &BTreeMap<&str, OsString>) -> (ExitStatus, String) {
    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    // Output goes to a file, because a background process of the page would keep a pipe open.
    let printed = outside.path().join("said");
    let output =
        || Stdio::from(File::options().create(true).append(true).open(&printed).expect("the folder is writable"));
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script).current_dir(folder.path());
    crate::support::program::clear_environment(&mut shell);
    let shell = shell.envs(variables).stdin(Stdio::null()).stdout(output()).stderr(output()).process_group(0).spawn();
    let mut shell = shell.expect("there is a shell");
    let group = Pid::from_child(&shell);
    let ended = shell.wait().expect("the shell is a child of this process");
    // Ends background processes that a failed page left.
    let _ = kill_process_group(group, Signal::KILL);
    (ended, String::from_utf8_lossy(&std::fs::read(&printed).expect("the shell wrote it")).into_owned())
}

/// Runs the blocks of a page and compares the output that the page shows.
pub(super) fn run_blocks(page: &str, blocks: &[ShellBlock], variables: &BTreeMap<&str, OsString>) {
    let (ended, printed) = run_script(script(page, blocks), variables);
    assert!(ended.success(), "{page} ended with {ended}; the last place is the failed block:\n{printed}");
    for block in blocks {
        let Some(expected) = &block.expected else { continue };
        let (_, output) = printed.split_once(&place(page, block.line)).expect("the block was run");
        let output = output.split_once(&format!("[{page}:")).map_or(output, |(output, _)| output);
        if let Some(missing) = missing_line(output, &expected.text) {
            panic!("{page}:{}: the commands do not print the line\n{missing}\nThey print{output}", expected.line);
        }
    }
}

#[test]
fn script_stops_at_the_first_failed_block() {
    let code = |page: &str| {
        let script = script("p.md", &super::block::shell_blocks(page));
        Command::new("sh").arg("-c").arg(script).stderr(Stdio::null()).status().unwrap().code()
    };
    assert_eq!(code("```sh\ntrue\n```\n"), Some(0));
    assert_eq!(code("```sh\n(exit 4)\n```\n\n```sh\ntrue\n```\n"), Some(4));
    assert_eq!(code("```sh exit 4\n(exit 4)\n```\n\n```sh\ntrue\n```\n"), Some(0));
    assert_eq!(code("```sh exit 4\ntrue\n```\n"), Some(i32::from(OTHER_CODE)));
    assert_eq!(code("```sh\nA=5\n```\n\n```sh\n(exit $A)\n```\n"), Some(5));
    assert_eq!(code("<!-- sh\nA=5\n-->\n```sh\n(exit $A)\n```\n"), Some(5));
    assert_eq!(code("<!-- no-run: ends with 5 -->\n```sh no-run\nexit 5\n```\n```sh\nexit 6\n```\n"), Some(6));
}

#[test]
#[should_panic(expected = "p.md:4: the commands do not print the line\ntwo")]
fn output_that_the_commands_do_not_print_is_found() {
    let blocks = super::block::shell_blocks("```sh\necho one\n```\n```text output\ntwo\n```\n```sh\necho two\n```\n");
    run_blocks("p.md", &blocks, &BTreeMap::new());
}
