//! Cases of tools. A case is a call and the simulated world in which it runs. A file of cases in JSON Lines
//! format may also contain cases of steps.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use latchwork_core::encoding::{canon, suggest};
use latchwork_core::model::error::Code;
use latchwork_core::model::ids::Hash;

use crate::check::case_problem::{CaseProblem, duplicate_key, line_at};
use crate::check::tools::question_by_post::{is_changing, is_question_by_post};

/// Maximum number of cases in a file.
const CASES_MAX: usize = 10_000;

/// Text in the URL of a request and in an answer of a case that stands for the external key of the call.
pub(super) const KEY_MARK: &str = "{external-key}";

/// Allowed keys: of a line, of an entry of `http` (a canned response), of the entry's `match`, and of the entry's
/// `response`.
const LINE: [&str; 11] =
    ["$schema", "name", "operator", "input", "http", "dirs", "config", "secrets", "secrets_clear", "kv", "error"];
const CANNED: [&str; 2] = ["match", "response"];
const MATCH: [&str; 3] = ["method", "url", "happened"];
const RESPONSE: [&str; 3] = ["status", "headers", "body"];

/// A line of the file, before validation.
#[derive(Clone, Debug, Deserialize)]
struct CaseLine {
    /// Schema with which an editor checks the line.
    #[serde(default, rename = "$schema")]
    schema: Option<String>,
    #[serde(default)]
    name: Option<String>,
    operator: String,
    input: Value,
    #[serde(default)]
    http: Vec<CannedResponse>,
    #[serde(default)]
    dirs: BTreeMap<String, BTreeMap<String, String>>,
    #[serde(default)]
    config: BTreeMap<String, Value>,
    #[serde(default)]
    secrets: BTreeMap<String, String>,
    #[serde(default)]
    secrets_clear: bool,
    #[serde(default)]
    kv: Option<BTreeMap<String, String>>,
    #[serde(default)]
    error: Option<String>,
}

/// A canned response of a server. Each request gets the first canned response that matches. The order of the requests
/// matters only for [`RequestMatcher::happened`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct CannedResponse {
    /// Condition for requests that get this response.
    #[serde(rename = "match")]
    pub(crate) matcher: RequestMatcher,
    /// Response to requests that fulfil the condition.
    pub(crate) response: StubResponse,
}

/// Condition that a request must fulfil.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct RequestMatcher {
    /// HTTP method. `None` matches any method.
    #[serde(default)]
    pub(crate) method: Option<String>,
    /// URL such as `https://api.example.com/v1/orders`. A URL without a query matches any query.
    pub(crate) url: String,
    /// `true` matches only after a world-changing request was received. `false` matches only before the first such
    /// request. `None` matches always. A server can thus answer differently after a change.
    #[serde(default)]
    pub(crate) happened: Option<bool>,
}

/// An HTTP response.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct StubResponse {
    /// Status code, 200 by default.
    #[serde(default = "default_status")]
    pub(crate) status: u16,
    /// Headers of the response.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    /// Body of the response. A string is sent unchanged, any other value as JSON.
    #[serde(default)]
    pub(crate) body: Value,
}

fn default_status() -> u16 {
    200
}

/// A valid case of a tool.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ToolCase {
    /// Name, unique in the file.
    pub(crate) name: String,
    /// Line number in the file.
    pub(crate) line: u64,
    /// Operator that is called.
    pub(crate) operator: String,
    /// Arguments of the call, as canonical JSON.
    pub(crate) input: String,
    /// Canned responses of servers.
    pub(crate) http: Vec<CannedResponse>,
    /// Contents of the files in granted directories. The outer key is the guest path of the directory, the inner key
    /// the path of the file in the directory.
    pub(crate) dirs: BTreeMap<String, BTreeMap<String, String>>,
    /// Entries added to the plugin's `config` table from the configuration.
    pub(crate) config: BTreeMap<String, Value>,
    /// Values of secrets.
    pub(crate) secrets: BTreeMap<String, String>,
    /// True if the tool receives secrets in clear instead of placeholders.
    pub(crate) secrets_clear: bool,
    /// Initial contents of the key-value map. `None`: the tool has a map only if its entry in the configuration grants
    /// a map.
    pub(crate) kv: Option<BTreeMap<String, String>>,
    /// Code of the expected error. `None` if the call must succeed.
    pub(crate) error: Option<String>,
    /// True if a case of this operator has a request that changes something, apart from questions by POST.
    pub(crate) has_change: bool,
}

impl ToolCase {
    /// Returns the external key of the call, equal in every try and every run.
    pub(super) fn external_key(&self) -> String {
        let hash = Hash::of(&[b"latch plugin check", self.operator.as_bytes(), &[0], self.input.as_bytes()]);
        format!("latch:job_01{}:s1:1", hash.to_hex()[..24].to_uppercase())
    }
}

/// Returns the inputs of the cases of an operator that expect no error.
pub(super) fn inputs_of(operator: &str, cases: &[ToolCase]) -> Vec<Value> {
    let is_sample = |case: &&ToolCase| case.operator == operator && case.error.is_none();
    let inputs = cases.iter().filter(is_sample);
    inputs.map(|case| serde_json::from_str(&case.input).expect("a case's input is JSON")).collect()
}

/// Reads the cases of a tool.
///
/// # Errors
/// Returns every problem of the file, with its line.
pub(crate) fn parse(bytes: &[u8]) -> Result<Vec<ToolCase>, Vec<CaseProblem>> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| vec![wrong_at(line_at(bytes, error.valid_up_to()), "the text is not UTF-8 from here on")])?;
    let (mut cases, mut wrong) = (Vec::<ToolCase>::new(), Vec::<CaseProblem>::new());
    for (index, text) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let number = index as u64 + 1;
        if cases.len() == CASES_MAX {
            wrong.push(wrong_at(number, format!("a file has at most {CASES_MAX} cases")));
            break;
        }
        if let Some(twice) = duplicate_key(text) {
            wrong.push(wrong_at(number, twice));
            continue;
        }
        let line: CaseLine = match read(text, number) {
            Ok(line) => line,
            Err(problems) => {
                wrong.extend(problems);
                continue;
            }
        };
        if line.schema.as_deref() == Some("") || line.operator.is_empty() || line.name.as_deref() == Some("") {
            wrong.push(wrong_at(number, "`$schema`, `operator` and `name` must be non-empty strings"));
        }
        let name = line.name.clone().unwrap_or_else(|| format!("line {number}"));
        if cases.iter().any(|case| case.name == name) {
            wrong.push(wrong_at(number, format!("another case before this one has the name {name:?}")));
        }
        if let Some(word) = line.error.as_deref().filter(|word| Code::parse(word).is_none()) {
            let meant = suggest::did_you_mean(word, Code::ALL.iter().map(|code| code.as_str()));
            wrong.push(wrong_at(number, format!("there is no code {word:?}{meant}")));
        }
        wrong.extend(world_problems(&line, number));
        match canon::canonicalize_value(&line.input) {
            Ok(input) => cases.push(ToolCase {
                name,
                line: number,
                operator: line.operator,
                input,
                http: line.http,
                dirs: line.dirs,
                config: line.config,
                secrets: line.secrets,
                secrets_clear: line.secrets_clear,
                kv: line.kv,
                error: line.error,
                has_change: false,
            }),
            Err(refusal) => wrong.push(wrong_at(number, format!("its input has no canonical form: {refusal}"))),
        }
    }
    let changing: BTreeSet<String> =
        cases.iter().filter(|case| case.http.iter().any(may_change_state)).map(|case| case.operator.clone()).collect();
    for case in &mut cases {
        case.has_change = changing.contains(&case.operator);
    }
    if wrong.is_empty() { Ok(cases) } else { Err(wrong) }
}

/// Returns true if the response is for requests that change something, apart from questions by POST.
fn may_change_state(canned: &CannedResponse) -> bool {
    let RequestMatcher { method, url, .. } = &canned.matcher;
    method.as_deref().is_some_and(|method| is_changing(&method.to_uppercase()) && !is_question_by_post(method, url))
}

/// Returns the problems of the simulated world of a case: its canned responses and its directories.
fn world_problems(line: &CaseLine, number: u64) -> Vec<CaseProblem> {
    let mut wrong = Vec::new();
    for canned in &line.http {
        // A key is a part of a URL as it is.
        let url = canned.matcher.url.replace(KEY_MARK, "key");
        if !url.parse::<http::Uri>().is_ok_and(|uri| uri.authority().is_some() && uri.scheme().is_some()) {
            let message = format!("{:?} is not a URL such as https://api.example.com/v1/things", canned.matcher.url);
            wrong.push(wrong_at(number, message));
        }
        if http::StatusCode::from_u16(canned.response.status).is_err() {
            wrong.push(wrong_at(number, format!("{} is not an HTTP status", canned.response.status)));
        }
    }
    for (dir, files) in &line.dirs {
        let plain = |path: &str| !path.split('/').any(|part| part == ".." || part == ".");
        if !dir.starts_with('/') || !plain(dir) {
            wrong.push(wrong_at(number, format!("{dir:?} is not a guest directory such as /data")));
        }
        for file in files.keys().filter(|file| file.starts_with('/') || file.is_empty() || !plain(file)) {
            wrong.push(wrong_at(number, format!("{file:?} is not a path of a file below {dir}")));
        }
    }
    wrong
}

/// Parses one line. Reports all unknown keys, or the first value of a wrong type.
fn read(text: &str, number: u64) -> Result<CaseLine, Vec<CaseProblem>> {
    let no_case = |error: serde_json::Error| vec![wrong_at(number, format!("not a case of a tool: {error}"))];
    let value: Value = serde_json::from_str(text).map_err(no_case)?;
    let mut wrong = Vec::new();
    let mut keys = |at: String, value: &Value, known: &[&str]| {
        let Some(fields) = value.as_object() else {
            // A null or missing value is not reported here. If an object is required, the deserialization at the end
            // reports it.
            if !value.is_null() {
                let message = format!("expected a JSON object with {}", known.join(", "));
                wrong.push(CaseProblem { pointer: at, ..wrong_at(number, message) });
            }
            return;
        };
        for key in fields.keys().filter(|key| !known.contains(&key.as_str())) {
            let meant = suggest::did_you_mean(key, known.iter().copied());
            let message = format!("there is no such key{meant}");
            wrong.push(CaseProblem { pointer: format!("{at}/{key}"), ..wrong_at(number, message) });
        }
    };
    keys(String::new(), &value, &LINE);
    for (n, canned) in value["http"].as_array().into_iter().flatten().enumerate() {
        keys(format!("/http/{n}"), canned, &CANNED);
        keys(format!("/http/{n}/match"), &canned["match"], &MATCH);
        keys(format!("/http/{n}/response"), &canned["response"], &RESPONSE);
    }
    // Deserializes from `text` and not from `value`, because only errors from a text contain a column.
    if wrong.is_empty() { serde_json::from_str(text).map_err(no_case) } else { Err(wrong) }
}

fn wrong_at(line: u64, message: impl Into<String>) -> CaseProblem {
    CaseProblem { line, column: None, pointer: String::new(), message: message.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_case_problem_has_its_line() {
        let text = concat!(
            r#"{"operator":"A.B","input":{},"http":[{"match":{"url":"https://a.example/x"},"response":{"body":{"a":1}}}]}"#,
            "\n\n{\"operator\":\"A.B\"}\n",
            r#"{"operator":"A.B","input":1,"http":[{"match":{"url":"/x"},"response":{"status":7}}]}"#,
            "\n",
            r#"{"operator":"A.B","input":1,"dirs":{"data":{"../x":"y"}},"error":"RATE_LIMITS"}"#,
        );
        let wrong = parse(text.as_bytes()).unwrap_err();
        let lines: Vec<u64> = wrong.iter().map(|wrong| wrong.line).collect();
        assert_eq!(lines, [3, 4, 4, 5, 5, 5], "{wrong:#?}");
        let one = parse(text.lines().next().unwrap().as_bytes()).unwrap();
        assert_eq!((one[0].name.as_str(), one[0].http[0].response.status), ("line 1", 200));
        let text = r#"{"operater":"A.B","input":1,"http":[{"match":{"uri":"http://a"},"responce":{}}]}"#;
        let wrong = parse(text.as_bytes()).unwrap_err();
        let reported: Vec<_> = wrong.iter().map(|wrong| format!("{} {}", wrong.pointer, wrong.message)).collect();
        for message in ["/operater there is no such key (did you mean `operator`?)", "/http/0/match/uri ", "`response`"]
        {
            assert!(reported.iter().any(|reported| reported.contains(message)), "{message}: {reported:#?}");
        }
    }
}
