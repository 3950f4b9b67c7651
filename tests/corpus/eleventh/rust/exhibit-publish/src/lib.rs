use std::time::Duration;

use latchwork_guest::tool::{self, Output};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Exhibit {
    slug: String,
    title: String,
    text: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Published {
    page: String,
    announced: bool,
}

/// Returns the failure for a status that is not 2xx.
fn accepted(response: http::Response) -> Result<http::Response, Error> {
    let status = response.status();
    match status {
        200..=299 => Ok(response),
        401 | 403 => Err(Error::auth_forbidden(format!("the museum site answered {status}"))),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Err(Error::invalid_input(response.text())),
        429 => Err(Error::rate_limit("too many requests").retry_after(Duration::from_secs(30))),
        _ => Err(Error::temporary_provider_error(format!("the museum site answered {status}"))),
    }
}

/// Publishes the page of an exhibit and announces it to the subscribers.
fn publish(exhibit: Exhibit, context: &tool::Context) -> Result<Output<Published>, Error> {
    let slug_is_valid =
        exhibit.slug.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if exhibit.slug.is_empty() || exhibit.slug.len() > 60 || !slug_is_valid {
        return Err(Error::invalid_input("a slug has 1 to 60 of a-z, 0-9 and -"));
    }
    if exhibit.title.trim().is_empty() {
        return Err(Error::invalid_input("the title is empty"));
    }

    let page = format!("https://museum.example/exhibits/{}", exhibit.slug);
    let content = json!({ "title": exhibit.title, "text": exhibit.text });
    let request = http::Request::new("PUT", &page).header("content-type", "application/json").body(content.to_string());
    accepted(request.send()?)?;

    let notice = json!({ "subject": exhibit.title, "link": page, "reference": context.external_key() });
    let request = http::Request::post("https://museum.example/announcements")
        .header("content-type", "application/json")
        .body(notice.to_string());
    accepted(request.send()?)?;
    Ok(Output::new(Published { page, announced: true }))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("ExhibitPublish.Announce", publish)
            .describe("Publishes the page of an exhibit and announces it.")
            .effects([Effect::ExternalWrite, Effect::ExternalSend]),
    ],
}
