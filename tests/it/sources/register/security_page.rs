//! SECURITY.md: its numbers of guarantees, and its table of attacks. The table names the tests that make each attack.

use std::collections::BTreeSet;

use super::citations::{numbers_in, source_tests};
use super::citing_files;
use super::page::Register;
use crate::sources::text_files::assert_none;
use crate::support::checkout::root;

const PAGE: &str = "SECURITY.md";

/// Each number of the page is in the register. Each row of the table of attacks names numbers and files of tests. Each
/// of these files cites at least one number of the row. Each number of the row is cited by at least one of these files.
#[test]
fn security_page_names_promises_and_tests_that_hold_them() {
    let text = std::fs::read_to_string(root().join(PAGE)).unwrap();
    let stated: BTreeSet<u32> = Register::read().groups.iter().flatten().map(|row| row.number).collect();
    let unknown = numbers_in(&text).into_iter().filter(|number| !stated.contains(number));
    assert_none("these numbers are not in the register", unknown.map(|number| format!("I{number}")).collect());

    let (tests, mut wrong, mut rows) = (source_tests(), Vec::new(), 0);
    let cited = citing_files(&tests);
    let table = text.split("### Attacks, promises and tests").nth(1).unwrap().split("\n## ").next().unwrap();
    for line in table.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let columns: Vec<_> = line.split('|').map(str::trim).collect();
        let (numbers, files) = (numbers_in(columns[2]), columns[3].split('`').skip(1).step_by(2));
        let files: BTreeSet<&str> = files.collect();
        let holds = |number: u32, file: &str| cited.get(&number).is_some_and(|files| files.contains(file));
        let idle = files.iter().filter(|file| !numbers.iter().any(|number| holds(*number, file)));
        wrong.extend(idle.map(|file| format!("{}: {file} cites no number of the row", columns[1])));
        let open = numbers.iter().filter(|number| !files.iter().any(|file| holds(**number, file)));
        wrong.extend(open.map(|number| format!("{}: no named test cites I{number}", columns[1])));
        assert!(!numbers.is_empty() && !files.is_empty(), "{line}");
        rows += 1;
    }
    assert_none("rows of the table of attacks", wrong);
    assert!(rows >= 15, "{rows}");
}
