//! Reserves a mobile crane at the hire company. The company files each hire under the reference of the customer.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, config, http, secrets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Job {
    /// Class of the crane by its lifting capacity in tonnes.
    #[schemars(range(min = 10, max = 500))]
    tonnes: u32,
    /// First day, such as `2026-04-20`.
    #[schemars(regex(pattern = r"^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"))]
    from: String,
    #[schemars(range(min = 1, max = 60))]
    days: u32,
    #[schemars(length(min = 1, max = 200))]
    site: String,
}

#[derive(Serialize, JsonSchema)]
struct Reserved {
    hire: String,
    from: String,
    days: u32,
}

/// A hire as the company shows it: `requested`, `confirmed`, `on site`, `withdrawn`.
#[derive(Deserialize)]
struct Hire {
    id: String,
    state: String,
}

fn hires() -> Result<String, Error> {
    Ok(format!("{}/hires", config::require::<String>("base_url")?.trim_end_matches('/')))
}

fn signed(request: http::Request) -> Result<http::Request, Error> {
    let token = format!("Bearer {}", secrets::get("HIRE_TOKEN")?);
    Ok(request.header("authorization", &token).header("accept", "application/json").timeout(Duration::from_secs(10)))
}

/// Returns the hires under a reference. A withdrawn hire binds no party and is left out.
fn filed(reference: &str) -> Result<Option<Hire>, Error> {
    let answer = signed(http::Request::get(&format!("{}?reference={reference}", hires()?)))?.send()?;
    if answer.status() != 200 {
        return Err(Error::temporary_provider_error(format!("the list of hires has status {}", answer.status())));
    }
    let hires: Vec<Hire> = serde_json::from_slice(answer.body())
        .map_err(|error| Error::schema_validation_failed(format!("the list of hires: {error}")))?;
    Ok(hires.into_iter().find(|hire| hire.state != "withdrawn"))
}

fn reserved(job: &Job, hire: Hire) -> Output<Reserved> {
    let change = Change::new("hire", hire.id.as_str(), "create");
    Output::new(Reserved { hire: hire.id, from: job.from.clone(), days: job.days }).change(change)
}

fn reserve(job: Job, context: &tool::Context) -> Result<Output<Reserved>, Error> {
    let key = context.external_key();
    let order = json!({ "reference": key, "tonnes": job.tonnes, "from": job.from, "days": job.days, "site": job.site });
    let request = signed(http::Request::post(&hires()?))?.header("content-type", "application/json");
    let answer = request.body(order.to_string()).send()?;
    match answer.status() {
        200 | 201 => {
            let hire = serde_json::from_slice(answer.body())
                .map_err(|error| Error::schema_validation_failed(format!("the new hire: {error}")).applied_unknown())?;
            Ok(reserved(&job, hire))
        }
        // No crane of the class is free, or the reference is filed already.
        409 | 412 => match filed(key).map_err(Error::applied_unknown)? {
            Some(hire) => Ok(reserved(&job, hire)),
            None => Err(Error::policy_denied(format!("no crane for {} t on {}", job.tonnes, job.from))),
        },
        429 => Err(Error::rate_limit("the hire company asks for fewer requests")),
        401 | 403 => Err(Error::auth_forbidden("the hire company refused the token")),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => {
            Err(Error::invalid_input(format!("the hire company refused the order: {}", answer.status())))
        }
        status => Err(Error::temporary_provider_error(format!("the order has status {status}")).applied_unknown()),
    }
}

fn reconcile(job: Job, key: &str) -> Result<Verdict<Output<Reserved>>, Error> {
    Ok(match filed(key)? {
        Some(hire) => Verdict::Happened(reserved(&job, hire)),
        None => Verdict::DidNotHappen,
    })
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Crane.Reserve", reserve)
            .describe("Reserves a mobile crane for some days.")
            .effects([Effect::ExternalWrite])
            // The company accepts an order within a few seconds, and shows it at once.
            .settles_within(Duration::from_secs(60))
            .reconcile(reconcile),
    ],
    exports: [reconcile],
}
