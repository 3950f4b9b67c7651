//! Returns the height of a summit, from a survey server or from the answers of the last week.

use latchwork_guest::tool::{self, Output};
use latchwork_guest::{Error, http, kv, log, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const SUMMITS: &str = "https://survey.example/summits";

/// An answer is used again for one week.
const FRESH_SECONDS: i64 = 7 * 86_400;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Question {
    /// Id of the summit at the survey, such as `gb-1042`.
    summit: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Summit {
    name: String,
    /// Height above the datum in centimetres.
    height_cm: u32,
    datum: String,
}

/// Entry of the map.
#[derive(Serialize, Deserialize)]
struct Stored {
    read_at: i64,
    summit: Summit,
}

/// Returns the stored answer if it is not older than a week.
fn stored(key: &str, now: i64) -> Result<Option<Summit>, Error> {
    let Some(bytes) = kv::get(key)? else { return Ok(None) };
    // An entry that an earlier version wrote in another form counts as missing.
    let entry = serde_json::from_slice::<Stored>(&bytes).ok();
    Ok(entry.filter(|entry| (0..FRESH_SECONDS).contains(&(now - entry.read_at))).map(|entry| entry.summit))
}

fn store(key: &str, now: i64, summit: Summit) -> Summit {
    let entry = Stored { read_at: now, summit };
    // A lookup does not fail because its answer could not be stored.
    if let Ok(bytes) = serde_json::to_vec(&entry)
        && let Err(error) = kv::set(key, &bytes)
    {
        log::warn!("{key} was not stored: {error}");
    }
    entry.summit
}

fn ask(id: &str, context: &tool::Context) -> Result<Summit, Error> {
    let url = format!("{SUMMITS}/{id}");
    let response =
        http::Request::get(&url).header("accept", "application/json").timeout(context.timeout().mul_f32(0.8)).send()?;
    let text = format!("{url} answered {}", response.status());
    match response.status() {
        200 => serde_json::from_slice(response.body())
            .map_err(|error| Error::schema_validation_failed(format!("{url}: {error}")).not_applied()),
        404 | 410 => Err(Error::invalid_input(text)),
        401 | 403 => Err(Error::auth_forbidden(text)),
        429 => Err(Error::rate_limit(text)),
        _ => Err(Error::temporary_provider_error(text).not_applied()),
    }
}

fn height(question: Question, context: &tool::Context) -> Result<Output<Summit>, Error> {
    let id = question.summit;
    if id.is_empty() || id.len() > 24 || !id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
        return Err(Error::invalid_input(format!("{id:?} is no id of a summit")));
    }
    let key = format!("summit:{id}");
    let now = wall::now().seconds;
    let summit = match stored(&key, now)? {
        Some(summit) => summit,
        None => store(&key, now, ask(&id, context)?),
    };
    Ok(Output::new(summit))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Summit.Height", height).describe("Returns the surveyed height of a summit."),
    ],
}
