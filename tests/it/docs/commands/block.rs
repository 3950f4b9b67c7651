//! Blocks of commands in a page.

/// A block of commands.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ShellBlock {
    /// Number of the first line.
    pub(super) line: usize,
    pub(super) use_of_block: BlockUse,
    pub(super) text: String,
    /// Output that the page shows below the block.
    pub(super) expected: Option<ExpectedOutput>,
}

/// Use of a block, as its first line states it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BlockUse {
    /// The block is run, and each command succeeds. The block has the label `sh`. Alternatively it is a comment that
    /// begins with `<!-- sh`, so that readers of the page do not see the block.
    Run,
    /// The block is one command with this exit code (`sh exit 3`).
    RunWithExitCode(u8),
    /// The block is not run (`sh no-run`), for the reason in a comment above the block.
    Skip { reason: String },
}

/// A block with the label `text output`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ExpectedOutput {
    /// Number of the first line.
    pub(super) line: usize,
    pub(super) text: String,
}

/// Returns the blocks of commands of a page.
///
/// # Panics
/// Panics if a label is unknown, if a block that is not run has no reason above it, or if shown output belongs to no
/// block.
pub(super) fn shell_blocks(page: &str) -> Vec<ShellBlock> {
    let mut blocks: Vec<ShellBlock> = Vec::new();
    let mut lines = page.lines().enumerate();
    let mut above = "";
    while let Some((index, line)) = lines.next() {
        let (label, end) = match (line.strip_prefix("```"), line) {
            (Some(label), _) => (label, "```"),
            (None, "<!-- sh") => ("sh", "-->"),
            (None, _) => {
                above = line;
                continue;
            }
        };
        let mut text = String::new();
        for (_, inside) in lines.by_ref().take_while(|(_, inside)| *inside != end) {
            text.push_str(inside);
            text.push('\n');
        }
        let line = index + 1;
        let words: Vec<&str> = label.split(' ').collect();
        let use_of_block = match words[..] {
            ["sh"] => Some(BlockUse::Run),
            ["sh", "exit", code] => Some(BlockUse::RunWithExitCode(code.parse().expect("an exit code is a number"))),
            ["sh", "no-run"] => {
                let reason = above.strip_prefix("<!-- no-run: ").and_then(|rest| rest.strip_suffix(" -->"));
                let reason = reason.unwrap_or_else(|| panic!("line {line}: no reason above the block"));
                Some(BlockUse::Skip { reason: reason.to_owned() })
            }
            ["sh" | "console", ..] => panic!("line {line}: unknown label {label:?}; the label of commands is `sh`"),
            ["text", "output"] => {
                let block = blocks.last_mut().filter(|block| block.is_run() && block.expected.is_none());
                let block = block.unwrap_or_else(|| panic!("line {line}: no block has this output"));
                block.expected = Some(ExpectedOutput { line, text: std::mem::take(&mut text) });
                None
            }
            _ => None,
        };
        if let Some(use_of_block) = use_of_block {
            blocks.push(ShellBlock { line, use_of_block, text, expected: None });
        }
        above = "";
    }
    blocks
}

impl ShellBlock {
    pub(super) fn is_run(&self) -> bool {
        !matches!(self.use_of_block, BlockUse::Skip { .. })
    }
}

#[test]
fn labels_of_blocks_are_read() {
    let page = "a\n\n```sh\nlatch doctor\n```\n\n```sh exit 3\nlatch run p\n```\nIt says:\n\n```text output\nno\n```\n\
                ```text\nsh\n```\n<!-- no-run: needs a server -->\n```sh no-run\nlatch worker\n```\n\
                <!-- sh\ncd p\n-->\n";
    let found = shell_blocks(page);
    let uses: Vec<(usize, &BlockUse, &str)> =
        found.iter().map(|block| (block.line, &block.use_of_block, block.text.as_str())).collect();
    let skip = BlockUse::Skip { reason: "needs a server".to_owned() };
    let expected = [
        (3, &BlockUse::Run, "latch doctor\n"),
        (7, &BlockUse::RunWithExitCode(3), "latch run p\n"),
        (19, &skip, "latch worker\n"),
        (22, &BlockUse::Run, "cd p\n"),
    ];
    assert_eq!(uses, expected);
    let expected: Vec<Option<&ExpectedOutput>> = found.iter().map(|block| block.expected.as_ref()).collect();
    assert_eq!(expected, [None, Some(&ExpectedOutput { line: 12, text: "no\n".to_owned() }), None, None]);
}

#[test]
#[should_panic(expected = "no reason above the block")]
fn block_that_is_not_run_needs_a_reason() {
    shell_blocks("```sh no-run\nlatch worker\n```\n");
}

#[test]
#[should_panic(expected = "unknown label")]
fn commands_with_another_label_are_refused() {
    shell_blocks("```console\n$ latch worker\n```\n");
}
