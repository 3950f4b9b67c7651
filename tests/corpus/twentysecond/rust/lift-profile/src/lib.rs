//! Sets the driving profile of a lift in the control system of a building, and puts the earlier profile back.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error, config, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Order {
    #[schemars(regex(pattern = r"^[a-z0-9][a-z0-9-]{0,29}$"))]
    lift: String,
    #[schemars(range(min = 2, max = 30))]
    door_seconds: u32,
    /// Floor at which the lift waits at night.
    #[schemars(range(min = -5, max = 60))]
    night_floor: i32,
    quiet: bool,
}

/// A profile in the control system.
#[derive(Clone, Serialize, Deserialize, JsonSchema, PartialEq)]
struct Profile {
    door_seconds: u32,
    night_floor: i32,
    quiet: bool,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Set {
    etag: String,
    /// The profile that was replaced.
    earlier: Profile,
}

fn address(lift: &str) -> Result<String, Error> {
    Ok(format!("{}/lifts/{lift}/profile", config::require::<String>("base_url")?.trim_end_matches('/')))
}

/// Reads a profile with its entity tag. `None`: the control system has no such lift.
fn read(lift: &str) -> Result<Option<(Profile, String)>, Error> {
    let answer = http::Request::get(&address(lift)?).timeout(Duration::from_secs(5)).send()?;
    match (answer.status(), answer.header("etag")) {
        (404, _) => Ok(None),
        (200, Some(etag)) => match serde_json::from_slice(answer.body()) {
            Ok(profile) => Ok(Some((profile, etag.to_owned()))),
            Err(error) => Err(Error::schema_validation_failed(format!("the profile of {lift}: {error}"))),
        },
        (status, _) => Err(Error::temporary_provider_error(format!("the profile of {lift} has status {status}"))),
    }
}

/// Replaces the profile if it still has this entity tag. Returns the new tag.
fn write(lift: &str, profile: &Profile, etag: &str) -> Result<String, Error> {
    let body = serde_json::to_vec(profile).map_err(|error| Error::invalid_input(error.to_string()))?;
    let request = http::Request::new("PUT", &address(lift)?).header("content-type", "application/json");
    let answer = request.header("if-match", etag).timeout(Duration::from_secs(5)).body(body).send()?;
    match answer.status() {
        200 | 204 => answer
            .header("etag")
            .map(str::to_owned)
            .ok_or_else(|| Error::schema_validation_failed("the control system named no entity tag").applied_unknown()),
        409 | 412 => match read(lift).map_err(Error::applied_unknown)? {
            Some((found, _)) if found == *profile => {
                Err(Error::policy_denied(format!("{lift} was set to this profile meanwhile")).applied_unknown())
            }
            _ => Err(Error::policy_denied(format!("the profile of {lift} has been changed since"))),
        },
        429 => Err(Error::rate_limit("the control system is busy")),
        401 | 403 => Err(Error::auth_forbidden("the control system refused the change")),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => {
            Err(Error::invalid_input(format!("{lift} does not take the profile: {}", answer.status())))
        }
        status => Err(Error::temporary_provider_error(format!("{lift} answered {status}")).applied_unknown()),
    }
}

fn set(order: Order, _: &tool::Context) -> Result<Output<Set>, Error> {
    let Order { lift, door_seconds, night_floor, quiet } = order;
    let found = read(&lift).map_err(Error::not_applied)?;
    let (earlier, etag) = found.ok_or_else(|| Error::invalid_input(format!("there is no lift {lift}")))?;
    let etag = write(&lift, &Profile { door_seconds, night_floor, quiet }, &etag)?;
    let change = Change::new("lift-profile", lift, "update").etag(etag.as_str());
    Ok(Output::new(Set { etag, earlier }).change(change))
}

fn verify(change: &Change) -> Result<Finding, Error> {
    Ok(match read(&change.resource_id)? {
        Some((_, etag)) => Finding::compare(change.etag.as_deref(), &etag),
        None => Finding::Mismatch("the lift is not in the control system".into()),
    })
}

/// Puts the earlier profile back, unless the profile was changed after the call.
fn put_back(order: Order, set: Set, _key: &str) -> Result<Output<()>, Error> {
    let etag = write(&order.lift, &set.earlier, &set.etag)?;
    Ok(Output::new(()).change(Change::new("lift-profile", order.lift, "update").etag(etag)))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Lift.SetProfile", set)
            .describe("Sets the driving profile of a lift.")
            .effects([Effect::ExternalWrite])
            .verify(verify)
            .compensate(put_back),
    ],
    exports: [verify, compensate],
}
