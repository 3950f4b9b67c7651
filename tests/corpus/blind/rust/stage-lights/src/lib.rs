use latchwork_guest::{Determinism, Error, clock, events, log, rng, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Show {
    title: String,
    lamps: Vec<String>,
    #[schemars(range(min = 1, max = 100))]
    cues: u32,
}

#[derive(Serialize, JsonSchema)]
struct Score {
    id: String,
    made: String,
    cues: Vec<Cue>,
}

#[derive(Serialize, JsonSchema)]
struct Cue {
    lamp: String,
    percent: u32,
}

fn light(show: Show, context: &step::Context) -> Result<Score, Error> {
    let lamps = u32::try_from(show.lamps.len()).map_err(|_| Error::invalid_input("too many lamps"))?;
    if lamps == 0 || show.cues == 0 || show.cues > 100 {
        return Err(Error::invalid_input("a show has lamps and 1 to 100 cues"));
    }
    let cues: Vec<Cue> = (0..show.cues)
        .map(|_| Cue { lamp: show.lamps[rng::below(lamps) as usize].clone(), percent: 20 + rng::below(81) })
        .collect();
    let made = clock::now().to_string();
    log::info!("{} for {}", show.title, context.actor());
    events::emit("show-lit", &json!({ "title": show.title, "made": made, "cues": cues.len() }))?;
    Ok(Score { id: rng::uuid(), made, cues })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("StageLights.Compose", light)
            .describe("Composes the light of a show by chance.")
            .determinism(Determinism::Stable),
    ],
}
