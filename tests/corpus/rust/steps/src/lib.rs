//! Corpus of steps written in typical Rust. Each `bad_*` step breaks a rule of the checker. The `good_*` step
//! next to it looks similar and breaks no rule.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher as _, DefaultHasher, Hash as _, Hasher as _, RandomState};
use std::hint::black_box;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use latchwork_guest::{Determinism, Error, clock, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use step::Context;

#[derive(Deserialize, Serialize, JsonSchema)]
struct Text {
    text: String,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Words {
    words: Vec<String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Number {
    n: u64,
}

type Answer<T> = Result<T, Error>;

fn lengths(words: Words) -> HashMap<String, usize> {
    words.words.into_iter().map(|word| (word.clone(), word.len())).collect()
}

/// In a guest, the seed of a hash map is an address, so another build yields another order.
fn bad_walk(words: Words, _: &Context) -> Answer<Words> {
    Ok(Words { words: lengths(words).into_keys().collect() })
}

fn good_walk(words: Words, _: &Context) -> Answer<Words> {
    let mut words: Vec<String> = lengths(words).into_keys().collect();
    words.sort();
    Ok(Words { words })
}

/// The names are in the order of their addresses, which usually is the order in which they were allocated.
fn bad_intern(words: Words, _: &Context) -> Answer<Words> {
    let names: Vec<std::rc::Rc<str>> = words.words.iter().map(|word| word.as_str().into()).collect();
    let by_name: std::collections::BTreeMap<_, _> = names.iter().map(|name| (name.as_ptr(), name)).collect();
    Ok(Words { words: by_name.into_values().map(|name| name.to_string()).collect() })
}

fn good_intern(words: Words, _: &Context) -> Answer<Words> {
    let names: Vec<std::rc::Rc<str>> = words.words.iter().map(|word| word.as_str().into()).collect();
    Ok(Words { words: names.iter().map(|name| name.to_string()).collect() })
}

/// An address used as an id changes when the guest is compiled again.
fn bad_handle(text: Text, _: &Context) -> Answer<Text> {
    Ok(Text { text: format!("{:p}", text.text.as_ptr()) })
}

fn good_handle(text: Text, _: &Context) -> Answer<Text> {
    Ok(Text { text: format!("{:x}", text.text.len()) })
}

/// The seed of a `RandomState` is an address in a guest, so another build yields another hash.
fn bad_hash(text: Text, _: &Context) -> Answer<Text> {
    Ok(Text { text: format!("{:x}", RandomState::new().hash_one(&text.text)) })
}

fn good_hash(text: Text, _: &Context) -> Answer<Text> {
    let mut hasher = DefaultHasher::new();
    text.text.hash(&mut hasher);
    Ok(Text { text: format!("{:x}", hasher.finish()) })
}

static CALLS: AtomicU32 = AtomicU32::new(0);

/// The counter is always 1, because each run starts with new memory.
fn bad_count(_: Text, _: &Context) -> Answer<u32> {
    Ok(CALLS.fetch_add(1, Ordering::Relaxed) + 1)
}

static OPEN: AtomicU32 = AtomicU32::new(0);

fn good_count(_: Text, _: &Context) -> Answer<u32> {
    let open = OPEN.fetch_add(1, Ordering::Relaxed) + 1;
    OPEN.fetch_sub(1, Ordering::Relaxed);
    Ok(open)
}

thread_local! {
    static NUMBER: Cell<u32> = const { Cell::new(100) };
}

/// The result is always the first number, because each run starts with new memory.
fn bad_local(_: Text, _: &Context) -> Answer<u32> {
    NUMBER.set(NUMBER.get() + 1);
    Ok(NUMBER.get())
}

/// `Bad.Stamp` declares this function pure, which is wrong. `Good.Stamp` declares the same function stable,
/// which is correct.
fn stamp(text: Text, _: &Context) -> Answer<Text> {
    Ok(Text { text: format!("{}, {}", text.text, clock::now()) })
}

/// The standard library has no clock in a guest, so `SystemTime::now` panics.
fn bad_now(_: Text, _: &Context) -> Answer<u64> {
    Ok(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs()))
}

/// A step has no threads, so `spawn` panics.
fn bad_thread(text: Text, _: &Context) -> Answer<Text> {
    let worker = std::thread::spawn(move || text.text.to_uppercase());
    Ok(Text { text: worker.join().expect("it does not panic") })
}

fn good_thread(text: Text, _: &Context) -> Answer<Words> {
    let calls =
        ["a", "b"].map(|page| tools::Call::new("Web.Fetch", &json!({ "url": format!("{}/{page}", text.text) })));
    let pages: Result<Vec<Text>, Error> = tools::call_all(calls).into_iter().collect();
    Ok(Words { words: pages?.into_iter().map(|page| page.text).collect() })
}

/// A step has no environment variables.
fn bad_variable(text: Text, _: &Context) -> Answer<Text> {
    let region =
        std::env::var("REGION").map_err(|error| Error::missing_required_context(format!("REGION: {error}")))?;
    Ok(Text { text: format!("{} in {region}", text.text) })
}

/// Panics if the list is empty, which the input schema allows.
fn bad_first(words: Words, _: &Context) -> Answer<Text> {
    Ok(Text { text: words.words[0].clone() })
}

fn good_first(words: Words, _: &Context) -> Answer<Text> {
    let first = words.words.into_iter().next().ok_or_else(|| Error::invalid_input("there are no words"))?;
    Ok(Text { text: first })
}

/// Panics if the tool returns an error.
fn bad_answer(text: Text, _: &Context) -> Answer<Text> {
    Ok(tools::call("Web.Fetch", &text).unwrap())
}

fn good_answer(text: Text, _: &Context) -> Answer<Text> {
    tools::call("Web.Fetch", &text)
}

/// Repeats the call until it succeeds.
fn bad_retry(text: Text, _: &Context) -> Answer<Text> {
    loop {
        if let Ok(page) = tools::call("Web.Fetch", &text) {
            return Ok(page);
        }
    }
}

/// Makes three calls at most.
fn good_retry(text: Text, _: &Context) -> Answer<Text> {
    let mut page = tools::call("Web.Fetch", &text);
    for _ in 0..2 {
        page = page.or_else(|_: Error| tools::call("Web.Fetch", &text));
    }
    page
}

/// The stack depth depends on the host and is not recorded in the log.
#[inline(never)]
fn down(n: u64) -> u64 {
    if n == 0 { 0 } else { black_box(down(black_box(n - 1))) + (n & 1) }
}

fn bad_deep(number: Number, _: &Context) -> Answer<Number> {
    Ok(Number { n: down(number.n) })
}

fn good_deep(number: Number, _: &Context) -> Answer<Number> {
    Ok(Number { n: (1..=number.n).map(|n| black_box(n) & 1).sum() })
}

fn since(began: clock::Timestamp) -> u64 {
    u64::try_from(clock::now().seconds - began.seconds).unwrap_or(0)
}

/// The number of calls that the step makes depends on the time that the first call took.
fn bad_patience(text: Text, _: &Context) -> Answer<Value> {
    let began = clock::now();
    let page = tools::call("Web.Fetch", &text)?;
    if Duration::from_secs(since(began)) > Duration::from_secs(5) {
        return tools::call("Cache.Read", &text);
    }
    Ok(page)
}

fn good_patience(text: Text, _: &Context) -> Answer<Value> {
    let began = clock::now();
    let page: Value = tools::call("Web.Fetch", &text)?;
    Ok(json!({ "page": page, "seconds": since(began) }))
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Survey {
    plot: String,
    #[serde(flatten)]
    notes: BTreeMap<String, Value>,
}

/// A note of the input can have the name of a member of the output.
#[derive(Serialize, JsonSchema)]
struct Summary {
    letters: usize,
    #[serde(flatten)]
    notes: BTreeMap<String, Value>,
}

#[derive(Serialize, JsonSchema)]
struct NestedSummary {
    letters: usize,
    notes: BTreeMap<String, Value>,
}

fn bad_notes(survey: Survey, _: &Context) -> Answer<Summary> {
    Ok(Summary { letters: survey.plot.len(), notes: survey.notes })
}

fn good_notes(survey: Survey, _: &Context) -> Answer<NestedSummary> {
    Ok(NestedSummary { letters: survey.plot.len(), notes: survey.notes })
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Network {
    stretches: Vec<[u32; 2]>,
    from: u32,
    to: u32,
}

/// A post, and the way to it.
struct Trail {
    post: u32,
    before: Option<Rc<Trail>>,
}

impl Network {
    fn trail(&self) -> Option<Rc<Trail>> {
        let next: HashMap<u32, u32> = self.stretches.iter().map(|[one, other]| (*one, *other)).collect();
        let mut trail = Rc::new(Trail { post: self.from, before: None });
        while trail.post != self.to {
            let post = *next.get(&trail.post).filter(|post| **post > trail.post)?;
            trail = Rc::new(Trail { post, before: Some(trail) });
        }
        Some(trail)
    }
}

/// The drop of a long trail is a recursion.
fn bad_way(network: Network, _: &Context) -> Answer<Value> {
    let trail = network.trail().ok_or_else(|| Error::invalid_input("there is no way"))?;
    Ok(json!({ "end": trail.post }))
}

fn good_way(network: Network, _: &Context) -> Answer<Value> {
    let mut trail = network.trail().ok_or_else(|| Error::invalid_input("there is no way"))?;
    let end = trail.post;
    while let Some(before) = Rc::try_unwrap(trail).ok().and_then(|last| last.before) {
        trail = before;
    }
    Ok(json!({ "end": end }))
}

#[derive(Deserialize, JsonSchema)]
struct Wage {
    crates: u32,
    cents: u32,
}

/// Only their types bound the factors, and their product is a safe integer for each real wage.
fn good_wage(wage: Wage, _: &Context) -> Answer<Number> {
    Ok(Number { n: u64::from(wage.crates) * u64::from(wage.cents) })
}

macro_rules! steps {
    ($($name:literal $handler:ident $class:ident,)*) => {
        latchwork_guest::export_step! {
            version: "1.0.0",
            operators: [$(step::operator($name, $handler).describe("For the corpus.").determinism(Determinism::$class),)*],
        }
    };
}

steps! {
    "Bad.Walk" bad_walk Pure,
    "Good.Walk" good_walk Pure,
    "Bad.Intern" bad_intern Pure,
    "Good.Intern" good_intern Pure,
    "Bad.Handle" bad_handle Pure,
    "Good.Handle" good_handle Pure,
    "Bad.Hash" bad_hash Pure,
    "Good.Hash" good_hash Pure,
    "Bad.Count" bad_count Pure,
    "Good.Count" good_count Pure,
    "Bad.Local" bad_local Pure,
    "Bad.Stamp" stamp Pure,
    "Good.Stamp" stamp Stable,
    "Bad.Now" bad_now Pure,
    "Bad.Thread" bad_thread Pure,
    "Good.Thread" good_thread External,
    "Bad.Variable" bad_variable Pure,
    "Bad.First" bad_first Pure,
    "Good.First" good_first Pure,
    "Bad.Answer" bad_answer External,
    "Good.Answer" good_answer External,
    "Bad.Retry" bad_retry External,
    "Good.Retry" good_retry External,
    "Bad.Deep" bad_deep Pure,
    "Good.Deep" good_deep Pure,
    "Bad.Patience" bad_patience External,
    "Good.Patience" good_patience External,
    "Bad.Notes" bad_notes Pure,
    "Good.Notes" good_notes Pure,
    "Bad.Way" bad_way Pure,
    "Good.Way" good_way Pure,
    "Good.Wage" good_wage Pure,
}
