//! Calls that a tool could make in a job without an approval.

use latchwork::config::Config;
use latchwork_core::model::manifest::PluginKind;
use latchwork_core::model::rules::Rules;
use latchwork_engine::Plugin;
use latchwork_engine::capability::access_text::ungated_access;
use latchwork_engine::capability::grants::Grants;

/// Describes in one line what a tool with these grants could do without an approval, under the policy of any tenant.
/// Returns `None` for a step.
pub(crate) fn without_approval(config: &Config, plugin: &Plugin, grants: &Grants) -> Option<String> {
    let policies: Vec<Rules> = config.policy().values().map(Rules::from).collect();
    let is_tool = plugin.kind == PluginKind::Tool;
    is_tool.then(|| ungated_access(&plugin.manifest.operators, grants, &policies))
}
