//! Cases in worlds that random calls of the plugin have made. The calls and the case have inputs that are drawn, and members
//! of earlier calls.

use std::collections::BTreeMap;

use serde_json::Value;

use latchwork_core::encoding::rng::StepRng;
use latchwork_core::model::effect::Answer;
use latchwork_core::model::ids::Hash;
use latchwork_engine::guest::tool_call::ToolCallContext;

use crate::check::finding::Finding;
use crate::check::tools::applied;
use crate::check::tools::case::ToolCase;
use crate::check::tools::derived_cases::DerivedCase;
use crate::check::tools::other_inputs::{is_broken, is_denied};
use crate::check::tools::readers::linked_case;
use crate::check::tools::running_case::{RunningCase, ToolCheck};
use crate::check::tools::world::World;
use crate::check::variations::drawn;

/// External keys of the calls before the case.
const EARLIER_KEYS: [&str; 5] = [
    "latch:job_01JZ1A5T8Q3V7X2C6M9R4WBKEF:s1:1",
    "latch:job_01JZ1B6V9R4W8Y3D7N0S5XCMFG:s1:1",
    "latch:job_01JZ1B6V9R4W8Y3D7N0S5XCMFG:s4:1",
    "latch:job_01JZ1C7W0S5X9Z4E8P1T6YDNGH:s2:1",
    "latch:job_01JZ1D8X1T6Y0A5F9Q2V7ZEPHJ:s10:1",
];
/// Number of drawn cases, and of those of a component that contains the runtime of a language.
const CASES: usize = 8;
const CASES_WITH_RUNTIME: usize = 2;
/// Number of draws, and of those for a component that contains the runtime of a language.
const DRAWS: usize = 150;
const DRAWS_WITH_RUNTIME: usize = 12;

/// A call that was made.
struct MadeCall {
    operator: String,
    input: String,
    result: String,
}

/// The cases that were drawn, and the findings of the calls before them.
#[derive(Default)]
pub(super) struct DrawnCases {
    pub(super) cases: Vec<DerivedCase>,
    pub(super) found: Vec<Finding>,
}

/// Draws cases of operators that change the world, each after at least one call. A tool with servers has none, because the
/// responses of a server are those for the calls of its cases. Ends at the first finding.
pub(super) async fn drawn_cases(tools: &ToolCheck<'_>, cases: &[ToolCase]) -> std::io::Result<DrawnCases> {
    let is_usable = |case: &&ToolCase| case.error.is_none() && case.http.is_empty();
    let usable: Vec<&ToolCase> = cases.iter().filter(is_usable).collect();
    let is_changing =
        |case: &&&ToolCase| tools.plugin.operator(&case.operator).is_some_and(|spec| spec.is_world_changing());
    let changing: Vec<&ToolCase> = usable.iter().filter(is_changing).copied().collect();
    let mut drawn = DrawnCases::default();
    if changing.is_empty() || cases.iter().any(|case| !case.http.is_empty()) {
        return Ok(drawn);
    }
    let inputs: Vec<&[u8]> = cases.iter().map(|case| case.input.as_bytes()).collect();
    let mut rng = StepRng::new(Hash::of(&inputs).0);
    let (draws, max) = if tools.has_runtime { (DRAWS_WITH_RUNTIME, CASES_WITH_RUNTIME) } else { (DRAWS, CASES) };
    for _ in 0..draws {
        if !drawn.found.is_empty() {
            break;
        }
        let one = draw(tools, cases, (&usable, &changing), &mut rng, &mut drawn.found).await?;
        let is_new = |one: &DerivedCase| drawn.cases.iter().all(|before| before.case != one.case);
        let is_wanted = drawn.cases.len() < max;
        drawn.cases.extend(one.filter(is_new).filter(|_| is_wanted));
    }
    Ok(drawn)
}

fn pick<'c>(rng: &mut StepRng, cases: &[&'c ToolCase]) -> &'c ToolCase {
    cases[rng.below(u32::try_from(cases.len()).unwrap_or(u32::MAX)) as usize]
}

/// Picks a case. Prefers operators that were not called yet.
fn pick_other<'c>(rng: &mut StepRng, cases: &[&'c ToolCase], made: &[MadeCall]) -> &'c ToolCase {
    let is_new = |case: &&ToolCase| made.iter().all(|call| call.operator != case.operator);
    let first = pick(rng, cases);
    if is_new(&first) { first } else { pick(rng, cases) }
}

/// Makes some calls in the world of a case. Returns a case in the world that they leave, if its call succeeds there.
async fn draw(
    tools: &ToolCheck<'_>,
    cases: &[ToolCase],
    (usable, changing): (&[&ToolCase], &[&ToolCase]),
    rng: &mut StepRng,
    found: &mut Vec<Finding>,
) -> std::io::Result<Option<DerivedCase>> {
    let start = pick(rng, usable);
    let world = RunningCase::new(tools, start, cases).world()?;
    let mut made: Vec<MadeCall> = Vec::new();
    let count = 1 + rng.below(EARLIER_KEYS.len() as u32) as usize;
    for key in &EARLIER_KEYS[..count] {
        let case = with_drawn_input(tools, usable, pick_other(rng, changing, &made), &made, rng);
        let mut running = RunningCase::new(tools, &case, cases);
        let before = world.state();
        let context = ToolCallContext { external_key: (*key).to_owned(), ..running.context(0) };
        let called = running.calling(&case, &world, context, false).await;
        let when = match described(&made) {
            calls if calls.is_empty() => format!("with the input {}", case.input),
            calls => format!("with the input {}, after {calls}", case.input),
        };
        let answer = &called.end.answer;
        if applied::check(&mut running, &when, &before, &world, answer)
            || is_denied(&mut running, &called, &when)
            || is_broken(&mut running, &called, &when)
        {
            found.append(&mut running.found);
            return Ok(None);
        }
        if let Answer::Ok(done) = called.end.answer {
            made.push(MadeCall { operator: case.operator, input: case.input, result: done.result });
        }
    }
    if made.is_empty() {
        return Ok(None);
    }
    let case = with_drawn_input(tools, usable, pick_other(rng, changing, &made), &made, rng);
    let Some(case) = in_world(start, case, &world) else { return Ok(None) };
    let running = RunningCase::new(tools, &case, cases);
    let called = running.calling(&case, &running.world()?, running.context(0), false).await;
    let maker = format!("{}, with the input {}", described(&made), case.input);
    Ok(matches!(called.end.answer, Answer::Ok(_)).then_some(DerivedCase { maker, case }))
}

fn described(made: &[MadeCall]) -> String {
    let calls: Vec<String> = made.iter().map(|call| format!("{} {}", call.operator, call.input)).collect();
    calls.join(", ")
}

/// Returns a case with another input, in most draws. Its members are those of an earlier call, in most draws.
fn with_drawn_input(
    tools: &ToolCheck<'_>,
    usable: &[&ToolCase],
    case: &ToolCase,
    made: &[MadeCall],
    rng: &mut StepRng,
) -> ToolCase {
    let parsed = |case: &ToolCase| -> Option<Value> { serde_json::from_str(&case.input).ok() };
    let of_operator = usable.iter().filter(|other| other.operator == case.operator);
    let samples: Vec<Value> = of_operator.filter_map(|other| parsed(other)).collect();
    let spec = tools.plugin.operator(&case.operator).expect("cases are of operators that are served");
    let schema: Value = serde_json::from_str(&spec.input_schema).unwrap_or_default();
    let is_allowed = |input: &Value| tools.plugin.check_input(&case.operator, input).is_ok();
    let mut other = case.clone();
    if let (true, Some(input)) = (rng.below(2) > 0, parsed(case)) {
        let number = rng.below(8) as usize;
        let drawn = drawn(&input, &samples, &schema, number + 1, is_allowed).nth(number);
        other.input = drawn.map_or(other.input, |drawn| drawn.value.to_string());
    }
    let earlier = (!made.is_empty() && rng.below(8) > 0).then(|| &made[rng.below(made.len() as u32) as usize]);
    let linked = earlier.and_then(|call| linked_case(tools, &other, &call.input, &call.result));
    linked.unwrap_or(other)
}

/// Returns the case in the world that calls have left. Returns `None` if an entry is no text.
fn in_world(start: &ToolCase, case: ToolCase, world: &World) -> Option<ToolCase> {
    let mut dirs: BTreeMap<String, BTreeMap<String, String>> =
        start.dirs.keys().map(|dir| (dir.clone(), BTreeMap::new())).collect();
    let mut map = BTreeMap::new();
    for (name, content) in world.contents() {
        let content = String::from_utf8(content).ok()?;
        if let Some(key) = name.strip_prefix("map ") {
            map.insert(key.to_owned(), content);
        } else {
            let in_dir = |dir: &&String| name.strip_prefix(dir.as_str()).is_some_and(|path| path.starts_with('/'));
            let dir = dirs.keys().find(in_dir)?.clone();
            let path = name[dir.len() + 1..].to_owned();
            dirs.get_mut(&dir)?.insert(path, content);
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
