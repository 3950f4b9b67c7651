//! Commands of the start pages and of the quick start in README, run as a reader runs them: one shell for each page, in a
//! fresh folder, with the built program in its search path.

use std::fmt::Write as _;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::support::checkout::{root, tracked_files};
use crate::support::plugins::sdk_tools;
use crate::support::program;

/// Pages whose commands are run, each with the section that contains them. Without a section, the whole page is run.
const PAGES: [(&str, Option<&str>); 4] = [
    ("README.md", Some("Quick start")),
    ("docs/start/ci.md", None),
    ("docs/start/operator.md", None),
    ("docs/start/plugin-author.md", None),
];

/// Blocks that are not run, by page and text.
const NOT_RUN: [(&str, &str); 1] = [("README.md", "cargo install --locked --path host/cli\n")];

/// Exit code of a script whose block ended with another code than the page states.
const OTHER_CODE: u8 = 70;

/// A block of commands in a page.
#[derive(Debug, PartialEq, Eq)]
struct ShellBlock {
    /// Number of the first line.
    line: usize,
    /// Heading of level 2 above the block. Empty if there is none.
    section: String,
    use_of_block: BlockUse,
    text: String,
}

/// Use of a block, as its first line states it.
#[derive(Debug, PartialEq, Eq)]
enum BlockUse {
    /// The block is run: each command succeeds (`sh`).
    Run,
    /// The block is one command with this exit code (`sh exit 3`).
    RunWithExitCode(u8),
    /// The block is not run (`sh no-run`), for the reason in a comment above the block.
    Skip { reason: String },
}

/// Returns the blocks of a page that are labelled `sh`.
///
/// # Panics
/// Panics if a label is unknown, or if a block is not run and the line above it does not state the reason.
fn shell_blocks(page: &str) -> Vec<ShellBlock> {
    let mut blocks = Vec::new();
    let mut lines = page.lines().enumerate();
    let (mut above, mut section) = ("", "");
    while let Some((number, line)) = lines.next() {
        let Some(label) = line.strip_prefix("```") else {
            section = line.strip_prefix("## ").unwrap_or(section);
            above = line;
            continue;
        };
        let mut text = String::new();
        for (_, inside) in lines.by_ref().take_while(|(_, inside)| *inside != "```") {
            text.push_str(inside);
            text.push('\n');
        }
        let words: Vec<&str> = label.split(' ').collect();
        let use_of_block = match words[..] {
            ["sh"] => Some(BlockUse::Run),
            ["sh", "exit", code] => Some(BlockUse::RunWithExitCode(code.parse().expect("an exit code is a number"))),
            ["sh", "no-run"] => {
                let reason = above.strip_prefix("<!-- no-run: ").and_then(|rest| rest.strip_suffix(" -->"));
                let reason = reason.unwrap_or_else(|| panic!("line {}: no reason above the block", number + 1));
                Some(BlockUse::Skip { reason: reason.to_owned() })
            }
            ["sh", ..] => panic!("line {}: unknown label {label:?}", number + 1),
            _ => None,
        };
        if let Some(use_of_block) = use_of_block {
            blocks.push(ShellBlock { line: number + 1, section: section.to_owned(), use_of_block, text });
        }
        above = "";
    }
    blocks
}

/// Returns one script with all blocks that are run. Variables and the working folder pass from block to block, as in the
/// reader's shell. Before each block the script prints the place of the block to stderr.
fn script(page: &str, blocks: &[ShellBlock]) -> String {
    let mut script = String::from("set -e\n");
    for ShellBlock { line, use_of_block, text, .. } in blocks {
        let place = format!("echo '[{page}:{line}]' >&2\n");
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

fn page_text(page: &str) -> String {
    std::fs::read_to_string(root().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
}

/// Runs the commands of a page from `PAGES` in a fresh folder.
fn run_page(page: &str) {
    let (_, part) = PAGES.iter().find(|(name, _)| *name == page).expect("the page is one of PAGES");
    let mut blocks = shell_blocks(&page_text(page));
    blocks.retain(|block| part.is_none_or(|title| block.section == title));
    assert!(blocks.iter().any(|block| block.use_of_block == BlockUse::Run), "{page} has commands");

    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    // The output goes to a file. A pipe would stay open as long as a process that the page started in the background.
    let said = outside.path().join("said");
    let output = || Stdio::from(File::options().create(true).append(true).open(&said).expect("the folder is writable"));
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script(page, &blocks)).current_dir(folder.path());
    program::clear_environment(&mut shell);
    shell.env("PATH", program::search_path()).env("LATCH_TOOLS_DIR", sdk_tools::tools_dir());
    let shell = shell.stdin(Stdio::null()).stdout(output()).stderr(output()).process_group(0).spawn();
    let mut shell = shell.expect("there is a shell");
    let group = Pid::from_child(&shell);
    let ended = shell.wait().expect("the shell is a child of this process");
    // Ends the processes that a failed page left in the background. Normally there are none, and the signal reaches no
    // process.
    let _ = kill_process_group(group, Signal::KILL);
    let said = String::from_utf8_lossy(&std::fs::read(&said).expect("the shell wrote it")).into_owned();
    assert!(ended.success(), "{page} ended with {ended}; the last place is the failed block:\n{said}");
}

#[test]
fn commands_of_the_quick_start_run() {
    run_page("README.md");
}

#[test]
fn commands_of_the_page_for_ci_run() {
    run_page("docs/start/ci.md");
}

#[test]
fn commands_of_the_page_for_operators_run() {
    run_page("docs/start/operator.md");
}

#[test]
fn commands_of_the_page_for_plugin_authors_run() {
    run_page("docs/start/plugin-author.md");
}

/// Each start page is run, and no command hides in a block that is not run.
#[test]
fn start_pages_have_no_untested_commands() {
    let start = tracked_files().into_iter().filter(|path| path.starts_with("docs/start/"));
    let run: Vec<String> = PAGES.iter().map(|(page, _)| (*page).to_owned()).collect();
    assert_eq!(start.collect::<Vec<_>>(), run[1..], "the other pages of PAGES are those of docs/start");
    let mut skipped = Vec::new();
    for (page, part) in PAGES {
        for block in shell_blocks(&page_text(page)) {
            let place = format!("{page}:{}", block.line);
            if let BlockUse::Skip { reason } = block.use_of_block {
                assert!(reason.split(' ').count() >= 2, "{place}: {reason}");
                skipped.push((page, block.text));
            } else {
                assert!(part.is_none_or(|title| block.section == title), "{place}: the block is not run");
            }
        }
    }
    let skipped: Vec<(&str, &str)> = skipped.iter().map(|(page, text)| (*page, text.as_str())).collect();
    assert_eq!(skipped, NOT_RUN, "another block is not run: run it, or add it here");
    for (page, _) in &PAGES[1..] {
        let text = page_text(page);
        let typed = text.lines().filter(|line| line.starts_with("$ ") || line.starts_with("```console"));
        assert_eq!(typed.collect::<Vec<_>>(), Vec::<&str>::new(), "{page}: label the block sh, so that it is run");
    }
}

#[test]
fn labels_of_blocks_are_read() {
    let page = "a\n\n```sh\nlatch doctor\n```\n\n```sh exit 3\nlatch run p\n```\n```text\nsh\n```\n\
                <!-- no-run: needs a server -->\n```sh no-run\nlatch worker\n```\n";
    let blocks = shell_blocks(page);
    let uses: Vec<(usize, &BlockUse, &str)> =
        blocks.iter().map(|block| (block.line, &block.use_of_block, block.text.as_str())).collect();
    let skip = BlockUse::Skip { reason: "needs a server".to_owned() };
    let expected = [
        (3, &BlockUse::Run, "latch doctor\n"),
        (7, &BlockUse::RunWithExitCode(3), "latch run p\n"),
        (14, &skip, "latch worker\n"),
    ];
    assert_eq!(uses, expected);
    let script = script("p.md", &blocks);
    assert!(script.contains("[p.md:7]") && !script.contains("latch worker"), "{script}");
}

#[test]
#[should_panic(expected = "no reason above the block")]
fn block_that_is_not_run_needs_a_reason() {
    shell_blocks("```sh no-run\nlatch worker\n```\n");
}

#[test]
fn script_stops_at_the_first_failed_block() {
    let code = |page: &str| {
        let script = script("p.md", &shell_blocks(page));
        Command::new("sh").arg("-c").arg(script).stderr(Stdio::null()).status().unwrap().code()
    };
    assert_eq!(code("```sh\ntrue\n```\n"), Some(0));
    assert_eq!(code("```sh\n(exit 4)\n```\n\n```sh\ntrue\n```\n"), Some(4));
    assert_eq!(code("```sh exit 4\n(exit 4)\n```\n\n```sh\ntrue\n```\n"), Some(0));
    assert_eq!(code("```sh exit 4\ntrue\n```\n"), Some(i32::from(OTHER_CODE)));
    assert_eq!(code("```sh\nA=5\n```\n\n```sh\n(exit $A)\n```\n"), Some(5));
}
