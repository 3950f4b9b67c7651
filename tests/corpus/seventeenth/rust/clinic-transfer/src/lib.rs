//! `Transfer.Arrange`: reserves a bed for a patient in another clinic, and tells the ward by a text message.

use std::time::Duration;

use latchwork_guest::tool::{self, Output};
use latchwork_guest::{Effect, Error, http, log, secrets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const BEDS: &str = "https://beds.region.example/reservations";
const MESSAGES: &str = "https://sms.region.example/messages";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Case number of the patient, without a name.
    case: String,
    clinic: String,
    ward: String,
    /// Telephone of the ward. Without it, there is no page.
    #[serde(default)]
    phone: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Arranged {
    reservation: String,
    /// Number of the text message, if one was sent.
    message: Option<String>,
}

#[derive(Deserialize)]
struct Created {
    id: String,
}

fn arrange(args: Args, context: &tool::Context) -> Result<Output<Arranged>, Error> {
    if args.case.is_empty() || !args.case.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
        return Err(Error::invalid_input("case: letters, digits and hyphens"));
    }
    if let Some(phone) = &args.phone {
        if !phone.starts_with('+') || phone.len() < 8 || !phone[1..].chars().all(|c| c.is_ascii_digit()) {
            return Err(Error::invalid_input("phone: a number such as +4930123456"));
        }
    }
    let key = context.external_key();
    let token = secrets::get("BEDS_TOKEN")?;
    let bed = json!({ "case": args.case, "clinic": args.clinic, "ward": args.ward, "reference": key });
    let response = post(BEDS, &token, &bed)?;
    if !(200..300).contains(&response.status()) {
        return Err(refusal("beds", response.status()));
    }
    let reservation = created("beds", &response)?;
    log::info!("reservation {reservation} is made");
    let message = match &args.phone {
        Some(phone) => Some(tell(phone, &args, &reservation, key)?),
        None => None,
    };
    let receipt = json!({ "reservation": reservation, "message": message });
    Ok(Output::new(Arranged { reservation, message }).receipt(receipt))
}

/// Sends the text message to the ward, after the bed is reserved.
fn tell(phone: &str, args: &Args, reservation: &str, key: &str) -> Result<String, Error> {
    let token = secrets::get("SMS_TOKEN")?;
    let text = format!("Case {} arrives at {}, {}: bed {reservation}", args.case, args.clinic, args.ward);
    let message = json!({ "to": phone, "text": text, "reference": key });
    let response = post(MESSAGES, &token, &message).map_err(Error::applied_unknown)?;
    if !(200..300).contains(&response.status()) {
        return Err(refusal("sms", response.status()).applied_unknown());
    }
    created("sms", &response)
}

fn post(url: &str, token: &str, body: &Value) -> Result<http::Response, Error> {
    let request = http::Request::post(url)
        .header("authorization", &format!("Bearer {token}"))
        .header("content-type", "application/json")
        .timeout(Duration::from_secs(10))
        .body(body.to_string());
    Ok(request.send()?)
}

/// Reads the number of a new entry. The entry exists already.
fn created(server: &str, response: &http::Response) -> Result<String, Error> {
    let entry: Created = serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("{server}: no number: {error}")).applied_unknown())?;
    Ok(entry.id)
}

/// Error for a status that is no success.
fn refusal(server: &str, status: u16) -> Error {
    let said = format!("{server} answered {status}");
    match status {
        401 | 403 => Error::auth_forbidden(said),
        429 => Error::rate_limit(said),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Error::invalid_input(said),
        _ => Error::temporary_provider_error(said),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Transfer.Arrange", arrange)
            .describe("Reserves a bed in another clinic and tells the ward.")
            .effects([Effect::ExternalWrite, Effect::ExternalSend]),
    ],
}
