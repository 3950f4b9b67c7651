//! `Chart.Draw`: writes the chart of an earthquake's trace as an SVG file into a folder that the web server publishes.

use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Trace {
    #[schemars(length(min = 1, max = 12), regex(pattern = "^[A-Z0-9]+$"))]
    station: String,
    /// Ground motion, in micrometres per second.
    #[schemars(length(min = 2, max = 20000))]
    samples: Vec<i32>,
    #[schemars(range(min = 1, max = 500))]
    per_second: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Drawn {
    file: String,
    seconds: usize,
    peak: u32,
}

/// The external key has neither dots nor equals signs, so different keys have different files.
fn file(key: &str) -> String {
    format!("/charts/{}.svg", key.replace(':', ".").replace('/', "="))
}

fn svg(trace: &Trace) -> String {
    let peak = f64::from(peak(trace).max(1));
    let mut path = String::with_capacity(trace.samples.len() * 12);
    for (i, &sample) in trace.samples.iter().enumerate() {
        let y = 100.0 - f64::from(sample) / peak * 95.0;
        path.push_str(&format!("{}{i},{y:.1}", if i == 0 { "M" } else { "L" }));
    }
    let width = trace.samples.len();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} 200\"><title>{}</title>\
         <path fill=\"none\" stroke=\"black\" d=\"{path}\"/></svg>\n",
        trace.station
    )
}

fn peak(trace: &Trace) -> u32 {
    trace.samples.iter().map(|sample| sample.unsigned_abs()).max().unwrap_or(0)
}

fn drawn(trace: &Trace, key: &str) -> Output<Drawn> {
    let file = file(key);
    let seconds = trace.samples.len() / trace.per_second.max(1) as usize;
    let change = Change::new("chart", key, "create").external_ref(file.as_str());
    Output::new(Drawn { file, seconds, peak: peak(trace) }).change(change)
}

fn draw(trace: Trace, context: &tool::Context) -> Result<Output<Drawn>, Error> {
    if !trace.station.chars().all(|c| c.is_ascii_alphanumeric()) {
        return Err(Error::invalid_input("station: letters and digits only"));
    }
    let key = context.external_key();
    fs::create_new(&file(key), svg(&trace).as_bytes())?;
    Ok(drawn(&trace, key))
}

fn reconcile(trace: Trace, key: &str) -> Result<Verdict<Output<Drawn>>, Error> {
    Ok(match fs::exists(&file(key))? {
        true => Verdict::Happened(drawn(&trace, key)),
        false => Verdict::DidNotHappen,
    })
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Chart.Draw", draw)
            .describe("Draws the trace of an earthquake.")
            .effects([Effect::InternalWrite])
            .reconcile(reconcile),
    ],
    exports: [reconcile],
}
