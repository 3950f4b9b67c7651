//! Tools that are each wrong in one way, and one correct tool.

use std::time::Duration;

use latchwork_guest::tool::Output;
use latchwork_guest::{Determinism, Effect, Error, fs, http, kv, log, secrets, tool, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const SHOP: &str = "https://shop.example/orders";
const TAG: &str = "https://shop.example/tag";
const SIGN: &str = "/out/sign";
const DAY: Duration = Duration::from_secs(86_400);

#[derive(Debug, Deserialize, JsonSchema)]
struct Args {
    item: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Done {
    item: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Wrong {
    /// Identifier, declared as a number in the schema.
    #[schemars(with = "u32")]
    id: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Shown {
    earlier: Option<String>,
}

fn done(args: Args) -> Result<Output<Done>, Error> {
    Ok(Output::new(Done { item: args.item }))
}

fn random() -> String {
    wall::random(8).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Sends the request. Maps each error status of the shop to an error with a matching code.
fn send(request: &http::Request) -> Result<http::Response, Error> {
    let response = request.send()?;
    match response.status() {
        200..=299 => Ok(response),
        429 => Err(Error::rate_limit("the shop is busy").not_applied()),
        status => Err(Error::temporary_provider_error(format!("the shop answered {status}"))),
    }
}

fn order(key: &str, body: &str) -> http::Request {
    http::Request::post(SHOP).header("idempotency-key", key).body(body.as_bytes())
}

fn good(args: Args, context: &tool::Context) -> Result<Output<Done>, Error> {
    if args.item.is_empty() {
        return Err(Error::invalid_input("an order has an item"));
    }
    send(&order(context.external_key(), &json!({ "item": args.item }).to_string()))?;
    done(args)
}

fn keyless(args: Args, _: &tool::Context) -> Result<Output<Done>, Error> {
    send(&http::Request::post(SHOP).body(args.item.as_bytes()))?;
    done(args)
}

fn twice(args: Args, _: &tool::Context) -> Result<Output<Done>, Error> {
    fs::create_new(&format!("/out/{}", random()), args.item.as_bytes())?;
    done(args)
}

fn other(args: Args, context: &tool::Context) -> Result<Output<Done>, Error> {
    send(&order(context.external_key(), &random()))?;
    done(args)
}

fn writes(args: Args, _: &tool::Context) -> Result<Output<Done>, Error> {
    // Continues even if the write fails.
    let _ = kv::set("last", args.item.as_bytes());
    done(args)
}

fn traps(args: Args, _: &tool::Context) -> Result<Output<Done>, Error> {
    let response = http::Request::get(SHOP).send().expect("the shop answers");
    assert_eq!(response.status(), 200);
    done(args)
}

fn code(args: Args, _: &tool::Context) -> Result<Output<Done>, Error> {
    match http::Request::get(SHOP).send() {
        Ok(response) if response.status() == 200 => done(args),
        _ => Err(Error::invalid_input("something is wrong")),
    }
}

fn claims(args: Args, context: &tool::Context) -> Result<Output<Done>, Error> {
    let _ = order(context.external_key(), &args.item).send();
    done(args)
}

fn denies(args: Args, context: &tool::Context) -> Result<Output<Done>, Error> {
    send(&order(context.external_key(), &args.item)).map_err(Error::not_applied)?;
    done(args)
}

/// Reads a second secret after the order is made.
fn late_secret(args: Args, context: &tool::Context) -> Result<Output<Done>, Error> {
    send(&order(context.external_key(), &args.item))?;
    secrets::get("MAIL_TOKEN")?;
    done(args)
}

/// Reads a second secret before the order is made.
fn early_secret(args: Args, context: &tool::Context) -> Result<Output<Done>, Error> {
    secrets::get("MAIL_TOKEN")?;
    send(&order(context.external_key(), &args.item))?;
    done(args)
}

/// Makes two orders. If the second one cannot be sent, its error says that nothing was changed.
fn late_order(args: Args, context: &tool::Context) -> Result<Output<Done>, Error> {
    two_orders(args, context, |error| error)
}

/// Makes two orders. If the second one cannot be sent, its error says that something may have been changed.
fn careful_order(args: Args, context: &tool::Context) -> Result<Output<Done>, Error> {
    two_orders(args, context, |error| error.applied_unknown())
}

/// Makes two orders. `unsent` returns the error if the second one cannot be sent.
fn two_orders(args: Args, context: &tool::Context, unsent: impl Fn(Error) -> Error) -> Result<Output<Done>, Error> {
    send(&order(context.external_key(), &args.item))?;
    let second = order(context.external_key(), &args.item).send().map_err(|error| unsent(error.into()))?;
    match second.status() {
        200..=299 => done(args),
        429 => Err(Error::rate_limit("the shop is busy").applied_unknown()),
        _ => Err(Error::temporary_provider_error("the shop refuses the order").applied_unknown()),
    }
}

/// Says of this status that nothing was changed.
fn denies_status(args: Args, context: &tool::Context, denied: u16) -> Result<Output<Done>, Error> {
    let response = order(context.external_key(), &args.item).send()?;
    match response.status() {
        200..=299 => done(args),
        429 => Err(Error::rate_limit("the shop is busy").not_applied()),
        status if status == denied => Err(Error::invalid_input("the shop refuses the order")),
        status => Err(Error::temporary_provider_error(format!("the shop answered {status}"))),
    }
}

fn conflict(args: Args, context: &tool::Context) -> Result<Output<Done>, Error> {
    denies_status(args, context, 409)
}

fn timeout(args: Args, context: &tool::Context) -> Result<Output<Done>, Error> {
    denies_status(args, context, 408)
}

/// Reads the answer of an accepted order. `refuse` handles an answer that is no JSON.
fn confirmed(args: Args, context: &tool::Context, refuse: impl Fn() -> Error) -> Result<Output<Done>, Error> {
    let response = send(&order(context.external_key(), &args.item))?;
    serde_json::from_slice::<serde_json::Value>(response.body()).map_err(|_| refuse())?;
    done(args)
}

fn page(args: Args, context: &tool::Context) -> Result<Output<Done>, Error> {
    confirmed(args, context, || Error::invalid_input("the shop sent no JSON"))
}

fn panics(args: Args, context: &tool::Context) -> Result<Output<Done>, Error> {
    confirmed(args, context, || panic!("the shop sent no JSON"))
}

fn good_page(args: Args, context: &tool::Context) -> Result<Output<Done>, Error> {
    confirmed(args, context, || Error::temporary_provider_error("the shop sent no JSON"))
}

fn schema(args: Args, _: &tool::Context) -> Result<Output<Wrong>, Error> {
    Ok(Output::new(Wrong { id: args.item }))
}

fn leaks(args: Args, _: &tool::Context) -> Result<Output<Done>, Error> {
    log::info!("asking with {}", secrets::get("TOKEN")?);
    done(args)
}

fn reaches(args: Args, _: &tool::Context) -> Result<Output<Done>, Error> {
    let _ = http::Request::get("https://telemetry.example/hit").send();
    done(args)
}

fn ends(args: Args, _: &tool::Context) -> Result<Output<Done>, Error> {
    let number: u32 = args.item.parse().expect("a number");
    done(Args { item: number.to_string() })
}

/// Returns the value that the item names, although it is declared pure.
fn pure(args: Args, context: &tool::Context) -> Result<Output<Done>, Error> {
    let item = match args.item.as_str() {
        "clock" => (wall::now().seconds % 60 < 30).to_string(),
        "random" => random(),
        "secret" => secrets::get("TOKEN")?,
        "set" => std::collections::HashSet::from(["a", "b", "a"]).len().to_string(),
        "actor" => context.actor().to_owned(),
        "length of the job id" => context.job_id().len().to_string(),
        "address" => {
            let local = 0;
            format!("{:?}", std::hint::black_box(&raw const local))
        }
        _ => args.item,
    };
    done(Args { item })
}

/// Cancels an order. `is_read` is false if the answer of the shop is ignored.
fn cancel(key: &str, is_read: bool) -> Result<Output<()>, Error> {
    let request = http::Request::post(SHOP).header("idempotency-key", &format!("{key}-cancel")).body(b"cancel");
    let sent = send(&request);
    if is_read {
        sent?;
    }
    Ok(Output::new(()))
}

/// Replaces the text of a sign, and keeps the earlier text. With `is_strict`, a sign that is no text is not replaced.
fn show(args: &Args, context: &tool::Context, is_strict: bool) -> Result<Output<Shown>, Error> {
    let earlier = match fs::read(SIGN) {
        Ok(bytes) => String::from_utf8(bytes).map(Some),
        Err(error) if error.kind() == fs::ErrorKind::NotFound => Ok(None),
        Err(error) => return Err(Error::from(error).not_applied()),
    };
    let earlier = match earlier {
        Err(_) if is_strict => return Err(Error::policy_denied("the present sign is no text")),
        earlier => earlier.unwrap_or_default(),
    };
    fs::replace(SIGN, args.item.as_bytes(), context.external_key())?;
    Ok(Output::new(Shown { earlier }))
}

fn bad_show(args: Args, context: &tool::Context) -> Result<Output<Shown>, Error> {
    show(&args, context, false)
}

fn good_show(args: Args, context: &tool::Context) -> Result<Output<Shown>, Error> {
    show(&args, context, true)
}

/// Puts the earlier sign back.
fn take_down(args: Args, shown: Shown, _: &str) -> Result<Output<()>, Error> {
    if fs::read(SIGN)? != args.item.as_bytes() {
        return Err(Error::policy_denied("the sign was changed since"));
    }
    match &shown.earlier {
        Some(text) => fs::replace(SIGN, text.as_bytes(), tool::Context::default().external_key())?,
        None => fs::remove(SIGN)?,
    }
    Ok(Output::new(()))
}

/// Writes a tag, and keeps the earlier text. A tag that was not there has no text.
fn write_tag(args: Args, _: &tool::Context) -> Result<Output<Shown>, Error> {
    let present = http::Request::get(TAG).send().map_err(|error| Error::from(error).not_applied())?;
    let earlier = match present.status() {
        200 => Some(String::from_utf8_lossy(present.body()).into_owned()),
        404 => None,
        429 => return Err(Error::rate_limit("the shop is busy").not_applied()),
        status => return Err(Error::temporary_provider_error(format!("the tag has {status}")).not_applied()),
    };
    send(&http::Request::new("PUT", TAG).body(args.item))?;
    Ok(Output::new(Shown { earlier }))
}

fn restore_tag(shown: Shown, removes: bool) -> Result<Output<()>, Error> {
    let request = match shown.earlier {
        None if removes => http::Request::new("DELETE", TAG),
        earlier => http::Request::new("PUT", TAG).body(earlier.unwrap_or_default()),
    };
    send(&request)?;
    Ok(Output::new(()))
}

macro_rules! reads {
    ($name:literal, $function:ident) => {
        tool::operator($name, $function).describe("Wrong in one way.").effects([Effect::ReadOnly])
    };
}

macro_rules! writes {
    ($name:literal, $function:ident) => {
        tool::operator($name, $function).describe("Wrong in one way.").effects([Effect::InternalWrite])
    };
}

macro_rules! external {
    ($name:literal, $function:ident) => {
        tool::operator($name, $function).describe("Wrong in one way.").effects([Effect::ExternalWrite])
    };
}

macro_rules! keyed {
    ($name:literal, $function:ident) => {
        external!($name, $function).idempotent_by_key(DAY)
    };
}

latchwork_guest::export_tool! {
    version: "1.0.0",
    operators: [
        keyed!("Good.Order", good).compensate(|_, _: Done, key: &str| cancel(key, true)),
        keyed!("Bad.Cancels", good).compensate(|_, _: Done, key: &str| cancel(key, false)),
        keyed!("Bad.Stuck", good).compensate(|_, done: Done, _: &str| -> Result<Output<()>, Error> {
            panic!("{} cannot be cancelled", done.item)
        }),
        keyed!("Bad.Keyless", keyless),
        keyed!("Bad.Twice", twice),
        keyed!("Bad.Other", other),
        reads!("Bad.Writes", writes),
        reads!("Bad.Traps", traps),
        reads!("Bad.Code", code),
        keyed!("Bad.Claims", claims),
        keyed!("Bad.Denies", denies),
        keyed!("Bad.Conflict", conflict),
        keyed!("Bad.Timeout", timeout),
        keyed!("Bad.Page", page),
        keyed!("Bad.Panics", panics),
        keyed!("Good.Page", good_page),
        keyed!("Bad.Second", late_order),
        keyed!("Good.Second", careful_order),
        keyed!("Bad.Secret", late_secret),
        keyed!("Good.Secret", early_secret),
        writes!("Bad.Sign", bad_show).compensate(take_down),
        writes!("Good.Sign", good_show).compensate(take_down),
        external!("Bad.Tag", write_tag).compensate(|_, shown: Shown, _: &str| restore_tag(shown, false)),
        external!("Good.Tag", write_tag).compensate(|_, shown: Shown, _: &str| restore_tag(shown, true)),
        reads!("Bad.Schema", schema),
        reads!("Bad.Leaks", leaks),
        reads!("Bad.Reaches", reaches),
        reads!("Bad.Ends", ends),
        reads!("Bad.Pure", pure).determinism(Determinism::Pure),
    ],
    exports: [compensate],
}
