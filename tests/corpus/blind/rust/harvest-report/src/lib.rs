use latchwork_guest::{Determinism, Error, clock, events, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Harvest {
    fields: Vec<Field>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Field {
    name: String,
    kilos: u32,
    ares: u32,
}

#[derive(Serialize, JsonSchema)]
struct Report {
    kilos: u64,
    best: String,
    poor: Vec<String>,
}

const POOR: u32 = 40;

fn report(harvest: Harvest, _: &step::Context) -> Result<Report, Error> {
    let mut made = Report { kilos: 0, best: String::new(), poor: Vec::new() };
    let mut most = 0;
    for field in harvest.fields {
        if field.ares == 0 {
            return Err(Error::invalid_input(format!("{} has no area", field.name)));
        }
        made.kilos += u64::from(field.kilos);
        let per_are = field.kilos / field.ares;
        if per_are > most {
            most = per_are;
            made.best = field.name.clone();
        }
        if per_are < POOR {
            events::emit("poor-field", &json!({ "field": field.name, "at": clock::now().to_string() }))?;
            made.poor.push(field.name);
        }
    }
    Ok(made)
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("HarvestReport.Make", report)
            .describe("Reports the harvest of a farm.")
            .determinism(Determinism::Pure),
    ],
}
