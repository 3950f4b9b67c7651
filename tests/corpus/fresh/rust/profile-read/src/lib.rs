use std::time::Duration;

use latchwork_guest::serde_json::{Value, from_slice};
use latchwork_guest::tool::{self, Output};
use latchwork_guest::{Error, http, log, secrets, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct User {
    /// Letters and digits.
    login: String,
}

#[derive(Serialize, JsonSchema)]
struct Profile {
    found: bool,
    name: Option<String>,
}

fn read(user: User, context: &tool::Context) -> Result<Output<Profile>, Error> {
    if user.login.is_empty() || !user.login.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(Error::invalid_input("login: letters and digits only"));
    }
    let begun = wall::now();
    let response = http::Request::get(&format!("https://people.example/users/{}", user.login))
        .header("authorization", &format!("Bearer {}", secrets::get("PEOPLE_TOKEN")?))
        .timeout(context.timeout().min(Duration::from_secs(10)))
        .send()?;
    log::debug!("asked at {begun}, answered at {}", wall::now());
    match response.status() {
        200 => {}
        404 => return Ok(Output::new(Profile { found: false, name: None })),
        401 | 403 => return Err(Error::auth_forbidden("the token was refused")),
        429 => return Err(Error::rate_limit("too many requests").retry_after(Duration::from_secs(30))),
        // A read changes nothing, whatever the server answers.
        status => return Err(Error::temporary_provider_error(format!("status {status}")).not_applied()),
    }
    let body: Value = from_slice(response.body())
        .map_err(|e| Error::schema_validation_failed(format!("the profile: {e}")).not_applied())?;
    Ok(Output::new(Profile { found: true, name: body["name"].as_str().map(str::to_owned) }))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Profile.Read", read).describe("Reads the profile of a person."),
    ],
}
