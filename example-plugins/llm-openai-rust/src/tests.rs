//! Tests of the plugin with a test host and a simulated provider.

use latchwork_guest::testing::Host;
use latchwork_guest::{Applied, Code};
use serde_json::{Value, json};

use super::*;

fn host(answer: impl Fn(&http::Request) -> Result<http::Response, http::Error> + 'static) -> Host {
    Host::new()
        .config("base_url", "https://api.example.com/v1/")
        .config("model_prices", json!({ "small": { "input": "0.15", "output": "0.60" } }))
        .secret("LLM_API_KEY", "latch-secret-placeholder")
        .http(answer)
}

fn args(value: Value) -> Args {
    serde_json::from_value(value).unwrap()
}

fn response(status: u16, headers: &[(&str, &str)], body: &Value) -> http::Response {
    let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    http::Response::new(status, headers, body.to_string().into_bytes())
}

fn completion() -> Value {
    json!({
        "id": "chatcmpl-1", "model": "small-2026-01", "usage": { "prompt_tokens": 812, "completion_tokens": 240 },
        "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": "Because." } }],
    })
}

fn ask(host: &Host, value: Value) -> Result<tool::Output<Reply>, Error> {
    host.run(|| chat(args(value), &tool::Context::default()))
}

fn refused(status: u16, headers: &'static [(&str, &str)]) -> Error {
    let body = json!({ "error": { "message": "key sk-1 is odd", "type": "t", "code": "c" } });
    ask(&host(move |_| Ok(response(status, headers, &body))), json!({ "model": "small", "prompt": "?" })).unwrap_err()
}

#[test]
fn request_has_the_form_of_the_chat_completions_api() {
    let host = host(|request| {
        assert_eq!((request.method(), request.url()), ("POST", "https://api.example.com/v1/chat/completions"));
        Ok(response(200, &[("x-request-id", "req_9")], &completion()))
    });
    let output = ask(&host, json!({ "model": "small", "prompt": "Why?", "params": { "max_tokens": 5 } })).unwrap();
    assert_eq!((output.result().text.as_str(), output.result().model.as_str()), ("Because.", "small-2026-01"));
    let body = request::body(&args(json!({
        "model": "small", "messages": [{ "role": "user", "content": "Why?", "name": "ada" }], "params": { "seed": 7 }
    })));
    let body: Value = serde_json::from_slice(&body.unwrap()).unwrap();
    let messages = json!([{ "role": "user", "content": "Why?", "name": "ada" }]);
    assert_eq!(body, json!({ "model": "small", "stream": false, "seed": 7, "messages": messages }));
}

#[test]
fn invalid_arguments_are_rejected() {
    for value in [
        json!({ "model": "small" }),
        json!({ "model": "small", "messages": [] }),
        json!({ "model": "small", "prompt": "?", "messages": [{ "role": "user", "content": "?" }] }),
        json!({ "model": "small", "prompt": "?", "params": { "stream": true } }),
    ] {
        assert_eq!(request::body(&args(value)).unwrap_err().code(), Code::InvalidInput);
    }
}

#[test]
fn provider_errors_map_to_failure_codes() {
    let slow = refused(429, &[("retry-after", "7")]);
    assert_eq!(slow.code(), Code::RateLimit);
    assert!(format!("{slow:?}").contains("retry_after_ms: Some(7000)"), "{slow:?}");
    let precise = refused(429, &[("retry-after", "7"), ("retry-after-ms", "250")]);
    assert!(format!("{precise:?}").contains("retry_after_ms: Some(250)"), "{precise:?}");
    let later =
        refused(429, &[("retry-after", "Sun, 06 Nov 1994 08:50:37 GMT"), ("date", "Sun, 06 Nov 1994 08:49:37 GMT")]);
    assert!(format!("{later:?}").contains("retry_after_ms: Some(60000)"), "{later:?}");
    let past =
        refused(429, &[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT"), ("date", "Sun, 06 Nov 1994 08:49:37 GMT")]);
    assert!(format!("{past:?}").contains("retry_after_ms: Some(0)"), "{past:?}");
    let undated = refused(429, &[("retry-after", "Sun, 06 Nov 1994 08:50:37 GMT")]);
    assert!(format!("{undated:?}").contains("retry_after_ms: None"), "{undated:?}");
    assert_eq!(refused(503, &[]).code(), Code::TemporaryProviderError);
    assert_eq!(refused(408, &[]).code(), Code::NetworkTimeout);
    for status in [301, 400, 404, 422] {
        assert_eq!(refused(status, &[]).code(), Code::InvalidInput, "{status}");
    }
    for status in [401, 403] {
        let denied = refused(status, &[]);
        assert_eq!((denied.code(), denied.applied()), (Code::AuthForbidden, Applied::No));
        assert!(!denied.message().contains("sk-1"), "words about keys are not repeated");
    }
    for body in ["", "{}", "<html>", r#"{"choices":[]}"#, r#"{"choices":[{"message":{}}]}"#] {
        let host = host(move |_| Ok(http::Response::new(200, vec![], body.as_bytes().to_vec())));
        let error = ask(&host, json!({ "model": "small", "prompt": "?" })).unwrap_err();
        assert_eq!(error.code(), Code::SchemaValidationFailed, "{body}");
    }
}

#[test]
fn costs_are_whole_millionths_rounded_up() {
    let price = |input: &str, output: &str| -> price::Price {
        serde_json::from_value(json!({ "input": input, "output": output })).unwrap()
    };
    assert_eq!(price("0.15", "0.60").of(812, 240).unwrap(), 266);
    assert_eq!(price("0.15", "0.60").of(1, 0).unwrap(), 1);
    assert_eq!(price("10", "0").of(u32::MAX, 0).unwrap(), u32::MAX);
    assert!(price("ten", "0").of(1, 0).is_err());
}

#[test]
fn credentials_go_into_a_header_as_a_placeholder() {
    let basic = Host::new()
        .config("base_url", "http://127.0.0.1:8080")
        .config("auth", "basic")
        .config("user", "me")
        .config("secret", "PASSWORD")
        .secret("PASSWORD", "placeholder");
    let headers = |host: &Host| host.run(|| Config::read().unwrap().headers().unwrap());
    let value = headers(&basic)[0].1.clone();
    assert_eq!(value, format!("Basic {}", config::base64(b"me:placeholder")));
    assert_eq!(headers(&host(|_| unreachable!()))[0].1, "Bearer latch-secret-placeholder");
    for (text, coded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
        assert_eq!(config::base64(text.as_bytes()), coded);
    }
    let none = Host::new().config("base_url", "http://127.0.0.1:8080").config("auth", "none");
    assert_eq!(headers(&none), []);
}
