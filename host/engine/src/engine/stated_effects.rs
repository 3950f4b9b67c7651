//! Effects that `latch.toml` states for the operators of a component that describes itself.
//!
//! The administrator may add effects. Added effects require gates, barriers and declarations in plans. Effects that the
//! component describes cannot be removed.

use std::collections::BTreeSet;

use latchwork_core::encoding::suggest::did_you_mean;
use latchwork_core::model::manifest::{Determinism, EffectKind, Manifest, OperatorSpec};

use crate::capability::settings::{ManifestSource, OperatorOverride, OperatorSettings, PluginSettings};
use crate::interfaces::PluginProblem;

/// Applies the stated effects to the operators of the manifest.
pub(crate) fn apply(manifest: &mut Manifest, settings: &PluginSettings) -> Result<(), Vec<PluginProblem>> {
    let ManifestSource::Overrides(stated) = &settings.operators else { return Ok(()) };
    let mut problems = Vec::new();
    for (key, statement) in stated {
        if let Err(wrong) = apply_one(manifest, key, statement) {
            problems.push(PluginProblem::InvalidOverride { key: key.clone(), wrong });
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn apply_one(manifest: &mut Manifest, key: &str, statement: &OperatorOverride) -> Result<(), String> {
    let Some(spec) = manifest.operators.iter_mut().find(|spec| spec.name.as_str() == key) else {
        let names: BTreeSet<_> = manifest.operators.iter().map(|spec| spec.name.as_str()).collect();
        let meant = did_you_mean(key, names.iter().copied());
        let names: Vec<_> = names.into_iter().collect();
        return Err(format!("is no operator of the component{meant}; its operators are {}", names.join(", ")));
    };
    let OperatorOverride::Stated(OperatorSettings {
        effects: Some(effects),
        name: None,
        description: None,
        determinism: None,
        outcome_type: None,
        outcome_status: None,
    }) = statement
    else {
        return Err("is described by the component itself; only `effects` can be stated for it".to_owned());
    };
    let missing: Vec<_> = spec.effects.iter().filter(|effect| !effects.contains(effect)).map(|e| e.as_str()).collect();
    if !missing.is_empty() {
        let all: Vec<_> = spec.effects.iter().chain(effects).map(|effect| format!("{:?}", effect.as_str())).collect();
        return Err(format!(
            "has the effect {}, by the component's own description; state it too: effects = [{}]",
            missing.join(", "),
            all.join(", ")
        ));
    }
    widen(spec, effects);
    Ok(())
}

fn widen(spec: &mut OperatorSpec, effects: &[EffectKind]) {
    let changed = spec.is_world_changing();
    spec.effects = effects.to_vec();
    // An operator that changes the world is neither pure nor a model.
    if spec.is_world_changing() && !changed {
        spec.determinism = Determinism::External;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use latchwork_core::model::ids::Operator;

    use super::*;
    use crate::capability::grants::Grants;
    use crate::capability::settings::settings_with;

    fn manifest(effects: &[EffectKind], determinism: Determinism) -> Manifest {
        let spec = OperatorSpec {
            name: Operator::new("A.Do"),
            description: String::new(),
            input_schema: "true".into(),
            output_schema: "true".into(),
            effects: effects.to_vec(),
            determinism,
            outcome_type: None,
            outcome_status: None,
            resolution: Default::default(),
            limits: Default::default(),
        };
        Manifest { version: "1.0.0".into(), operators: vec![spec] }
    }

    fn stated(key: &str, statement: OperatorOverride) -> PluginSettings {
        let operators = ManifestSource::Overrides(BTreeMap::from([(key.to_owned(), statement)]));
        PluginSettings { operators, ..settings_with(Grants::default()) }
    }

    fn effects(effects: &[EffectKind]) -> OperatorOverride {
        OperatorOverride::Stated(OperatorSettings { effects: Some(effects.to_vec()), ..OperatorSettings::default() })
    }

    /// I202. Effects are added and never removed.
    #[test]
    fn stated_effects_are_added_to_the_described_effects() {
        use EffectKind::{ExternalSend, InternalWrite, ProduceOutcome, ReadOnly};
        let mut model = manifest(&[ProduceOutcome], Determinism::Stable);
        apply(&mut model, &stated("A.Do", effects(&[ProduceOutcome, ExternalSend]))).unwrap();
        let spec = &model.operators[0];
        assert_eq!((&spec.effects[..], spec.determinism), (&[ProduceOutcome, ExternalSend][..], Determinism::External));
        let mut keeps = manifest(&[InternalWrite], Determinism::External);
        apply(&mut keeps, &stated("A.Do", effects(&[InternalWrite, ReadOnly]))).unwrap();
        assert_eq!(keeps.operators[0].effects, [InternalWrite, ReadOnly]);

        let refused = |settings: PluginSettings| {
            let mut manifest = manifest(&[InternalWrite], Determinism::External);
            let problems = apply(&mut manifest, &settings).unwrap_err();
            assert_eq!(manifest.operators[0].effects, [InternalWrite]);
            problems.iter().map(ToString::to_string).collect::<String>()
        };
        let fewer = refused(stated("A.Do", effects(&[ReadOnly])));
        assert!(fewer.contains(r#"state it too: effects = ["internal_write", "read_only"]"#), "{fewer}");
        let unknown = refused(stated("A.Doo", effects(&[InternalWrite])));
        assert!(unknown.contains("did you mean") && unknown.contains("A.Do"), "{unknown}");
        let name = OperatorSettings { name: Some(Operator::new("B")), ..OperatorSettings::default() };
        for other in [OperatorOverride::LeftOut, OperatorOverride::Stated(name)] {
            assert!(refused(stated("A.Do", other)).contains("only `effects`"));
        }
    }
}
