//! The answer of the model and its cost.

use std::collections::BTreeMap;

use latchwork_guest::tool::{Output, Usage};
use latchwork_guest::{Error, http, log};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::price::Price;
use crate::refusal::trace_id;

/// Result of `Llm.Chat`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Reply {
    /// Text of the answer. Empty if the model only requests tool calls.
    pub(crate) text: String,
    /// Model that answered, often a dated version of the requested model.
    pub(crate) model: String,
    /// Reason for the end of the answer: `stop`, `length`, `tool_calls`, `content_filter`.
    pub(crate) finish_reason: Option<String>,
    /// Tool calls that the model requests, in the form of the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_calls: Option<Value>,
    /// Explanation of the model if it refused to answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) refusal: Option<String>,
}

#[derive(Deserialize)]
struct Completion {
    id: Option<String>,
    model: Option<String>,
    choices: Vec<Choice>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Choice {
    message: Said,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    content: Option<String>,
    tool_calls: Option<Value>,
    refusal: Option<String>,
}

#[derive(Deserialize)]
struct Tokens {
    prompt_tokens: u32,
    #[serde(default)]
    completion_tokens: u32,
}

/// Reads the answer from a response with status 200. `asked` is the requested model.
pub(crate) fn read(
    response: &http::Response,
    asked: &str,
    prices: &BTreeMap<String, Price>,
) -> Result<Output<Reply>, Error> {
    let malformed =
        |why: String| Error::schema_validation_failed(format!("the provider's answer is not a chat completion: {why}"));
    let completion: Completion =
        serde_json::from_slice(response.body()).map_err(|error| malformed(error.to_string()))?;
    let trace = trace_id(response).or(completion.id);
    let choice = completion.choices.into_iter().next().ok_or_else(|| malformed("it has no choices".to_owned()))?;
    let Said { content, tool_calls, refusal } = choice.message;
    if content.is_none() && tool_calls.is_none() && refusal.is_none() {
        return Err(malformed("its message has neither content nor tool calls".to_owned()));
    }
    let model = completion.model.unwrap_or_else(|| asked.to_owned());
    let tokens = completion.usage.unwrap_or(Tokens { prompt_tokens: 0, completion_tokens: 0 });
    let cost_micro_usd = match prices.get(&model).or_else(|| prices.get(asked)) {
        Some(price) => price.of(tokens.prompt_tokens, tokens.completion_tokens)?,
        None => {
            log::warn!("model_prices has no price for {asked}: its calls count as free");
            0
        }
    };
    let usage = Usage {
        model: Some(model.clone()),
        provider_trace_id: trace,
        tokens_in: tokens.prompt_tokens,
        tokens_out: tokens.completion_tokens,
        cost_micro_usd,
        credits: 0,
    };
    let text = content.unwrap_or_default();
    let reply = Reply { text, model, finish_reason: choice.finish_reason, tool_calls, refusal };
    Ok(Output::new(reply).usage(usage))
}
