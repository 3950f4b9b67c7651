//! The inspection result as text for people.

use latchwork_core::model::manifest::{OperatorSpec, PluginKind};
use latchwork_engine::Plugin;
use latchwork_tooling::inspect::{FileKind, Reachability};
use latchwork_tooling::units::size;

use crate::commands::plugin::inspect::inspection::Inspection;
use crate::commands::plugin::inspect::reach;
use crate::display::enum_name::enum_name;
use crate::text::{Text, Tone};

impl Inspection<'_> {
    pub(super) fn lines(&self) -> Vec<Text> {
        let title = |text: &str| Tone::Title.of(text);
        let verdict = self
            .anatomy
            .fitting_world()
            .map_or("neither step nor tool".to_owned(), |kind| format!("a {}", enum_name(&kind)));
        let verdict = if self.anatomy.is_untyped() { format!("{verdict} (plain component)") } else { verdict };
        let mut lines = vec![
            title(&self.file.display().to_string()) + format!(" {verdict}, {}", size(self.bytes)),
            Text::from(format!("sha256:{}", self.digest)),
        ];
        if *self.anatomy.file_kind() != FileKind::Component {
            lines.push(format!("it is {}", self.anatomy.file_kind()).into());
        }
        self.toolchain(&mut lines);
        self.loading(&mut lines);
        let section = |lines: &mut Vec<Text>, name: &str, of: Vec<String>| {
            if !of.is_empty() {
                lines.push(title(name));
                lines.extend(of.into_iter().map(|line| Text::from(format!("  {line}"))));
            }
        };
        let features = self.anatomy.features().iter().map(|used| {
            let place = used.function.as_ref().map(|name| format!(", in {name}")).unwrap_or_default();
            format!("{} ({}): {}{place}", used.feature.name, used.feature.why, used.found)
        });
        section(&mut lines, "forbidden WebAssembly", features.collect());
        if *self.anatomy.file_kind() == FileKind::Component {
            let name = format!("difference to a {}", enum_name(&self.anatomy.nearest_world()));
            section(&mut lines, &name, self.differences());
        }
        section(&mut lines, "what to do", self.hints());
        section(&mut lines, "imports", self.import_lines());
        if let Some((imports, exports)) = self.anatomy.core_module() {
            section(&mut lines, "imports", imports.to_vec());
            section(&mut lines, "exports", exports.to_vec());
        }
        section(&mut lines, "what each grant would open", self.grant_lines());
        if let Some(plugin) = self.plugin() {
            lines.push(title("operators"));
            for spec in &plugin.manifest.operators {
                lines.extend(operator_lines(plugin, spec).map(Text::from));
            }
            let exports =
                [("reconcile", plugin.reconcile), ("verify", plugin.verify), ("compensate", plugin.compensate)];
            let there: Vec<_> = exports.iter().filter(|(_, there)| *there).map(|(name, _)| *name).collect();
            if plugin.kind == PluginKind::Tool {
                let described = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
                lines.push(title("accounts for its effects by") + format!(": {described}"));
                lines.push(title("on resume its effects are confirmed by") + format!(": {}", self.confirmed));
            }
        }
        let (may, may_not) = self.reachable();
        section(&mut lines, "may reach", may);
        section(&mut lines, "may not reach", may_not);
        if let Some(access) = self.without_approval() {
            lines.push(title("may do without an approval") + format!(": {access}"));
        }
        lines
    }

    fn toolchain(&self, lines: &mut Vec<Text>) {
        if !matches!(self.anatomy.file_kind(), FileKind::Component | FileKind::CoreModule) {
            return;
        }
        let toolchain = self.anatomy.toolchain();
        let tools = toolchain.tools();
        let tools = if tools.is_empty() { tools } else { format!(", with {tools}") };
        lines.push(format!("made from {}{tools}", toolchain.language.name()).into());
        if !toolchain.has_names {
            lines.push("its functions have no names (stripped), so paths show numbers".into());
        }
    }

    fn loading(&self, lines: &mut Vec<Text>) {
        match &self.loaded {
            Some(Ok(plugin)) => {
                lines.push(Tone::Good.of("accepted:") + format!(" version {}", plugin.manifest.version));
            }
            Some(Err(error)) => {
                lines.push(Tone::Bad.of("refused:"));
                lines.extend(
                    error.problems.iter().map(|problem| Text::from(format!("  {problem} [{}]", problem.page()))),
                );
            }
            None if self.anatomy.fitting_world().is_none() => lines.push(Tone::Bad.of("refused")),
            None => lines.push("not run: its operators are not known".into()),
        }
        let needs = self.needs();
        match self.configured {
            Some(entry) => lines.push(format!("judged as plugin {:?} of latch.toml", entry.name).into()),
            None if needs.is_empty() => {}
            None => lines.push(format!("needs in its [[plugin]]: {}", needs.join(", ")).into()),
        }
    }

    fn differences(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for it in &self.difference {
            lines.push(it.to_string());
            lines.extend(self.reach_of(it).map(|reach| format!("  {reach}")));
            if let (Some(expected), Some(found), false) = (&it.expected, &it.found, it.mismatches.is_empty()) {
                lines.push(format!("  expected {expected}"));
                lines.push(format!("  found    {found}"));
            } else if let Some(expected) = &it.expected {
                lines.push(format!("  expected {expected}"));
            }
        }
        lines
    }

    fn import_lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for class in reach::classes() {
            let of: Vec<_> = self.imports.iter().filter(|(item, _)| reach::class(&item.name) == class).collect();
            if of.is_empty() {
                continue;
            }
            let name = |(item, reach): &&(latchwork_tooling::inspect::ExternItem, Reachability)| match reach {
                Reachability::Never if !item.functions.is_empty() => format!("{} (no code calls it)", item.name),
                _ => item.name.clone(),
            };
            lines.push(format!("{class}: {}", of.iter().map(name).collect::<Vec<_>>().join(", ")));
        }
        lines
    }

    fn grant_lines(&self) -> Vec<String> {
        let line = |it: reach::GrantMatch<'_>| {
            let given = if it.granted { "granted" } else { "not granted" };
            match (it.serves.is_empty(), it.used) {
                (true, _) => format!("{} ({given}): nothing, it imports none of what it serves", it.key),
                (false, false) => format!("{} ({given}): nothing, no code calls {}", it.key, it.serves.join(", ")),
                (false, true) => format!("{} ({given}): {}, through {}", it.key, it.opens, it.serves.join(", ")),
            }
        };
        self.grants().into_iter().map(line).collect()
    }
}

/// Joins the lines of a text from a plugin, so that the plugin cannot add lines to the output.
fn one_line(text: &str) -> String {
    text.split(['\n', '\r']).map(str::trim).collect::<Vec<_>>().join(" ").trim_end().to_owned()
}

fn operator_lines(plugin: &Plugin, spec: &OperatorSpec) -> [String; 5] {
    let effects: Vec<_> = spec.effects.iter().map(|effect| effect.as_str()).collect();
    let mut facts = vec![effects.join(" + "), enum_name(&spec.determinism)];
    if spec.is_world_changing() {
        facts.push(format!("{} when in doubt", enum_name(&plugin.class(spec.name.as_str()))));
    }
    if let Some(outcome) = &spec.outcome_type {
        facts.push(format!("makes {outcome}"));
    }
    let limits = plugin.limits(spec.name.as_str());
    [
        format!("  {}: {}", spec.name, one_line(&spec.description)),
        format!("    {}", facts.join("; ")),
        format!(
            "    limits: {} MiB, {} fuel, {} ms, {} KiB out, {} host calls",
            limits.memory_bytes >> 20,
            limits.fuel,
            limits.timeout_ms,
            limits.output_bytes >> 10,
            limits.host_calls
        ),
        format!("    takes {}", one_line(&spec.input_schema)),
        format!("    gives {}", one_line(&spec.output_schema)),
    ]
}
