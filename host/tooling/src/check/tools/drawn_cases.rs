//! Cases in worlds that random calls of the plugin have made. The calls and the case have inputs that are drawn, and members
//! of earlier calls.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use latchwork_core::encoding::rng::StepRng;
use latchwork_core::encoding::truncate;
use latchwork_core::model::effect::Answer;
use latchwork_core::model::ids::Hash;
use latchwork_engine::guest::tool_call::ToolCallContext;

use crate::check::finding::{Finding, displayed_input};
use crate::check::parallel;
use crate::check::tools::applied;
use crate::check::tools::case::{ToolCase, inputs_of};
use crate::check::tools::derived_cases::{DerivedCase, EARLIER_KEY};
use crate::check::tools::other_inputs::{is_broken, is_denied};
use crate::check::tools::readers::linked_case;
use crate::check::tools::running_case::{RunningCase, ToolCheck};
use crate::check::tools::world::{is_in, snapshot};
use crate::check::variations::{drawn, is_much_larger};

/// External keys of the calls of a series.
const KEYS: [&str; 6] = [
    EARLIER_KEY,
    "latch:job_01JZ1B6V9R4W8Y3D7N0S5XCMFG:s1:1",
    "latch:job_01JZ1B6V9R4W8Y3D7N0S5XCMFG:s4:1",
    "latch:job_01JZ1C7W0S5X9Z4E8P1T6YDNGH:s2:1",
    "latch:job_01JZ1D8X1T6Y0A5F9Q2V7ZEPHJ:s10:1",
    "latch:job_01JZ1E9Y2V7Z1B6G0R3W8AFQJK:s3:1",
];
/// Number of series, and of those for a component that contains the runtime of a language.
const SERIES: u64 = 150;
const SERIES_WITH_RUNTIME: u64 = 12;
/// Number of calls that are checked as cases, and of those for a component that contains the runtime of a language.
const CASES: usize = 8;
const CASES_WITH_RUNTIME: usize = 2;
/// Number of drawn inputs of each case.
const INPUTS: usize = 8;
/// Greatest number of bytes of the earlier calls in a message.
const EARLIER_BYTES_MAX: usize = 3000;

/// A case of an operator that changes the world, with other inputs for it.
struct Candidate<'c> {
    case: &'c ToolCase,
    inputs: Vec<String>,
}

impl Candidate<'_> {
    /// Returns true if the world of another case has all that the case needs, apart from entries.
    fn fits(&self, start: &ToolCase) -> bool {
        let settings = |case: &ToolCase| (case.config.clone(), case.secrets.clone(), case.secrets_clear);
        settings(self.case) == settings(start) && self.case.dirs.keys().all(|dir| start.dirs.contains_key(dir))
    }
}

/// A call that was made.
struct MadeCall {
    operator: String,
    input: String,
    result: String,
}

impl MadeCall {
    fn is_equal_to(&self, case: &ToolCase) -> bool {
        self.operator == case.operator && parsed(&self.input) == parsed(&case.input)
    }
}

/// The cases that were drawn, and the findings of the calls before them. Also the outcome of one series.
#[derive(Default)]
pub(super) struct DrawnCases {
    pub(super) cases: Vec<DerivedCase>,
    pub(super) found: Vec<Finding>,
}

/// Draws cases of operators that change the world, each after at least one call. A tool with servers has none, because the
/// responses of a server are those for the calls of its cases. If there are findings, those of the first series with a
/// finding are returned.
pub(super) async fn drawn_cases(tools: &ToolCheck<'_>, cases: &[ToolCase]) -> std::io::Result<DrawnCases> {
    let mut drawn = DrawnCases::default();
    if cases.iter().any(|case| !case.http.is_empty()) {
        return Ok(drawn);
    }
    let starts: Vec<&ToolCase> = cases.iter().filter(|case| case.error.is_none()).collect();
    let is_changing =
        |case: &&&ToolCase| tools.plugin.operator(&case.operator).is_some_and(|spec| spec.is_world_changing());
    let candidates: Vec<_> = starts.iter().filter(is_changing).map(|case| candidate(tools, cases, case)).collect();
    if candidates.is_empty() {
        return Ok(drawn);
    }
    let inputs: Vec<&[u8]> = cases.iter().map(|case| case.input.as_bytes()).collect();
    let seed = Hash::of(&inputs).0;
    let (count, max) = if tools.has_runtime { (SERIES_WITH_RUNTIME, CASES_WITH_RUNTIME) } else { (SERIES, CASES) };
    let series: Vec<u64> = (0..count).collect();
    let ran = parallel::for_each(&series, async |number| {
        let mut rng = StepRng::new(Hash::of(&[&number.to_be_bytes(), &seed]).0);
        let start = *pick(&mut rng, &starts);
        let fitting: Vec<&Candidate<'_>> = candidates.iter().filter(|one| one.fits(start)).collect();
        make_calls(tools, cases, start, &fitting, &mut rng).await
    });
    for one in ran {
        let one = one?;
        if !one.found.is_empty() {
            drawn.found = one.found;
            break;
        }
        let is_new = |one: &DerivedCase| drawn.cases.iter().all(|before| before.case != one.case);
        let new: Vec<DerivedCase> = one.cases.into_iter().filter(is_new).collect();
        drawn.cases.extend(new);
    }
    drawn.cases.truncate(max);
    Ok(drawn)
}

/// Returns a case with its own input and with drawn ones.
fn candidate<'c>(tools: &ToolCheck<'_>, cases: &[ToolCase], case: &'c ToolCase) -> Candidate<'c> {
    let samples = inputs_of(&case.operator, cases);
    let (input, schema) = RunningCase::new(tools, case, cases).input_and_schema();
    let is_allowed = |input: &Value| tools.plugin.check_input(&case.operator, input).is_ok();
    let inputs = drawn(&input, &samples, &schema, INPUTS, is_allowed).map(|one| one.to_string()).collect();
    Candidate { case, inputs }
}

fn parsed(input: &str) -> Value {
    serde_json::from_str(input).expect("an input of a call is JSON")
}

fn pick<'c, T>(rng: &mut StepRng, all: &'c [T]) -> &'c T {
    &all[rng.below(u32::try_from(all.len()).unwrap_or(u32::MAX)) as usize]
}

/// Picks a case and an input. Prefers operators that were not called yet. In most picks, the input has members of an earlier
/// call.
fn pick_case(tools: &ToolCheck<'_>, candidates: &[&Candidate<'_>], made: &[MadeCall], rng: &mut StepRng) -> ToolCase {
    let first = *pick(rng, candidates);
    let is_new = made.iter().all(|call| call.operator != first.case.operator);
    let candidate = if is_new { first } else { *pick(rng, candidates) };
    let mut case = candidate.case.clone();
    if !candidate.inputs.is_empty() && rng.below(2) > 0 {
        case.input.clone_from(pick(rng, &candidate.inputs));
    }
    if made.is_empty() || rng.below(8) == 0 {
        return case;
    }
    let earlier = pick(rng, made);
    let (args, result) = (some_members(rng, &earlier.input), some_members(rng, &earlier.result));
    linked_case(tools, &case, &args, &result).unwrap_or(case)
}

/// Returns an object with about half of its members. A value that is no object has none.
fn some_members(rng: &mut StepRng, text: &str) -> String {
    let mut members: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
    members.retain(|_, _| rng.below(2) > 0);
    Value::Object(members).to_string()
}

/// Makes calls in the world of a case, until a call has a finding or an unknown outcome. Returns the last call that
/// succeeded, as a case in the world before it, if it differs from the calls before.
async fn make_calls(
    tools: &ToolCheck<'_>,
    cases: &[ToolCase],
    start: &ToolCase,
    candidates: &[&Candidate<'_>],
    rng: &mut StepRng,
) -> std::io::Result<DrawnCases> {
    let mut drawn = DrawnCases::default();
    if candidates.is_empty() {
        return Ok(drawn);
    }
    let world = RunningCase::new(tools, start, cases).world()?;
    let mut made = Vec::<MadeCall>::new();
    let count = 2 + rng.below(KEYS.len() as u32 - 1) as usize;
    for key in &KEYS[..count] {
        let case = pick_case(tools, candidates, &made, rng);
        let mut running = RunningCase::new(tools, &case, cases);
        let contents = world.contents();
        let context = ToolCallContext { external_key: (*key).to_owned(), ..running.context(0) };
        let called = running.calling(&case, &world, context, false).await;
        let when = described(&case, &made);
        let is_large = candidates.iter().all(|one| is_much_larger(case.input.len(), one.case.input.len()));
        if applied::check(&mut running, &when, &snapshot(&contents), &world, &called.end.answer)
            || is_denied(&mut running, &called, &when)
            || !is_large && is_broken(&mut running, &called, &when)
        {
            let found = std::mem::take(&mut running.found);
            return Ok(DrawnCases { found, cases: vec![] });
        }
        let done = match called.end.answer {
            Answer::Ok(done) => done,
            Answer::NotApplied(_) => continue,
            Answer::Unknown { .. } => break,
        };
        let (operator, input) = (case.operator.clone(), case.input.clone());
        if !made.is_empty() && !made.iter().any(|call| call.is_equal_to(&case)) {
            let case = in_world(start, case, contents, world.folders());
            drawn.cases = case.map(|case| DerivedCase { when, case }).into_iter().collect();
        }
        made.push(MadeCall { operator, input, result: done.result });
    }
    Ok(drawn)
}

/// Describes a call after others.
fn described(case: &ToolCase, made: &[MadeCall]) -> String {
    let calls: Vec<String> = made.iter().map(|call| format!("{} {}", call.operator, call.input)).collect();
    let calls = truncate::at_bytes(&calls.join(", "), EARLIER_BYTES_MAX).to_string();
    let after = if calls.is_empty() { String::new() } else { format!(", after {calls}") };
    format!("with the input {}{after}", displayed_input(&case.input))
}

/// Returns the case in the world that calls have left. Returns `None` if an entry is no text.
fn in_world<'w>(
    start: &ToolCase,
    case: ToolCase,
    contents: BTreeMap<String, Vec<u8>>,
    folders: impl Iterator<Item = &'w str>,
) -> Option<ToolCase> {
    let mut dirs: BTreeMap<String, BTreeMap<String, String>> =
        folders.map(|dir| (dir.to_owned(), BTreeMap::new())).collect();
    let mut map = BTreeMap::new();
    for (name, content) in contents {
        let content = String::from_utf8(content).ok()?;
        if let Some(key) = name.strip_prefix("map ") {
            map.insert(key.to_owned(), content);
        } else {
            let (dir, files) = dirs.iter_mut().filter(|(dir, _)| is_in(&name, dir)).max_by_key(|(dir, _)| dir.len())?;
            files.insert(name[dir.len() + 1..].to_owned(), content);
        }
    }
    let kv = (start.kv.is_some() || !map.is_empty()).then_some(map);
    Some(ToolCase {
        operator: case.operator,
        input: case.input,
        name: case.name,
        line: case.line,
        dirs,
        kv,
        ..start.clone()
    })
}
