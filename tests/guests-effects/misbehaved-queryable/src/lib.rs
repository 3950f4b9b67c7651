//! Queryable tools whose reconcile function answers wrongly, and one correct tool.

use std::time::Duration;

use latchwork_guest::tool::{Output, Verdict};
use latchwork_guest::{Effect, Error, fs, http, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const SHOP: &str = "https://shop.example/orders";

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

fn file(key: &str) -> String {
    format!("/out/{}", key.replace('/', "+"))
}

fn place(args: Args, context: &tool::Context) -> Result<Output<Done>, Error> {
    fs::publish(&file(context.external_key()), args.item.as_bytes(), "placed")?;
    Ok(done(args))
}

/// Replaces a character of the key by one that keys have.
fn bad_file(key: &str) -> String {
    format!("/out/{}", key.replace('/', "-"))
}

fn bad_place(args: Args, context: &tool::Context) -> Result<Output<Done>, Error> {
    fs::publish(&bad_file(context.external_key()), args.item.as_bytes(), "placed")?;
    Ok(done(args))
}

/// A key with a slash is no name of a file.
fn slash(args: Args, context: &tool::Context) -> Result<Output<Done>, Error> {
    fs::publish(&format!("/out/{}", context.external_key()), args.item.as_bytes(), "placed")?;
    Ok(done(args))
}

/// An order at a server that lists it at once.
fn order(args: Args, context: &tool::Context) -> Result<Output<Done>, Error> {
    let response = http::Request::post(SHOP).header("key", context.external_key()).body(b"order").send()?;
    match response.status() {
        201 => Ok(done(args)),
        429 => Err(Error::rate_limit("the shop is busy")),
        status => Err(Error::temporary_provider_error(format!("the shop answered {status}"))),
    }
}

fn find(args: Args, key: &str) -> Result<Verdict<Output<Done>>, Error> {
    found(args, &http::Request::get(&format!("{SHOP}?key={key}")).send()?)
}

/// Asks for all orders, and takes any order for that of the call.
fn find_any(args: Args, _: &str) -> Result<Verdict<Output<Done>>, Error> {
    found(args, &http::Request::get(SHOP).send()?)
}

fn found(args: Args, response: &http::Response) -> Result<Verdict<Output<Done>>, Error> {
    match (response.status(), response.body()) {
        (200, b"[]") => Ok(Verdict::DidNotHappen),
        (200, b"[1]") => Ok(Verdict::Happened(done(args))),
        (status, _) => Err(Error::temporary_provider_error(format!("the shop answered {status}"))),
    }
}

/// An order that was withdrawn later was made, too.
fn find_withdrawn(args: Args, key: &str, of_withdrawn: Verdict<Output<Done>>) -> Result<Verdict<Output<Done>>, Error> {
    let response = http::Request::get(&format!("{SHOP}?key={key}")).send()?;
    match (response.status(), String::from_utf8_lossy(response.body())) {
        (200, body) if body == "[]" => Ok(Verdict::DidNotHappen),
        (200, body) if body.contains("withdrawn") => Ok(of_withdrawn),
        (200, _) => Ok(Verdict::Happened(done(args))),
        (status, _) => Err(Error::temporary_provider_error(format!("the shop answered {status}"))),
    }
}

fn find_open(args: Args, key: &str) -> Result<Verdict<Output<Done>>, Error> {
    find_withdrawn(args, key, Verdict::DidNotHappen)
}

fn find_once(args: Args, key: &str) -> Result<Verdict<Output<Done>>, Error> {
    find_withdrawn(args, key, Verdict::Unknown)
}

/// Takes a refusal of the server for an empty list.
fn find_refused(args: Args, key: &str) -> Result<Verdict<Output<Done>>, Error> {
    let response = http::Request::get(SHOP).send()?;
    if response.status() == 403 { Ok(Verdict::DidNotHappen) } else { find(args, key) }
}

/// Takes a page that is no list for an empty list.
fn find_no_list(args: Args, key: &str) -> Result<Verdict<Output<Done>>, Error> {
    let response = http::Request::get(SHOP).send()?;
    let is_list = response.body().starts_with(b"[");
    if response.status() == 200 && !is_list { Ok(Verdict::DidNotHappen) } else { find(args, key) }
}

fn looks(args: Args, key: &str) -> Result<Verdict<Output<Done>>, Error> {
    Ok(if fs::exists(&file(key))? { Verdict::Happened(done(args)) } else { Verdict::DidNotHappen })
}

fn forgets(_: Args, _: &str) -> Result<Verdict<Output<Done>>, Error> {
    Ok(Verdict::DidNotHappen)
}

fn invents(args: Args, _: &str) -> Result<Verdict<Output<Done>>, Error> {
    Ok(Verdict::Happened(done(args)))
}

macro_rules! ordered {
    ($name:literal, $reconcile:ident) => {
        tool::operator($name, order)
            .describe("Sends an order.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(60))
            .reconcile($reconcile)
    };
}

macro_rules! placed {
    ($name:literal, $reconcile:ident) => {
        tool::operator($name, place).describe("Creates a file.").effects([Effect::ExternalWrite]).reconcile($reconcile)
    };
}

latchwork_guest::export_tool! {
    version: "1.0.0",
    operators: [
        placed!("Good.Place", looks),
        placed!("Bad.Forgets", forgets),
        placed!("Bad.Invents", invents),
        tool::operator("Bad.Dash", bad_place).describe("Creates a file.").effects([Effect::ExternalWrite]),
        tool::operator("Bad.Slash", slash).describe("Creates a file.").effects([Effect::ExternalWrite]),
        ordered!("Good.Order", find),
        ordered!("Bad.Any", find_any),
        ordered!("Bad.Refused", find_refused),
        ordered!("Bad.NoList", find_no_list),
        ordered!("Bad.Open", find_open),
        ordered!("Good.Once", find_once),
        tool::operator("Bad.Transit", order)
            .describe("Sends an order.")
            .effects([Effect::ExternalWrite])
            .reconcile(find),
    ],
    exports: [reconcile],
}
