//! `Banner.Replace`: replaces the text of a banner on the museum's site, and can put the earlier text back.

use latchwork_guest::tool::{Change, Output};
use latchwork_guest::{Effect, Error, config, http, log, secrets, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Number of characters of the earlier text in a result.
const EARLIER_MAX: usize = 240;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Banner {
    /// Name of the banner: small letters, digits and `-`.
    banner: String,
    text: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Replaced {
    /// Entity tag of the banner with the new text.
    etag: String,
    /// Text that was replaced.
    earlier: String,
}

#[derive(Deserialize)]
struct Page {
    text: String,
}

fn request(method: &str, banner: &str) -> Result<http::Request, Error> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if banner.is_empty() || !banner.chars().all(plain) {
        return Err(Error::invalid_input(format!("{banner:?} is not a name of a banner")));
    }
    let base: String = config::require("base_url")?;
    let token = secrets::get("SITE_TOKEN")?;
    let url = format!("{}/banners/{banner}", base.trim_end_matches('/'));
    Ok(http::Request::new(method, &url).header("authorization", &format!("Bearer {token}")))
}

/// Returns the present text of a banner with its entity tag.
fn read(banner: &str) -> Result<(String, String), Error> {
    let answer = request("GET", banner)?.send().map_err(|error| Error::from(error).not_applied())?;
    if answer.status() != 200 {
        return Err(refusal(&answer).not_applied());
    }
    let page: Result<Page, _> = serde_json::from_slice(answer.body());
    match (page, answer.header("etag")) {
        (Ok(page), Some(etag)) => Ok((page.text, etag.to_owned())),
        _ => Err(Error::schema_validation_failed("the site sent no banner with an entity tag").not_applied()),
    }
}

/// Writes a text if the banner still has this entity tag.
fn write(banner: &str, etag: &str, text: &str) -> Result<http::Response, Error> {
    let body = json!({ "text": text }).to_string();
    let request = request("PUT", banner)?.header("if-match", etag);
    Ok(request.header("content-type", "application/json").body(body).send()?)
}

fn replace(args: Banner, _: &tool::Context) -> Result<Output<Replaced>, Error> {
    if args.text.trim().is_empty() || args.text.chars().count() > 2_000 {
        return Err(Error::invalid_input("text: 1 to 2000 characters"));
    }
    let (earlier, before) = read(&args.banner)?;
    let answer = write(&args.banner, &before, &args.text)?;
    match answer.status() {
        200 | 204 => {}
        409 | 412 => {
            let (present, _) = read(&args.banner).map_err(Error::applied_unknown)?;
            return Err(match present == args.text {
                true => Error::temporary_provider_error("the banner has the new text, but the site refused it"),
                false => Error::policy_denied("another party has changed the banner"),
            });
        }
        _ => return Err(refusal(&answer)),
    }
    let Some(etag) = answer.header("etag") else {
        return Err(Error::temporary_provider_error("the site sent no entity tag"));
    };
    let change = Change::new("banner", &args.banner, "update").etag(etag);
    let earlier = earlier.chars().take(EARLIER_MAX).collect();
    Ok(Output::new(Replaced { etag: etag.to_owned(), earlier }).change(change))
}

/// Called when the job is undone: puts the earlier text back, unless another party has changed the banner since.
fn put_back(args: Banner, replaced: Replaced, _: &str) -> Result<Output<()>, Error> {
    let answer = write(&args.banner, &replaced.etag, &replaced.earlier)?;
    match answer.status() {
        200 | 204 => {}
        404 | 409 | 410 | 412 => return Err(Error::policy_denied("the banner was changed or removed since")),
        _ => return Err(refusal(&answer)),
    }
    log::info!("{} has its earlier text again", args.banner);
    Ok(Output::new(()).change(Change::new("banner", &args.banner, "update")))
}

/// Returns the failure for an answer of the site.
fn refusal(answer: &http::Response) -> Error {
    let said = format!("the site answered {}", answer.status());
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
        tool::operator("Banner.Replace", replace)
            .describe("Replaces the text of a banner on the museum's site.")
            .effects([Effect::ExternalWrite])
            .compensate(put_back),
    ],
    exports: [compensate],
}
