//! Cases of operators that need an entry of another operator, and whose own cases have no entries. The other operator makes
//! the entry, and the case gets its arguments and its result.

use std::collections::BTreeMap;

use latchwork_core::model::effect::Answer;

use crate::check::tools::case::ToolCase;
use crate::check::tools::readers::linked_case;
use crate::check::tools::running_case::{RunningCase, ToolCheck};

/// External key of the call that makes the entries.
pub(super) const EARLIER_KEY: &str = "latch:job_01JZ1A5T8Q3V7X2C6M9R4WBKEF:s1:1";
/// Maximum number of calls of other operators that are tried for an operator.
const MAKERS_MAX: usize = 8;

/// A case after other calls.
pub(super) struct DerivedCase {
    /// Describes the calls, such as `after a call of Orders.Place`.
    pub(super) when: String,
    pub(super) case: ToolCase,
}

/// Returns at most one case for each operator of the plugin.
pub(super) async fn derived_cases(tools: &ToolCheck<'_>, cases: &[ToolCase]) -> std::io::Result<Vec<DerivedCase>> {
    let mut found = Vec::new();
    for spec in &tools.plugin.manifest.operators {
        let own: Vec<&ToolCase> = cases.iter().filter(|case| case.operator == spec.name.as_str()).collect();
        if !own.is_empty() && own.iter().all(|case| has_no_entries(case)) {
            found.extend(derived_case(tools, cases, &own).await?);
        }
    }
    Ok(found)
}

fn has_no_entries(case: &ToolCase) -> bool {
    case.http.is_empty() && case.dirs.is_empty() && case.kv.as_ref().is_none_or(BTreeMap::is_empty)
}

/// Returns a case of the operator of the cases `own`, if one of them succeeds after a call of another operator.
async fn derived_case(
    tools: &ToolCheck<'_>,
    cases: &[ToolCase],
    own: &[&ToolCase],
) -> std::io::Result<Option<DerivedCase>> {
    let is_maker = |case: &&ToolCase| {
        let is_changing = tools.plugin.operator(&case.operator).is_some_and(|spec| spec.is_world_changing());
        case.operator != own[0].operator && is_changing && case.error.is_none() && has_no_entries(case)
    };
    for maker in cases.iter().filter(is_maker).take(MAKERS_MAX) {
        let making = RunningCase::new(tools, maker, cases);
        let world = making.world()?;
        let mut context = making.context(0);
        context.external_key = EARLIER_KEY.to_owned();
        let Answer::Ok(done) = making.calling(maker, &world, context, false).await.end.answer else { continue };
        let entries = world.map_entries().into_iter().map(|(name, value)| Some((name, String::from_utf8(value).ok()?)));
        let Some(entries) = entries.collect::<Option<BTreeMap<String, String>>>() else { continue };
        for case in own {
            let Some(linked) = linked_case(tools, case, &maker.input, &done.result) else { continue };
            let case = ToolCase { kv: Some(entries.clone()), error: None, ..linked };
            let running = RunningCase::new(tools, &case, cases);
            let called = running.calling(&case, &running.world()?, running.context(0), false).await;
            if matches!(called.end.answer, Answer::Ok(_)) {
                return Ok(Some(DerivedCase { when: format!("after a call of {}", maker.operator), case }));
            }
        }
    }
    Ok(None)
}
