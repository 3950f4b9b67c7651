//! Table of the limits of plugins.

use serde_json::json;

use latchwork_core::model::bounds::{BOUNDS, Bound};

use crate::context::CommandContext;
use crate::text::table;

/// Prints every limit with its value, its unit and its setting.
pub(crate) fn print(ctx: &CommandContext<'_>) {
    let setting = |bound: &Bound| bound.setting.unwrap_or("fixed").to_owned();
    let row = |bound: &Bound| {
        [
            bound.name.to_owned(),
            format!("{} {}", bound.value, bound.unit),
            setting(bound),
            bound.bounds.trim().to_owned(),
        ]
    };
    let rows: Vec<[String; 4]> = BOUNDS.iter().map(row).collect();
    ctx.answer(&json!({ "limits": BOUNDS }), || table(["limit", "value", "setting", "bounds"], &rows));
}
