//! `docs/reference/cli.md` and `docs/reference/json.md` against the help texts of `latch`.

use std::collections::{BTreeMap, BTreeSet};

use super::{assert_none, code_spans, differences, read, rows};
use crate::support::program::run_latch;

/// Commands without subcommands, each with its flags. The flags of every command have the key `latch`.
type Commands = BTreeMap<String, BTreeSet<String>>;

/// Returns the long flags in a text.
fn flags(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_lowercase() || c == '-';
    let begins = |at: &usize| !text[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '-');
    let flag = |at: usize| {
        let rest = &text[at..];
        let flag = rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())].trim_end_matches('-');
        (flag.len() > 2).then(|| flag.to_owned())
    };
    text.match_indices("--").map(|(at, _)| at).filter(begins).filter_map(flag).collect()
}

/// Reads the help text of a command. Returns the names of its subcommands, and its flags.
fn parse_help(help: &str) -> (Vec<String>, BTreeSet<String>) {
    let (mut commands, mut found, mut section) = (Vec::new(), BTreeSet::new(), "");
    for line in help.lines() {
        let depth = line.len() - line.trim_start().len();
        match (depth, section) {
            (0, _) if !line.is_empty() => section = line,
            (2, "Commands:") => commands.extend(line.split_whitespace().next().map(str::to_owned)),
            // A flag is indented by two spaces, or by six if it has no short form. Its text is indented further.
            (2 | 6, heading) if heading != "Arguments:" && line.trim_start().starts_with('-') => {
                let names = line.trim_start().split(['<', '[']).next().unwrap_or_default();
                found.extend(flags(names));
            }
            _ => {}
        }
    }
    commands.retain(|name| name != "help");
    (commands, found)
}

fn commands_of_the_program() -> Commands {
    let folder = tempfile::tempdir().unwrap();
    let mut commands = Commands::new();
    let mut open: Vec<Vec<String>> = vec![vec![]];
    while let Some(path) = open.pop() {
        let args: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
        let help = run_latch(folder.path(), &args);
        assert_eq!(help.code, 0, "{args:?}: {}", help.stderr);
        let (subcommands, flags) = parse_help(&help.stdout);
        let name = [&["latch".to_owned()], path.as_slice()].concat().join(" ");
        if subcommands.is_empty() || path.is_empty() {
            commands.insert(name, flags);
        }
        open.extend(subcommands.into_iter().map(|sub| [path.as_slice(), &[sub]].concat()));
    }
    let general = commands["latch"].clone();
    commands.iter_mut().filter(|(name, _)| *name != "latch").for_each(|(_, own)| own.retain(|f| !general.contains(f)));
    assert!(commands.len() > 35, "{:?}", commands.keys());
    commands
}

/// Returns the commands that the first cell of a row names: `latch job approve JOB SLOT`, `reject`.
fn commands_of_cell(known: &Commands, cell: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for span in code_spans(cell) {
        let words: Vec<&str> = span.split_whitespace().collect();
        let command = match (words.first(), found.last()) {
            (Some(&"latch"), _) => {
                let names = (2..=words.len()).rev().map(|count| words[..count].join(" "));
                // The longest known beginning. Without one the cell names an unknown command.
                names.clone().find(|name| known.contains_key(name)).unwrap_or_else(|| words.join(" "))
            }
            (Some(word), Some(before)) if !word.starts_with('-') => {
                format!("{} {word}", before.rsplit_once(' ').map_or("", |(group, _)| group))
            }
            _ => continue,
        };
        found.push(command);
    }
    found
}

/// Returns the flags that the rows of the page name for each command. A row that begins with a flag belongs to the
/// command above. A command line in a text is not a statement about the row's command.
fn commands_of_page(known: &Commands, page: &str) -> Commands {
    let mut found = Commands::new();
    let mut current: Vec<String> = Vec::new();
    for cells in rows(page).iter().filter(|cells| cells[0].starts_with('`')) {
        let named = commands_of_cell(known, cells[0]);
        if !named.is_empty() {
            current = named;
        } else if !code_spans(cells[0])[0].trim_start().starts_with("--") {
            current = Vec::new();
        }
        let texts = cells.iter().flat_map(|cell| code_spans(cell));
        let spans = texts.enumerate().filter(|(at, span)| *at == 0 || !span.starts_with("latch "));
        let named: BTreeSet<String> = spans.flat_map(|(_, span)| flags(span)).collect();
        for command in &current {
            found.entry(command.clone()).or_default().extend(named.iter().cloned());
        }
    }
    found
}

fn differences_of(program: &Commands, page: &str) -> Vec<String> {
    let general = &program["latch"];
    let documented = commands_of_page(program, page);
    let mut found = Vec::new();
    for command in program.keys().chain(documented.keys()).collect::<BTreeSet<_>>() {
        match (program.get(command), documented.get(command)) {
            (_, _) if command == "latch" => {}
            (Some(_), None) => found.push(format!("{command} has no row")),
            (None, _) => found.push(format!("{command}: the program has no such command")),
            (Some(own), Some(flags)) => {
                let flags = flags.iter().filter(|flag| !general.contains(*flag)).cloned().collect();
                found.extend(differences(own, &flags, command));
            }
        }
    }
    // The table above the commands, and the text between the tables.
    let all: BTreeSet<&String> = program.values().flatten().collect();
    let named: BTreeSet<String> = code_spans(page).into_iter().flat_map(flags).collect();
    found.extend(named.iter().filter(|flag| !all.contains(flag)).map(|flag| format!("no command has {flag}")));
    let usual = ["--help", "--version", "--verbose"];
    let missing = general.difference(&named).filter(|flag| !usual.contains(&flag.as_str()));
    found.extend(missing.map(|flag| format!("{flag} is not on the page")));
    found
}

/// The reference lists each command with each of its flags, and no other command or flag.
#[test]
fn page_of_the_command_line_lists_every_command_and_flag() {
    assert_none("docs/reference/cli.md", &differences_of(&commands_of_the_program(), &read("docs/reference/cli.md")));
}

/// The page about JSON names each command, and no other command.
#[test]
fn page_of_json_names_every_command() {
    let program = commands_of_the_program();
    let page = read("docs/reference/json.md");
    let rows: BTreeSet<String> = rows(&page).iter().flat_map(|cells| commands_of_cell(&program, cells[0])).collect();
    let sentences = page.lines().filter(|line| !line.starts_with('|')).collect::<Vec<_>>().join(" ");
    let mut named: BTreeSet<String> =
        sentences.split(". ").flat_map(|sentence| commands_of_cell(&program, sentence)).collect();
    named.retain(|name| program.contains_key(name));
    let unnamed = program.keys().filter(|name| *name != "latch" && !rows.contains(*name) && !named.contains(*name));
    let unknown = rows.iter().filter(|name| !program.contains_key(*name)).map(|name| format!("no command {name}"));
    assert_none(
        "docs/reference/json.md",
        &unnamed.map(|name| format!("{name} is missing")).chain(unknown).collect::<Vec<_>>(),
    );
}

#[test]
fn missing_and_surplus_commands_and_flags_are_found() {
    let (subcommands, found) = parse_help(
        "Text\n\nCommands:\n  show  Show a --thing\n  help  Print\n\nOptions:\n      --db <URL>\n          Text --no\n  -v, --verbose...\n",
    );
    assert_eq!((subcommands, found), (vec!["show".to_owned()], flags("--db --verbose")));
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<String>>();
    let program = Commands::from([
        ("latch".to_owned(), set(&["--json"])),
        ("latch job show".to_owned(), set(&["--all"])),
        ("latch job end".to_owned(), set(&[])),
    ]);
    let check = |page: &str| differences_of(&program, page);
    let good = "| `latch job show JOB`, `end` | `--json` |\n| `latch job show` | See `latch run --new`. |\n| `  --all` | a |\n";
    assert_eq!(check(good), ["no command has --new"], "a command line says nothing about its row");
    assert_eq!(check("| `--json` | a |\n| `latch job show JOB` | `--all` |\n"), ["latch job end has no row"]);
    let wrong = check("| `--json` | a |\n| `latch job end` | `--b` |\n| `latch job show` | a |\n| `latch x` | a |\n");
    assert_eq!(
        wrong,
        [
            "latch job end: the program has no --b",
            "latch job show: --all is not on the page",
            "latch x: the program has no such command",
            "no command has --b",
        ]
    );
}
