//! Compares the schema of `latch.toml` with its parser.

use serde_json::{Value, json};

use super::{Document, agree, validator};
use crate::config::{Config, LoadOptions};
use crate::located_toml::keys_read;

/// Renders a document as TOML: each top-level key on its own line, all nested values inline.
pub(super) fn toml_of(document: &Value) -> String {
    fn inline(value: &Value) -> String {
        match value {
            Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
            Value::Object(fields) => {
                let field = |(key, value): (&String, &Value)| format!("{} = {}", json!(key), inline(value));
                format!("{{ {} }}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
            }
            plain => plain.to_string(),
        }
    }
    let fields = document.as_object().into_iter().flatten();
    fields.map(|(key, value)| format!("{} = {}\n", json!(key), inline(value))).collect()
}

fn accepts(config: &Value) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("latch.toml"), toml_of(config)).unwrap();
    let options = LoadOptions { cwd: folder.path(), config: None, db: None, plan_folder: None, env: &|_| None };
    let read = Config::load(&options).map(drop);
    read.map_err(|errors| errors.0.iter().map(|p| format!("{}: {}", p.key, p.message)).collect::<Vec<_>>().join("; "))
}

/// A configuration that contains every known key.
fn complete() -> Value {
    json!({
        "database": "sqlite://latch.db", "commit": "staged", "effect_store": "sqlite://effects.db",
        "durability": "full", "failover": "synchronous", "on_indeterminate": "park", "confirmation": "strict",
        "lease": "15s", "heartbeat": "5s", "clock_margin": "2s", "max_attempts_without_progress": 5,
        "keep_undoable": "60days",
        "state_dir": ".latch",
        "validators": { "run": ["static", "sandbox", "no-op"] },
        "notify": { "webhook": "https://hooks.example.com/latch", "events": ["gate_requested", "job_failed"], "headers": { "Authorization": "Bearer ${HOOK}" },
                    "timeout": "10s", "allow_http": false },
        "policy": { "default": {
            "modes": ["DRY_RUN", "AUTO_EXEC"], "standing_approvals": true, "auto_exec": true, "auto_exec_min_trust": 3,
            "trust": { "ada/Mail.Send": 3 }, "require": { "Web.Fetch": ["citations", "verified"] }, "version": 7,
            "gate": { "effects": ["external_send", "internal_write"], "tags": ["money"], "expires": "72h", "quorum": 2,
                      "self_approve": false, "reason": true },
            "budget": { "per_job_usd": "1.00", "per_month_usd": "50" },
        } },
        "worker": { "jobs": 16, "drain": "40s", "tenants": { "acme": 4 },
                    "operators": { "Mail.Send": { "at_once": 2, "rate": "30/1m" } } },
        "queue": { "pending": 100, "tenants": { "acme": 10 } },
        "plugin": [
            {
                "name": "mail", "source": "mail.wasm", "wasi": "none",
                "digest": format!("sha256:{}", "ab".repeat(32)),
                "grants": { "http": ["https://api.example.com:443"], "tcp": ["smtp.example.com:587"],
                            "dirs": [{ "host": "outbox", "guest": "/outbox", "write": true }],
                            "secrets": ["MAIL_TOKEN"], "secrets_clear": false, "kv": "mail" },
                "limits": { "memory": "64MiB", "fuel": 1_000_000_000, "timeout": "30s", "output": "1MiB",
                            "host_calls": 10_000 },
                "retry": { "max": 5, "base": "500ms", "cap": "10s" },
                "on_indeterminate": "fail", "confirmation": "warn",
                "verifier": { "name": "etag", "headers": { "Accept": "text/plain" } },
                "config": { "from": "me@example.org",
                            "model_prices": { "small": { "input": "0.15", "output": "0.60" } } },
            },
            {
                "name": "plain", "source": "plain", "wasi": "virtual", "verifier": "file-digest",
                "grants": { "dirs": [{ "host": "a", "guest": "/a" }] },
                "operators": {
                    "left-out": false,
                    "f": { "name": "A.B", "description": "d", "effects": ["read_only"], "determinism": "pure",
                           "outcome_type": "T", "outcome_status": "draft" },
                },
            },
        ],
    })
}

/// I151: schema and parser accept the same configurations. [`BEYOND`] lists the only exception.
#[test]
fn schema_and_parser_agree() {
    agree(Document::Config, &complete(), &BEYOND, accepts);
}

/// The only change that the schema accepts and the parser refuses. In the complete document, the heartbeat
/// becomes longer than half of the lease.
const BEYOND: [&str; 1] = ["/heartbeat := \"30s\""];

/// I151: every key that the parser reads must be in the complete document, and therefore in the schema.
#[test]
fn complete_document_has_every_key_the_parser_reads() {
    let document = complete();
    accepts(&document).unwrap();
    let missing: Vec<_> = keys_read::keys().into_iter().filter(|pointer| document.pointer(pointer).is_none()).collect();
    // The two plugins have different keys. A key may be missing in one of them if the other one has it.
    let elsewhere = |pointer: &String| {
        let other = match pointer.strip_prefix("/plugin/1/") {
            Some(rest) => format!("/plugin/0/{rest}"),
            None => pointer.replace("/plugin/0/", "/plugin/1/"),
        };
        document.pointer(&other).is_some()
    };
    let missing: Vec<_> = missing.into_iter().filter(|pointer| !elsewhere(pointer)).collect();
    assert_eq!(missing, Vec::<String>::new(), "keys that neither the complete document nor the schema has");
    assert!(validator(Document::Config).is_valid(&document));
}
