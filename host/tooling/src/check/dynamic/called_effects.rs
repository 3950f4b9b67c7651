//! D081: the effects of a step cover those of the tools that it calls.

use latchwork_core::model::manifest::EffectKind;
use latchwork_engine::Plugin;

use crate::check::dynamic::baseline::CaseBaseline;
use crate::check::dynamic::hosts::DeclarationOf;
use crate::check::finding::Finding;

/// Compares the declared effects of the step with the effects of the tools that the case calls. A tool whose effects are
/// not known is left out.
pub(super) fn compare(ran: &CaseBaseline<'_>, plugin: &Plugin, declaration_of: DeclarationOf<'_>) -> Option<Finding> {
    let own = &plugin.operator(&ran.case.operator).expect("cases are of operators that are served").effects;
    ran.base.calls().enumerate().find_map(|(call, (tool, _))| {
        let stated = ran.case.answers.get(call).and_then(|answer| answer.effects.clone());
        let effects = stated.or_else(|| declaration_of(tool).map(|declared| declared.effects))?;
        let is_undeclared = |effect: &&EffectKind| effect.is_world_changing() && !own.contains(effect);
        let undeclared = effects.iter().find(is_undeclared)?.as_str();
        let message = format!("call {call} ({tool}) has the effect {undeclared}, which the step does not declare");
        Some(ran.finding("D081", message).hint(format!("declare the effect `{undeclared}`")))
    })
}
