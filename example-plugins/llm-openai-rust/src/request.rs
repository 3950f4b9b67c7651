//! The request to the model.

use latchwork_guest::Error;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Payload of an `llm` step.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Model name of the provider.
    pub(crate) model: String,
    /// A single user message. Exactly one of `prompt` and `messages` is required.
    #[serde(default)]
    pub(crate) prompt: Option<String>,
    /// Messages of the conversation so far.
    #[serde(default)]
    pub(crate) messages: Option<Vec<Message>>,
    /// Model parameters: `max_tokens`, `temperature`, and any other parameter of the provider.
    #[serde(default)]
    pub(crate) params: Map<String, Value>,
}

/// A message of the conversation.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Message {
    /// Role of the author: `system`, `developer`, `user`, `assistant` or `tool`.
    pub(crate) role: String,
    /// Content: a text or an array of parts.
    pub(crate) content: Value,
    /// Other fields of the message: `name`, `tool_call_id`, `tool_calls`.
    #[serde(flatten)]
    pub(crate) more: Map<String, Value>,
}

/// Builds the JSON body of the request.
pub(crate) fn body(args: &Args) -> Result<Vec<u8>, Error> {
    let messages = match (&args.messages, &args.prompt) {
        (Some(messages), None) if !messages.is_empty() => messages.iter().map(message).collect(),
        (None, Some(prompt)) => vec![json!({ "role": "user", "content": prompt })],
        _ => return Err(Error::invalid_input("pass either `messages` or `prompt`")),
    };
    if let Some(name) =
        ["model", "messages", "stream", "stream_options"].iter().find(|name| args.params.contains_key(**name))
    {
        return Err(Error::invalid_input(format!("params.{name} is not allowed: the plugin sets it")));
    }
    let mut body = args.params.clone();
    body.insert("model".to_owned(), json!(args.model));
    body.insert("messages".to_owned(), Value::Array(messages));
    body.insert("stream".to_owned(), json!(false));
    Ok(Value::Object(body).to_string().into_bytes())
}

fn message(message: &Message) -> Value {
    let mut fields = message.more.clone();
    fields.insert("role".to_owned(), json!(message.role));
    fields.insert("content".to_owned(), message.content.clone());
    Value::Object(fields)
}
