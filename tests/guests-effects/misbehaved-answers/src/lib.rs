//! Tools that each take an answer of a server for something else, and correct tools that look similar.

use std::time::Duration;

use latchwork_guest::tool::{Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, http, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const SHOP: &str = "https://shop.example/orders";
const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(86_400);
const MIRROR: &str = "https://mirror.example/orders";

#[derive(Debug, Deserialize, JsonSchema)]
struct Args {
    item: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Done {
    item: String,
}

fn done(args: Args) -> Output<Done> {
    Output::new(Done { item: args.item })
}

fn unknown(what: &str) -> Error {
    Error::temporary_provider_error(what).applied_unknown()
}

fn order(key: &str, item: &str) -> http::Request {
    http::Request::post(SHOP).header("idempotency-key", key).body(item.as_bytes())
}

/// Maps each status of the shop to an error, and success to the response.
fn send(request: &http::Request) -> Result<http::Response, Error> {
    let response = request.send()?;
    match response.status() {
        200..=299 => Ok(response),
        429 => Err(Error::rate_limit("the shop is busy").not_applied()),
        status => Err(unknown(&format!("the shop answered {status}"))),
    }
}

/// An accepted order is not made yet. It can still be made.
fn accept(args: Args, key: &str, is_open: bool) -> Result<Output<Done>, Error> {
    let response = send(&order(key, &args.item))?;
    match response.status() {
        202 if is_open => Err(unknown("the order is accepted and not made")),
        202 => Err(Error::policy_denied("the order is accepted and not made").not_applied()),
        _ => Ok(done(args)),
    }
}

/// Status 409 says that there is an order with this key, which can be another one.
fn present(args: Args, key: &str, asks: bool) -> Result<Output<Done>, Error> {
    let response = order(key, &args.item).send()?;
    match response.status() {
        201 => Ok(done(args)),
        429 => Err(Error::rate_limit("the shop is busy").not_applied()),
        409 if !asks => Ok(done(args)),
        409 => {
            let present = send(&http::Request::get(&format!("{SHOP}?key={key}")))?;
            if present.body() == args.item.as_bytes() { Ok(done(args)) } else { Err(unknown("there is another order")) }
        }
        status => Err(unknown(&format!("the shop answered {status}"))),
    }
}

/// Sends the order to a second server if the first one fails.
fn mirrored(args: Args, key: &str, is_careful: bool) -> Result<Output<Done>, Error> {
    match send(&order(key, &args.item)) {
        Err(failure) if is_careful => Err(failure),
        Err(_) => {
            let again = http::Request::post(MIRROR).header("idempotency-key", key).body(args.item.as_bytes());
            send(&again).map_err(|_| unknown("no server made the order"))?;
            Ok(done(args))
        }
        Ok(_) => Ok(done(args)),
    }
}

/// Names the order in its address by the key of the call.
fn named(args: Args, name: &str) -> Result<Output<Done>, Error> {
    send(&http::Request::new("PUT", &format!("{SHOP}?name={name}")).body(args.item.as_bytes()))?;
    Ok(done(args))
}

/// Looks for an order of the item, and makes one if there is none.
fn looked_up(args: Args, key: &str, is_careful: bool) -> Result<Output<Done>, Error> {
    let found = http::Request::get(&format!("{SHOP}?item={}", args.item)).send()?;
    match found.status() {
        200 => return Ok(done(args)),
        404 => {}
        _ if !is_careful => {}
        429 => return Err(Error::rate_limit("the shop is busy").not_applied()),
        status => return Err(Error::temporary_provider_error(format!("the shop answered {status}")).not_applied()),
    }
    send(&order(key, &args.item))?;
    Ok(done(args))
}

/// Looks for an order of the item, with one code for all failures of the question.
fn asked(args: Args, key: &str) -> Result<Output<Done>, Error> {
    let found = http::Request::get(&format!("{SHOP}?item={}", args.item)).send()?;
    match found.status() {
        200 => return Ok(done(args)),
        404 => {}
        status => return Err(Error::temporary_provider_error(format!("the shop answered {status}")).not_applied()),
    }
    send(&order(key, &args.item))?;
    Ok(done(args))
}

/// Returns the wait of `retry-after` in milliseconds, or the number as it is.
fn waiting(args: Args, key: &str, factor: u64) -> Result<Output<Done>, Error> {
    let response = order(key, &args.item).send()?;
    match response.status() {
        201 => Ok(done(args)),
        429 => {
            let seconds: Option<u64> = response.header("retry-after").and_then(|text| text.parse().ok());
            let failure = Error::rate_limit("the shop is busy").not_applied();
            Err(match seconds {
                Some(seconds) => failure.retry_after(Duration::from_millis(seconds * factor)),
                None => failure,
            })
        }
        status => Err(unknown(&format!("the shop answered {status}"))),
    }
}

/// Pays the money back.
fn refund(done: Done, key: &str) -> Result<Output<()>, Error> {
    send(&order(key, &format!("minus {}", done.item)))?;
    Ok(Output::new(()))
}

/// Reports two changes, with one resource or with two.
fn lines(args: Args, key: &str, has_own_ids: bool) -> Result<Output<Done>, Error> {
    send(&order(key, &args.item))?;
    let change = |line: &str| {
        let id = if has_own_ids { line } else { "order" };
        Change::new("line", id, "create").external_ref(line)
    };
    Ok(done(args).change(change("line-1")).change(change("line-2")))
}

/// Looks for an order of the key at the shop.
fn find_order(args: Args, key: &str) -> Result<Verdict<Output<Done>>, Error> {
    let found = http::Request::get(&format!("{SHOP}?key={key}")).send()?;
    match found.status() {
        200 => Ok(Verdict::Happened(done(args))),
        404 => Ok(Verdict::DidNotHappen),
        status => Err(Error::temporary_provider_error(format!("the shop answered {status}"))),
    }
}

fn line_is_there(_: &Change) -> Result<Finding, Error> {
    send(&http::Request::get(SHOP)).map(|_| Finding::Confirmed)
}

/// Makes an order and pays for it. The second request can fail.
fn paid(args: Args, context: &tool::Context) -> Result<Output<Done>, Error> {
    let key = context.external_key();
    send(&order(key, &args.item))?;
    let payment = http::Request::post("https://pay.example/payments").header("idempotency-key", key);
    match payment.body(args.item.as_bytes()).send() {
        Ok(response) if response.status() == 201 => Ok(done(args)),
        _ => Err(unknown("the order is not paid")),
    }
}

/// Looks for the payment, which is the second part of the call.
fn find_paid(args: Args, key: &str, of_none: Verdict<Output<Done>>) -> Result<Verdict<Output<Done>>, Error> {
    let found = http::Request::get(&format!("https://pay.example/payments?key={key}")).send()?;
    match (found.status(), found.body()) {
        (200, b"[]") | (404, _) => Ok(of_none),
        (200, _) => Ok(Verdict::Happened(done(args))),
        (status, _) => Err(Error::temporary_provider_error(format!("the server answered {status}"))),
    }
}

/// Gets a token by POST, and then makes the order. The token changes nothing.
fn with_token(args: Args, key: &str) -> Result<Output<Done>, Error> {
    let token = http::Request::post("https://shop.example/oauth/token").body(b"grant_type=client_credentials");
    match token.send().map_err(|error| Error::from(error).not_applied())?.status() {
        200 => {}
        429 => return Err(Error::rate_limit("the shop is busy").not_applied()),
        status => {
            return Err(Error::temporary_provider_error(format!("the shop gives no token: {status}")).not_applied());
        }
    }
    let response = order(key, &args.item).send()?;
    match response.status() {
        201 => Ok(done(args)),
        429 => Err(Error::rate_limit("the shop is busy").not_applied()),
        422 => Err(Error::invalid_input("the shop refuses the order").not_applied()),
        status => Err(unknown(&format!("the shop answered {status}"))),
    }
}

/// Returns a number that follows from the text, as a shop expects that knows no other keys.
fn number_of(text: &str) -> String {
    let number =
        |seed: u64| text.bytes().fold(seed, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{:016x}{:016x}", number(0xcbf2_9ce4_8422_2325), number(0x84_2223_25cb_f29c))
}

fn random_number() -> String {
    latchwork_guest::wall::random(8).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Sends the order as a form, whose boundary is random.
fn as_form(args: Args, key: &str) -> Result<Output<Done>, Error> {
    let boundary = random_number();
    let body =
        format!("--{boundary}\r\ncontent-disposition: form-data; name=item\r\n\r\n{}\r\n--{boundary}--\r\n", args.item);
    let form = http::Request::post(SHOP)
        .header("idempotency-key", key)
        .header("content-type", &format!("multipart/form-data; boundary={boundary}"));
    send(&form.body(body.as_bytes())).map(|_| done(args))
}

/// Looks for the order that the call made, by the key in each order of the list.
fn find_listed(args: Args, key: &str) -> Result<Verdict<Output<Done>>, Error> {
    let list = send(&http::Request::get(SHOP))?;
    let orders: Vec<String> = serde_json::from_slice(list.body())
        .map_err(|_| Error::temporary_provider_error("the shop answered with no list"))?;
    Ok(if orders.iter().any(|order| order == key) { Verdict::Happened(done(args)) } else { Verdict::DidNotHappen })
}

macro_rules! external {
    ($name:literal, $function:expr) => {
        tool::operator($name, $function)
            .describe("Takes an answer for something else.")
            .effects([Effect::ExternalWrite])
    };
}

macro_rules! with_key {
    ($name:literal, |$args:ident, $key:ident| $call:expr) => {
        external!($name, |$args: Args, context: &tool::Context| {
            let $key = context.external_key();
            $call
        })
    };
}

latchwork_guest::export_tool! {
    version: "1.0.0",
    operators: [
        with_key!("Bad.Accept", |args, key| accept(args, key, false)),
        with_key!("Good.Accept", |args, key| accept(args, key, true)),
        with_key!("Good.Queued", |args, key| accept(args, key, true)).settles_within(MINUTE).reconcile(find_order),
        with_key!("Bad.Present", |args, key| present(args, key, false)),
        with_key!("Good.Present", |args, key| present(args, key, true)),
        with_key!("Good.Found", |args, key| present(args, key, true)).settles_within(MINUTE).reconcile(find_order),
        with_key!("Bad.Mirror", |args, key| mirrored(args, key, false)),
        with_key!("Good.Mirror", |args, key| mirrored(args, key, true)),
        with_key!("Bad.Name", |args, key| named(args, &key.replace([':', '/'], "-"))),
        with_key!("Good.Name", |args, key| named(args, &key.replace('/', "~slash~"))),
        with_key!("Bad.LookUp", |args, key| looked_up(args, key, false)),
        with_key!("Good.LookUp", |args, key| looked_up(args, key, true)),
        with_key!("Good.Ask", |args, key| asked(args, key)),
        with_key!("Good.Token", |args, key| with_token(args, key)).idempotent_by_key(DAY),
        with_key!("Good.Derived", |args, key| send(&order(&number_of(key), &args.item)).map(|_| done(args))).idempotent_by_key(DAY),
        external!("Bad.Nonce", |args: Args, _: &tool::Context| send(&order(&random_number(), &args.item)).map(|_| done(args))).idempotent_by_key(DAY),
        with_key!("Good.Form", |args, key| as_form(args, key)).idempotent_by_key(DAY),
        with_key!("Good.Listed", |args, key| send(&order(key, &args.item)).map(|_| done(args)))
            .settles_within(MINUTE)
            .reconcile(find_listed),
        with_key!("Bad.Wait", |args, key| waiting(args, key, 1)),
        with_key!("Good.Wait", |args, key| waiting(args, key, 1_000)),
        with_key!("Bad.Refund", |args, key| send(&order(key, &args.item)).map(|_| done(args)))
            .compensate(|_, done: Done, key: &str| refund(done, key)),
        with_key!("Good.Refund", |args, key| send(&order(key, &args.item)).map(|_| done(args)))
            .compensate(|_, done: Done, key: &str| refund(done, &format!("{key}-undo"))),
        with_key!("Bad.Lines", |args, key| lines(args, key, false)).verify(line_is_there),
        with_key!("Good.Lines", |args, key| lines(args, key, true)).verify(line_is_there),
        external!("Bad.Paid", paid).settles_within(MINUTE).reconcile(|args: Args, key: &str| find_paid(args, key, Verdict::DidNotHappen)),
        external!("Good.Paid", paid).settles_within(MINUTE).reconcile(|args: Args, key: &str| find_paid(args, key, Verdict::Unknown)),
    ],
    exports: [compensate, reconcile, verify],
}
