//! Reads a file of cases in JSON Lines format and reports every problem with its line.

use serde_json::{Map, Value};

use latchwork_core::encoding::{canon, suggest};
use latchwork_core::model::error::{Code, Failure};
use latchwork_core::model::manifest::{Determinism, EffectKind};

use crate::check::case_problem::{CaseProblem, duplicate_key, line_at};
use crate::check::dynamic::case::{CaseAnswer, StepCase};
use crate::check::finding::SourceLocation;

/// Allowed keys of a line, of an answer and of an error. `$schema` is for editors.
const LINE: [&str; 6] = ["$schema", "name", "operator", "input", "answers", "error"];
pub(crate) const ANSWER: [&str; 6] = ["operator", "args", "determinism", "effects", "result", "error"];
const ERROR: [&str; 4] = ["code", "message", "detail", "retry_after_ms"];

/// Maximum number of cases in a file.
const CASES_MAX: usize = 10_000;

/// Reads cases.
///
/// # Errors
/// Returns every problem of the file.
pub fn parse(file: &str, bytes: &[u8]) -> Result<Vec<StepCase>, Vec<CaseProblem>> {
    let mut reader = CaseReader { cases: vec![], wrong: vec![], line: 0 };
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            reader.line = line_at(bytes, error.valid_up_to());
            reader.add_problem("", "the text is not UTF-8 from here on");
            return Err(reader.wrong);
        }
    };
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        reader.line = index as u64 + 1;
        if reader.cases.len() == CASES_MAX {
            reader.add_problem("", format!("a file has at most {CASES_MAX} cases"));
            break;
        }
        reader.read(file, line);
    }
    if reader.wrong.is_empty() { Ok(reader.cases) } else { Err(reader.wrong) }
}

struct CaseReader {
    cases: Vec<StepCase>,
    wrong: Vec<CaseProblem>,
    line: u64,
}

impl CaseReader {
    fn add_problem(&mut self, pointer: &str, message: impl Into<String>) {
        let wrong = CaseProblem { line: self.line, column: None, pointer: pointer.to_owned(), message: message.into() };
        self.wrong.push(wrong);
    }

    fn read(&mut self, file: &str, line: &str) {
        let value: Value = match serde_json::from_str(line) {
            Ok(value) => value,
            Err(error) => {
                let column = Some(error.column().max(1) as u64);
                let text = error.to_string();
                let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
                let message = format!("it is not JSON: {message}");
                self.wrong.push(CaseProblem { line: self.line, column, pointer: String::new(), message });
                return;
            }
        };
        if let Some(twice) = duplicate_key(line) {
            self.add_problem("", twice);
        }
        let Some(fields) = self.object("", &value, &LINE) else { return };
        let before = self.wrong.len();
        self.text(fields, "", "$schema", false);
        let operator = self.text(fields, "", "operator", true);
        let input = match fields.get("input") {
            Some(input) => self.canonical("/input", input),
            None => {
                self.add_problem("", "`input` is missing: the operator's input, as JSON");
                None
            }
        };
        let name = self.text(fields, "", "name", false);
        let name = name.unwrap_or_else(|| format!("line {}", self.line));
        if self.cases.iter().any(|case| case.name == name) {
            self.add_problem("/name", format!("another case before this one has the name {name:?}"));
        }
        let answers = match fields.get("answers") {
            None => vec![],
            Some(Value::Array(answers)) => {
                answers.iter().enumerate().filter_map(|(n, answer)| self.answer(n, answer)).collect()
            }
            Some(_) => {
                self.add_problem("/answers", "expected a list with an answer for each call, in the order of the calls");
                vec![]
            }
        };
        let error = self.text(fields, "", "error", false).and_then(|word| self.code("/error", &word));
        if let (Some(operator), Some(input), true) = (operator, input, before == self.wrong.len()) {
            let place = SourceLocation { file: file.to_owned(), line: Some(self.line) };
            self.cases.push(StepCase { name, operator, input, answers, error, place, recorded: None });
        }
    }

    fn answer(&mut self, n: usize, value: &Value) -> Option<CaseAnswer> {
        let at = format!("/answers/{n}");
        let fields = self.object(&at, value, &ANSWER)?;
        let operator = self.text(fields, &at, "operator", false);
        let args = fields.get("args").map(|args| self.canonical(&format!("{at}/args"), args));
        let args = match args {
            Some(None) => return None,
            Some(args) => args,
            None => None,
        };
        let answer = match (fields.get("result"), fields.get("error")) {
            (Some(result), None) => Ok(result.to_string()),
            (None, Some(error)) => Err(self.failure(&format!("{at}/error"), error)?),
            (Some(_), Some(_)) => {
                self.add_problem(&at, "the answer has a `result` and an `error`; use one of them");
                return None;
            }
            (None, None) => {
                self.add_problem(&at, "the answer has neither `result` nor `error`; use one of them");
                return None;
            }
        };
        let determinism = match fields.get("determinism") {
            Some(class) => Some(self.class(&format!("{at}/determinism"), class)?),
            None => None,
        };
        let effects = match fields.get("effects") {
            Some(effects) => Some(self.effects(&format!("{at}/effects"), effects)?),
            None => None,
        };
        Some(CaseAnswer { operator, args, determinism, effects, answer })
    }

    fn effects(&mut self, at: &str, value: &Value) -> Option<Vec<EffectKind>> {
        let effects = serde_json::from_value(value.clone()).ok();
        if effects.is_none() {
            let known = EffectKind::ALL.map(|effect| format!("{:?}", effect.as_str())).join(", ");
            self.add_problem(at, format!("expected an array of effects: {known}"));
        }
        effects
    }

    fn class(&mut self, at: &str, value: &Value) -> Option<Determinism> {
        let class = serde_json::from_value(value.clone()).ok();
        if class.is_none() {
            self.add_problem(at, "expected a determinism class: \"pure\", \"stable\" or \"external\"");
        }
        class
    }

    fn failure(&mut self, at: &str, value: &Value) -> Option<Failure> {
        let fields = self.object(at, value, &ERROR)?;
        let word = self.text(fields, at, "code", true)?;
        let code = self.code(&format!("{at}/code"), &word)?;
        let message = self.text(fields, at, "message", false).unwrap_or_else(|| "the tool failed".to_owned());
        let mut failure = Failure::new(code, message);
        failure.detail = fields.get("detail").map(Value::to_string);
        if let Some(wait) = fields.get("retry_after_ms") {
            match wait.as_u64().and_then(|ms| u32::try_from(ms).ok()) {
                Some(ms) => failure.retry_after_ms = Some(ms),
                None => self.add_problem(&format!("{at}/retry_after_ms"), "expected a number of milliseconds"),
            }
        }
        Some(failure)
    }

    fn code(&mut self, at: &str, word: &str) -> Option<Code> {
        let code = Code::parse(word);
        if code.is_none() {
            let meant = suggest::did_you_mean(word, Code::ALL.iter().map(|code| code.as_str()));
            self.add_problem(at, format!("there is no code {word:?}{meant}"));
        }
        code
    }

    fn object<'v>(&mut self, at: &str, value: &'v Value, known: &[&str]) -> Option<&'v Map<String, Value>> {
        let Some(fields) = value.as_object() else {
            self.add_problem(at, format!("expected a JSON object with {}", known.join(", ")));
            return None;
        };
        for key in fields.keys().filter(|key| !known.contains(&key.as_str())) {
            let meant = suggest::did_you_mean(key, known.iter().copied());
            self.add_problem(&format!("{at}/{key}"), format!("there is no such key{meant}"));
        }
        Some(fields)
    }

    fn text(&mut self, fields: &Map<String, Value>, at: &str, key: &str, required: bool) -> Option<String> {
        match fields.get(key) {
            Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
            Some(_) => {
                self.add_problem(&format!("{at}/{key}"), "expected a non-empty string");
                None
            }
            None => {
                if required {
                    self.add_problem(at, format!("`{key}` is missing"));
                }
                None
            }
        }
    }

    fn canonical(&mut self, at: &str, value: &Value) -> Option<String> {
        match canon::canonicalize_value(value) {
            Ok(text) => Some(text),
            Err(refusal) => {
                self.add_problem(at, format!("it has no canonical form: {refusal}"));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_read() {
        let line = r#"{"name":"n","operator":"A.B","input":{"b":1.0,"a":2},"answers":[
            {"operator":"T","args":{"y":1,"x":2},"determinism":"external","result":[1.0]},{"error":{"code":"RATE_LIMIT","message":"m"}}]}"#;
        let text = format!("\n{}\n", line.replace('\n', ""));
        let cases = parse("c.jsonl", text.as_bytes()).unwrap();
        assert_eq!(cases.len(), 1);
        let case = &cases[0];
        assert_eq!((case.name.as_str(), case.input.as_str(), case.place.line), ("n", r#"{"a":2,"b":1}"#, Some(2)));
        assert_eq!(case.answers[0].args.as_deref(), Some(r#"{"x":2,"y":1}"#));
        assert_eq!((case.answers[0].determinism, case.answers[1].determinism), (Some(Determinism::External), None));
        assert_eq!(case.answers[0].answer, Ok("[1.0]".to_owned()), "a result is kept as it is");
        assert_eq!(case.answers[1].answer, Err(Failure::new(Code::RateLimit, "m")));
    }

    #[test]
    fn every_step_case_problem_has_its_line() {
        let text = concat!(
            "{\"operator\":\"A.B\",\"input\":{}}\n",
            "{\"operator\":\"A.B\",\n",
            "{\"operater\":\"A.B\",\"input\":9007199254740993}\n",
            "{\"operator\":\"A.B\",\"input\":1,\"name\":\"line 1\",\"answers\":[{\"result\":1,\"error\":2},{},\
              {\"error\":{\"code\":\"RATE_LIMITS\"}},7,{\"result\":1,\"determinism\":\"Pure\"}],\"error\":\"INVALID_IMPUT\"}\n",
            "[]\n",
            "{\"operator\":\"A.B\",\"input\":{\"a\":1,\"a\":2}}\n",
        );
        let wrong = parse("c.jsonl", text.as_bytes()).unwrap_err();
        let reported: Vec<_> = wrong.iter().map(|w| (w.line, w.pointer.as_str(), w.message.as_str())).collect();
        let has = |line: u64, pointer: &str, part: &str| {
            let found = reported.iter().any(|(l, p, m)| *l == line && *p == pointer && m.contains(part));
            assert!(found, "{line} {pointer} {part}: {reported:#?}");
        };
        has(2, "", "not JSON");
        has(3, "/operater", "did you mean `operator`?");
        has(3, "", "`operator` is missing");
        has(3, "/input", "it has no canonical form: the integer 9007199254740993 cannot be held exactly");
        has(4, "/name", "another case");
        has(4, "/answers/0", "one of them");
        has(4, "/answers/1", "neither");
        has(4, "/answers/2/error/code", "did you mean `RATE_LIMIT`?");
        has(4, "/answers/3", "object");
        has(4, "/answers/4/determinism", "class");
        has(4, "/error", "did you mean `INVALID_INPUT`?");
        has(5, "", "object");
        has(6, "", "\"a\"");
        assert_eq!((wrong.len(), wrong[0].column), (13, Some(18)));
        let bytes = b"{\"operator\":\"\xc3\xbc\",\n\n\"\xff\"";
        assert_eq!(parse("c.jsonl", bytes).unwrap_err()[0].line, 3);
    }
}
