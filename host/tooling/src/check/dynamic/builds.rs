//! D065: another build of the same sources must behave the same. A build may copy a value of its machine into the
//! component, such as a seed, the time or the iteration order of a set. All jobs then get this value, but the next
//! build contains another value.

use std::sync::Arc;

use latchwork_core::model::differences::differences;
use latchwork_core::model::ids::Hash;
use latchwork_engine::Plugin;

use crate::check::dynamic::address;
use crate::check::dynamic::host_inputs::RebuiltComponent;
use crate::check::dynamic::hosts::HostVariants;
use crate::check::dynamic::perturbed_runs::PerturbedRuns;
use crate::check::dynamic::trace::compare_behaviour;
use crate::check::finding::Finding;
use crate::check::report::CheckReport;

/// The other build, loaded. Its bytes differ from the bytes of the checked component.
pub(super) struct OtherBuild(Arc<Plugin>);

pub(super) fn load(
    hosts: &HostVariants<'_>,
    plugin: &Plugin,
    rebuilt: &RebuiltComponent,
    report: &mut CheckReport,
) -> Option<OtherBuild> {
    if Hash::of(&[&rebuilt.bytes]) == plugin.digest {
        // Components with equal bytes behave the same, so there is nothing to compare.
        return None;
    }
    hosts.announce_compilation(hosts.engine, &rebuilt.bytes, "as another build made it");
    let loaded = tokio::task::block_in_place(|| hosts.engine.load(&rebuilt.bytes, hosts.settings.clone()));
    let finding = |message: String| Finding::new("D065", hosts.file, message);
    let other = match loaded {
        Ok(other) => other,
        Err(error) => {
            report.add([finding(format!("another build of the same sources cannot be loaded: {error}"))]);
            return None;
        }
    };
    let json = |plugin: &Plugin| serde_json::to_string(&plugin.manifest).expect("a manifest is JSON");
    if let Some(first) = differences(&json(plugin), &json(&other)).into_iter().next() {
        let message = format!("another build of the same sources has a different manifest: {}", first.at);
        report.add([finding(message).values(&first.recorded, &first.found)]);
        return None;
    }
    Some(OtherBuild(other))
}

pub(super) async fn compare(runs: &mut PerturbedRuns<'_>, other: &OtherBuild) -> Option<Finding> {
    let script = runs.script();
    let trace = runs.run(&script, &other.0).await?;
    let parting = compare_behaviour(&runs.ran.base, &trace)?;
    if let Some(finding) = address::moved_hex(runs.ran, "in another build of the same sources", &parting) {
        return Some(finding.functions(trace.functions));
    }
    let message = format!(
        "another build of the same sources behaves differently with the same clock and random numbers: {} differs",
        parting.what
    );
    let finding = runs.ran.finding("D065", message).values(&parting.expected, &parting.found);
    let hint = "find what is read while it is built (a seed, the time, the order of a set) and read it while it runs";
    Some(finding.functions(trace.functions).hint(hint))
}
