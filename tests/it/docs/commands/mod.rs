//! Commands of README and of the pages, run as a reader runs them. Each page gets one shell in a fresh folder, with the
//! built program in its search path. Output that a page shows below its commands is compared with the real output.

mod block;
mod environment;
mod expected_output;
mod page;

use crate::support::checkout::{root, tracked_files};

use self::block::{BlockUse, shell_blocks};
use self::environment::PageEnvironment;

/// Declares the pages whose commands are run, each with its test.
macro_rules! pages {
    ($($test:ident: $page:literal,)* ; in .ci/long: $($long:ident: $long_page:literal,)*) => {
        const PAGES: &[&str] = &[$($page,)* $($long_page),*];
        $(
            #[test]
            fn $test() {
                run_page($page);
            }
        )*
        $(
            #[test]
            #[ignore = "builds or checks plugins; run by .ci/long"]
            fn $long() {
                run_page($long_page);
            }
        )*
    };
}

pages! {
    readme: "README.md",
    approval_gates: "docs/howto/approval-gates.md",
    budgets: "docs/howto/budgets.md",
    compensation: "docs/howto/compensation.md",
    evidence: "docs/howto/evidence.md",
    forks_and_retries: "docs/howto/forks-and-retries.md",
    inspect: "docs/howto/inspect.md",
    waits: "docs/howto/waits.md",
    backup: "docs/operations/backup.md",
    postgresql: "docs/operations/postgresql.md",
    workers: "docs/operations/workers.md",
    plans: "docs/reference/plans.md",
    start_operator: "docs/start/operator.md",
    ; in .ci/long:
    check: "docs/howto/check.md",
    performance: "docs/operations/performance.md",
    plugins: "docs/howto/plugins.md",
    start_ci: "docs/start/ci.md",
    start_plugin_author: "docs/start/plugin-author.md",
}

/// Blocks that are not run, by page and first line.
const NOT_RUN: &[(&str, &str)] = &[
    ("README.md", "cargo install --locked --path host/cli"),
    ("README.md", "cargo build --release --locked --package latchwork-cli"),
    ("README.md", "cargo run --bin latch -- run --build example-plugins/funding-outreach/plan.json"),
    ("docs/howto/embedding.md", "cargo run --bin latchwork-example -- letters"),
    ("docs/internals/guarantees.md", "LATCH_TEST_JOBS=2000 LATCH_TEST_KILLS=100000 LATCH_TEST_PATIENCE=7200 \\"),
    (
        "docs/internals/guarantees.md",
        "LATCH_TEST_SWEEP=1 cargo test --test it -- --nocapture --include-ignored crash::every_point:: \\",
    ),
    ("docs/internals/model.md", "cargo test -p latchwork-sim traces"),
    ("docs/internals/simulation.md", "cargo test -p latchwork-sim"),
];

fn page_text(page: &str) -> String {
    std::fs::read_to_string(root().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
}

fn run_page(page: &str) {
    let blocks = shell_blocks(&page_text(page));
    if let Some(environment) = PageEnvironment::of(&blocks) {
        page::run_blocks(page, &blocks, &environment.variables);
    }
}

/// Every page with commands is run, and every block that is not run is listed in [`NOT_RUN`].
#[test]
fn pages_have_no_untested_commands() {
    let pages = tracked_files().into_iter().filter(|path| path.starts_with("docs/") && path.ends_with(".md"));
    let (mut run, mut skipped): (Vec<String>, Vec<(String, String)>) = Default::default();
    for page in std::iter::once("README.md".to_owned()).chain(pages) {
        let text = page_text(&page);
        let typed: Vec<&str> = text.lines().filter(|line| line.starts_with("$ ")).collect();
        assert_eq!(typed, Vec::<&str>::new(), "{page}: label the block sh and remove the prompts, so that it is run");
        let blocks = shell_blocks(&text);
        if blocks.iter().any(|block| block.is_run()) {
            run.push(page.clone());
        }
        for block in blocks {
            if let BlockUse::Skip { reason } = block.use_of_block {
                assert!(reason.split(' ').count() >= 2, "{page}:{}: {reason}", block.line);
                skipped.push((page.clone(), block.text.lines().next().unwrap_or_default().to_owned()));
            }
        }
    }
    let (mut listed, mut run) = (PAGES.to_vec(), run.iter().map(String::as_str).collect::<Vec<_>>());
    listed.sort_unstable();
    run.sort_unstable();
    assert_eq!(run, listed, "these pages have commands, and those are run");
    let skipped: Vec<(&str, &str)> = skipped.iter().map(|(page, line)| (page.as_str(), line.as_str())).collect();
    assert_eq!(skipped, NOT_RUN, "another block is not run: run it, or add it here");
}
