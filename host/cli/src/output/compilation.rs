//! Lines about compilations.

use tracing::Level;

use latchwork_engine::CompilationStart;
use latchwork_tooling::units;

use crate::output::stderr::StderrLines;

/// Writes a line about a compilation, which takes seconds for large components.
pub(crate) fn announce_compilation(lines: &StderrLines, compiling: &CompilationStart<'_>) {
    let CompilationStart { plugin, bytes, remaining: left } = compiling;
    let left = if *left == 0 { String::new() } else { format!(", {left} left") };
    let text = format!("compiling {plugin} ({}){left}", units::size(*bytes));
    // A closed stderr must not prevent the compilation.
    let _ = lines.write_text(Level::INFO, None, text.into());
}
