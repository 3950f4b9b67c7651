//! `Marquee.Rent`: rents a marquee at the office of a rental company, and pays its deposit.

use latchwork_guest::tool::{Change, Output};
use latchwork_guest::{Effect, Error, config, http, log, secrets, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Rent {
    /// Place where the marquee is put up.
    site: String,
    /// First day of the rental, such as `2026-07-04`.
    day: String,
    /// Deposit in cents.
    deposit_cents: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Rented {
    /// Number of the rental at the company.
    rental: u64,
}

#[derive(Deserialize)]
struct Opened {
    rental: u64,
}

/// Address and credentials of the company.
struct Office {
    base: String,
    token: String,
}

impl Office {
    fn open() -> Result<Self, Error> {
        let base: String = config::require("base_url")?;
        let token = secrets::get("MARQUEE_TOKEN")?;
        Ok(Self { base, token })
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Result<http::Response, http::Error> {
        let request = http::Request::new(method, &format!("{}{path}", self.base.trim_end_matches('/')))
            .header("authorization", &format!("Bearer {}", self.token));
        match body {
            Value::Null => request.send(),
            body => request.header("content-type", "application/json").body(body.to_string()).send(),
        }
    }
}

fn rent(args: Rent, context: &tool::Context) -> Result<Output<Rented>, Error> {
    if args.site.trim().is_empty() || args.day.len() != 10 {
        return Err(Error::invalid_input("name a site, and a day such as 2026-07-04"));
    }
    if args.deposit_cents == 0 {
        return Err(Error::invalid_input("deposit_cents: at least 1"));
    }
    let office = Office::open()?;
    let order = json!({ "site": args.site, "day": args.day, "reference": context.external_key() });
    let answer = office.send("POST", "/rentals", &order)?;
    if !accepted(&answer) {
        return Err(refusal("renting", &answer));
    }
    let opened: Opened = serde_json::from_slice(answer.body())
        .map_err(|error| Error::schema_validation_failed(format!("the rental has no number: {error}")))?;

    let path = format!("/rentals/{}", opened.rental);
    let deposit = json!({ "cents": args.deposit_cents });
    let failure = match office.send("POST", &format!("{path}/deposit"), &deposit) {
        Ok(answer) if accepted(&answer) => {
            let change = Change::new("rental", opened.rental.to_string(), "create");
            return Ok(Output::new(Rented { rental: opened.rental }).change(change));
        }
        Ok(answer) => refusal("paying the deposit", &answer),
        Err(error) => error.into(),
    };
    // The company cancels a rental together with its deposit.
    if office.send("DELETE", &path, &Value::Null).is_ok() {
        log::info!("rental {} is cancelled", opened.rental);
        return Err(failure.not_applied());
    }
    Err(failure.context(format!("rental {} is still open", opened.rental)).applied_unknown())
}

fn accepted(answer: &http::Response) -> bool {
    (200..300).contains(&answer.status())
}

/// Returns the failure for an answer of the company.
fn refusal(doing: &str, answer: &http::Response) -> Error {
    let said = format!("{doing}: the company answered {}", answer.status());
    match answer.status() {
        401 | 403 => Error::auth_forbidden(said),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Error::invalid_input(said),
        429 => Error::rate_limit(said),
        _ => Error::temporary_provider_error(said),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Marquee.Rent", rent)
            .describe("Rents a marquee and pays its deposit.")
            .effects([Effect::ExternalWrite]),
    ],
}
