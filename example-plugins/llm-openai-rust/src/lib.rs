//! `Llm.Chat`: requests one answer of a model through an OpenAI-compatible chat completions API.

mod answer;
mod config;
mod price;
mod refusal;
mod request;
#[cfg(test)]
mod tests;

use latchwork_guest::{Determinism, Effect, Error, http, tool};

use answer::Reply;
use config::Config;
use request::Args;

fn chat(args: Args, context: &tool::Context) -> Result<tool::Output<Reply>, Error> {
    let config = Config::read()?;
    let body = request::body(&args)?;
    let mut request = http::Request::post(&config.url())
        .header("content-type", "application/json")
        .header("accept", "application/json")
        .header("user-agent", concat!("latchwork-llm-openai/", env!("CARGO_PKG_VERSION")))
        // The request must end before the host stops the call. A slow request then fails with a specific failure code.
        .timeout(context.timeout().mul_f32(0.8))
        .limit(config.answer_bytes_max)
        .body(body);
    // The header connects the provider's records to this call.
    if !context.trace_id().is_empty() {
        request = request.header("x-client-request-id", context.trace_id());
    }
    for (name, value) in config.headers()? {
        request = request.header(&name, &value);
    }
    let response = request.send()?;
    if response.status() != 200 {
        return Err(refusal::error(&response));
    }
    answer::read(&response, &args.model, &config.model_prices)
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Llm.Chat", chat)
            .describe("Asks a model behind an OpenAI-compatible chat completions API.")
            .effects([Effect::ReadOnly])
            .determinism(Determinism::Stable),
    ],
}
