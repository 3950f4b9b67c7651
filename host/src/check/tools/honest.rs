//! D100, D101, D105, D110, D111 and D112: one call while all servers work.

use latchwork_core::effect::Answer;
use latchwork_core::error::Code;
use latchwork_core::manifest::Class;

use super::{Called, Running, said};
use crate::capability::grant::DECLARE_EFFECTS;

/// Minimum length of a checked secret, in bytes. A shorter one could occur in a text by chance.
const SECRET_BYTES_MIN: usize = 4;

pub(super) async fn run(running: &mut Running<'_>) -> std::io::Result<()> {
    let world = running.world()?;
    let called = running.call(&world, 0).await;
    let requests = world.received();
    answered(running, &called, &said(&called.end.answer, &world));
    denied(running, &called);
    secrets(running, &called);
    if running.class == Class::Keyed {
        let key = running.key();
        for request in requests.iter().filter(|request| request.changes() && !request.has(&key)) {
            let message = format!(
                "{} {} changes something but does not carry the external key, by which the server would recognize a \
                 repetition",
                request.method, request.url
            );
            let hint = "send the key of the call's context in the header or field in which the server expects it";
            running.broke("D101", message).hint = Some(hint.to_owned());
        }
    }
    Ok(())
}

/// Checks that the call ended as the case expects.
fn answered(running: &mut Running<'_>, called: &Called, shown: &str) {
    let failure = match &called.end.answer {
        Answer::Ok(_) => {
            if let Some(expected) = running.case.error.clone() {
                let finding = running.broke("D100", format!("it succeeds, but the case expects {expected}"));
                (finding.expected, finding.found) = (Some(expected), Some(shown.to_owned()));
            }
            return;
        }
        Answer::NotApplied(failure) | Answer::Unknown { failure, .. } => failure,
    };
    let expected = running.case.error.as_deref();
    if failure.code == Code::SchemaValidationFailed && expected != Some(failure.code.as_str()) {
        running.broke("D110", format!("its answer does not match its output schema: {}", failure.message));
        return;
    }
    if ended(failure.code) {
        running.broke("D100", format!("it does not answer: {}", failure.message));
        return;
    }
    match running.case.error.clone() {
        Some(expected) if expected == failure.code.as_str() => {}
        expected => {
            let wanted = expected.unwrap_or_else(|| "an answer".to_owned());
            let finding = running.broke("D100", format!("it fails, but the case expects {wanted}"));
            (finding.expected, finding.found) = (Some(wanted), Some(shown.to_owned()));
        }
    }
}

/// Returns true if the host had to end the guest with this code.
pub(super) fn ended(code: Code) -> bool {
    matches!(
        code,
        Code::PluginTrap
            | Code::OutOfFuel
            | Code::MemoryLimit
            | Code::StackOverflow
            | Code::WallClockLimit
            | Code::OutputLimit
            | Code::Internal
    )
}

/// Reports everything that the host denied to the call.
fn denied(running: &mut Running<'_>, called: &Called) {
    for line in called.log.lines().filter(|line| line.contains("denied: plugin")) {
        let what = line.split_once("denied: plugin ").map_or(line, |(_, rest)| rest);
        let what = what.split_once("\" ").map_or(what, |(_, rest)| rest);
        let (rule, hint) = match line.contains(DECLARE_EFFECTS) {
            true => ("D105", "declare what it changes, or only read"),
            false => ("D112", "grant it in its [[plugin]], or leave it alone"),
        };
        let what = what.split("; ").next().unwrap_or(what).trim_end();
        running.broke(rule, format!("it {what}, which the host refuses")).hint = Some(hint.to_owned());
    }
}

/// Reports secrets that occur in the answer or in the log.
fn secrets(running: &mut Running<'_>, called: &Called) {
    let told = match &called.end.answer {
        Answer::Ok(output) => format!("{output:?}"),
        Answer::NotApplied(failure) | Answer::Unknown { failure, .. } => format!("{failure:?}"),
    };
    let secrets: Vec<(String, String)> = running.case.secrets.clone().into_iter().collect();
    for (name, value) in secrets.iter().filter(|(_, value)| value.len() >= SECRET_BYTES_MIN) {
        for (place, text) in [("answer", &told), ("log", &called.log)] {
            if text.contains(value) {
                let message = format!("the secret {name} appears in clear in its {place}");
                let hint = "keep credentials out of texts; without secrets_clear the tool never sees them";
                running.broke("D111", message).hint = Some(hint.to_owned());
            }
        }
    }
}
