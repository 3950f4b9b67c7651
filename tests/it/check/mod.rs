//! `latch plugin check`: its forms, its exit codes, and each rule with a guest that breaks it.

mod baseline;
mod ci_files;
mod corpus;
mod dynamic_rules;
mod histories;
mod impure;
mod last_words;
mod malicious_inputs;
mod multiple_plugins;
mod other_process;
mod pure_tools;
mod report_formats;
mod source_folders;
mod static_rules;
mod survival;
mod tool_classes;
mod tool_rules;
mod unseen;

use serde_json::Value;

use crate::support::plugins::built_guests::guest;
use crate::support::program::{CommandOutput, run_latch};

/// Mark of the build number in the guest `check-step`. One digit follows the mark.
const BUILD_MARK: &[u8] = b"LATCH-CHECK-BUILD-MARK-";

/// A folder with the guest `check-step` in it.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        std::fs::copy(guest("check-step"), folder.file("check.wasm")).unwrap();
        folder
    }

    fn file(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.file(name), text).unwrap();
    }

    fn write_cases(&self, cases: &[Value]) {
        let lines: Vec<_> = cases.iter().map(Value::to_string).collect();
        self.write("cases.jsonl", &(lines.join("\n") + "\n"));
    }

    /// Writes another build of the same sources and returns its path. Findings name the plugin after its file, so the
    /// new file has the same name and lies in another folder.
    fn write_build(&self, digit: u8) -> String {
        let mut bytes = std::fs::read(self.file("check.wasm")).unwrap();
        let at =
            bytes.windows(BUILD_MARK.len()).position(|window| window == BUILD_MARK).expect("the guest has its mark");
        bytes[at + BUILD_MARK.len()] = b'0' + digit;
        let dir = self.0.path().join(digit.to_string());
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("check.wasm"), bytes).unwrap();
        format!("{digit}/check.wasm")
    }

    fn check(&self, args: &[&str]) -> CommandOutput {
        self.check_file("check.wasm", args)
    }

    fn check_file(&self, file: &str, args: &[&str]) -> CommandOutput {
        let json = !args.contains(&"--format") && !args.contains(&"--json") && args.contains(&"--rebuilt");
        let format: &[&str] = if json { &["--json"] } else { &[] };
        run_latch(self.0.path(), &[&["plugin", "check", file], format, args].concat())
    }
}
