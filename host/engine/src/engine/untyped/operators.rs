//! Derives the manifest of an untyped component from its exports, its imports, and its settings in `latch.toml`.

use std::collections::{BTreeMap, BTreeSet};

use latchwork_core::encoding::suggest::did_you_mean;
use latchwork_core::model::ids::Operator;
use latchwork_core::model::manifest::{Determinism, EffectKind, OperatorSpec};

use crate::capability::grants::{Grants, HttpGrant};
use crate::capability::settings::{OperatorOverride, OperatorSettings};
use crate::engine::PluginProblem;
use crate::engine::untyped::seal::{DerivedManifest, SealedOperator};
use crate::engine::untyped::ty::FunctionSignature;
use crate::engine::untyped::{ExportName, ExportedFunction};

/// Inputs for the derivation of a manifest, apart from the exports.
pub(super) struct ManifestInputs<'a> {
    /// The plugin's name. Operators of functions outside interfaces are named `plugin.function`.
    pub(super) plugin: &'a str,
    pub(super) grants: &'a Grants,
    /// First import that contains more than types. `None`: the component cannot read anything outside itself.
    pub(super) first_import: Option<&'a str>,
    pub(super) stated: &'a BTreeMap<String, OperatorOverride>,
}

impl ManifestInputs<'_> {
    pub(super) fn derive_manifest(&self, found: &[ExportedFunction]) -> Result<DerivedManifest, Vec<PluginProblem>> {
        let mut problems = Vec::new();
        let stated = self.assign_overrides(found, &mut problems);
        let mut operators = Vec::new();
        for ((export, signature), statement) in found.iter().zip(stated) {
            let settings = match statement {
                Some((_, OperatorOverride::LeftOut)) => continue,
                Some((key, OperatorOverride::Stated(words))) => Some((key, words)),
                None => None,
            };
            match signature {
                Err(reasons) => problems.push(PluginProblem::UnsuitableFunction {
                    export: export.to_string(),
                    operator: self.name(export),
                    wrong: reasons.join("; "),
                }),
                Ok(signature) => {
                    problems.extend(self.check_pure(settings));
                    let spec = self.spec(export, signature, settings.map(|(_, words)| words));
                    operators.push(SealedOperator { export: export.clone(), spec });
                }
            }
        }
        problems.extend(name_problems(&operators));
        if operators.is_empty() && problems.is_empty() {
            problems.push(PluginProblem::InvalidOverride {
                key: "operators".into(),
                wrong: "excludes every function".into(),
            });
        }
        if problems.is_empty() {
            Ok(DerivedManifest { version: package_version(found), operators })
        } else {
            Err(problems)
        }
    }

    /// Default name of an operator: `interface.function` or `plugin.function`.
    fn name(&self, export: &ExportName) -> String {
        let whole = export.interface.as_deref().unwrap_or(self.plugin);
        format!("{}.{}", bare_interface_name(whole), export.function)
    }

    /// Determines which key of `operators` in `latch.toml` applies to each export. If several keys match, the first of
    /// the following applies: the export's own path, its default operator name, its interface.
    fn assign_overrides<'s>(
        &'s self,
        found: &[ExportedFunction],
        problems: &mut Vec<PluginProblem>,
    ) -> Vec<Option<(&'s str, &'s OperatorOverride)>> {
        let mut stated = vec![None; found.len()];
        let interface = |export: &ExportName, key: &str| {
            export.interface.as_deref().is_some_and(|whole| whole == key || bare_interface_name(whole) == key)
        };
        for (key, statement) in self.stated {
            let by = |matches: &dyn Fn(&ExportName) -> bool| -> Vec<usize> {
                (0..found.len()).filter(|index| matches(&found[*index].0)).collect()
            };
            let meant = [
                (0, by(&|export| export.to_string() == *key)),
                (1, by(&|export| self.name(export) == *key)),
                (2, by(&|export| interface(export, key))),
            ];
            let meant = meant.into_iter().find(|(_, exports)| !exports.is_empty());
            let wrong = match (&meant, statement) {
                (None, _) => {
                    let names: BTreeSet<_> = found.iter().map(|(export, _)| self.name(export)).collect();
                    let meant = did_you_mean(key, names.iter().map(String::as_str));
                    Some(format!(
                        "is not a function that the component exports{meant}; its functions are {}",
                        list(&names)
                    ))
                }
                (Some((2, _)), OperatorOverride::Stated(_)) => {
                    Some("is an interface, which can only be excluded with `false`; name its functions".to_owned())
                }
                (Some((1, exports)), _) if exports.len() > 1 => {
                    let paths: Vec<_> =
                        exports.iter().map(|index| format!("{:?}", found[*index].0.to_string())).collect();
                    Some(format!("matches {}; use one of these paths as the key", paths.join(", ")))
                }
                _ => None,
            };
            if let Some(wrong) = wrong {
                problems.push(PluginProblem::InvalidOverride { key: key.clone(), wrong });
                continue;
            }
            for (rank, index) in meant.into_iter().flat_map(|(rank, all)| all.into_iter().map(move |one| (rank, one))) {
                let place: &mut Option<(i32, &str, &OperatorOverride)> = &mut stated[index];
                if place.is_none_or(|(other, _, _)| rank < other) {
                    *place = Some((rank, key, statement));
                }
            }
        }
        stated.into_iter().map(|place| place.map(|(_, key, statement)| (key, statement))).collect()
    }

    /// Reports a function that is declared pure although the component has imports. Through an import, the
    /// function could read a clock or random numbers. Its result would then not depend on its input alone.
    fn check_pure(&self, settings: Option<(&str, &OperatorSettings)>) -> Option<PluginProblem> {
        let (key, words) = settings?;
        let import = self.first_import.filter(|_| words.determinism == Some(Determinism::Pure))?;
        let wrong = format!("is declared pure, but the component imports {import}; declare it external");
        Some(PluginProblem::InvalidOverride { key: key.to_owned(), wrong })
    }

    fn spec(
        &self,
        export: &ExportName,
        signature: &FunctionSignature,
        words: Option<&OperatorSettings>,
    ) -> OperatorSpec {
        let words = words.cloned().unwrap_or_default();
        let effects = words.effects.unwrap_or_else(|| self.effects());
        let changes = effects.iter().any(|effect| effect.is_world_changing());
        let determinism = match self.first_import {
            None if !changes => Determinism::Pure,
            _ => Determinism::External,
        };
        OperatorSpec {
            name: words.name.unwrap_or_else(|| Operator::new(self.name(export))),
            description: words.description.unwrap_or_else(|| format!("{export}: {}", signature.wit())),
            input_schema: signature.input_schema().to_string(),
            output_schema: signature.output_schema().to_string(),
            effects,
            determinism: words.determinism.unwrap_or(determinism),
            outcome_type: words.outcome_type,
            outcome_status: words.outcome_status,
            resolution: Default::default(),
            limits: Default::default(),
        }
    }

    /// Returns the worst effects that the grants allow. An untyped component does not declare its effects, so the worst
    /// must be assumed. If no grant allows a changing method, TCP or writing to a directory, the host prevents every
    /// change. The operator then counts as read-only.
    fn effects(&self) -> Vec<EffectKind> {
        let sends = self.grants.http.iter().any(HttpGrant::may_change) || !self.grants.tcp.is_empty();
        let writes = self.grants.dirs.iter().any(|dir| dir.write);
        match self.first_import {
            Some(_) if sends => vec![EffectKind::ExternalWrite, EffectKind::ExternalSend],
            Some(_) if writes => vec![EffectKind::ExternalWrite],
            _ => vec![EffectKind::ReadOnly],
        }
    }
}

/// Reports operators with invalid names and operators served by two exports.
fn name_problems(operators: &[SealedOperator]) -> Vec<PluginProblem> {
    let mut known: BTreeMap<&str, &ExportName> = BTreeMap::new();
    let mut problems = Vec::new();
    for SealedOperator { export, spec } in operators {
        let name = spec.name.as_str();
        if !Operator::is_valid(name) {
            problems.push(PluginProblem::InvalidOverride {
                key: export.to_string(),
                wrong: format!(
                    "would serve the operator {name:?}, which is not a valid name; set `name` to 1 to 128 visible \
                     ASCII characters other than / : ~ and quotes"
                ),
            });
        }
        if let Some(other) = known.insert(name, export) {
            problems.push(PluginProblem::DuplicateOperatorName {
                operator: name.to_owned(),
                one: other.to_string(),
                other: export.to_string(),
            });
        }
    }
    problems
}

/// Returns the bare name of an interface, for example `math` for `example:calc/math@1.0.0`.
fn bare_interface_name(interface: &str) -> &str {
    let unversioned = interface.split('@').next().unwrap_or(interface);
    unversioned.rsplit('/').next().unwrap_or(unversioned)
}

/// Returns the version of the exported packages, or `0.0.0` if they do not all have the same version.
fn package_version(found: &[ExportedFunction]) -> String {
    let versions: BTreeSet<_> = found
        .iter()
        .filter_map(|(export, _)| export.interface.as_deref()?.split_once('@'))
        .map(|(_, version)| version.to_owned())
        .collect();
    match versions.len() {
        1 => versions.into_iter().next().unwrap_or_default(),
        _ => "0.0.0".to_owned(),
    }
}

fn list(names: &BTreeSet<String>) -> String {
    const SHOWN: usize = 10;
    let displayed: Vec<_> = names.iter().take(SHOWN).map(String::as_str).collect();
    let more = names.len().saturating_sub(SHOWN);
    if more == 0 { displayed.join(", ") } else { format!("{} and {more} more", displayed.join(", ")) }
}
