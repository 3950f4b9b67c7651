//! `Warden.Notify`: mails a notice to the warden of a hut, or keeps it for the next visit of the warden.

use latchwork_guest::{Applied, Code, Determinism, Effect, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Notice {
    /// Name of the hut.
    hut: String,
    /// Mail address of the warden.
    warden: String,
    /// Guests that arrive.
    guests: u32,
    /// Evening of the arrival, such as `2026-02-14`.
    evening: String,
}

#[derive(Deserialize)]
struct Sent {
    message_id: String,
}

#[derive(Deserialize)]
struct Kept {
    key: String,
}

/// Way on which the warden gets the notice.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Channel {
    Mail,
    Note,
}

#[derive(Serialize, JsonSchema)]
struct Notified {
    channel: Channel,
    /// Message-ID of the mail, or key of the note.
    reference: String,
}

fn notify(notice: Notice, _: &step::Context) -> Result<Notified, Error> {
    if notice.guests == 0 {
        return Err(Error::invalid_input(format!("no guest arrives at {}", notice.hut)));
    }
    if !notice.warden.contains('@') {
        return Err(Error::invalid_input(format!("{} is no mail address", notice.warden)));
    }
    let subject = format!("{}: {} guests on {}", notice.hut, notice.guests, notice.evening);
    let body = format!("Please prepare beds and supper for {} guests on {}.\n", notice.guests, notice.evening);
    let mail = json!({ "to": notice.warden, "subject": subject, "body": body });
    let failure = match tools::call::<_, Sent>("Mail.Send", &mail) {
        Ok(sent) => {
            return Ok(Notified { channel: Channel::Mail, reference: sent.message_id });
        }
        Err(failure) => failure,
    };
    // A mail that may be on its way is left to the person who runs the job.
    if failure.applied() == Applied::Unknown || failure.code() == Code::InvalidInput {
        return Err(failure.context("mailing the warden"));
    }
    log::warn!("no mail to {}: {failure}", notice.warden);
    let kept: Kept = tools::call("Notes.Keep", &json!({ "text": format!("{subject}\n{body}") }))?;
    Ok(Notified { channel: Channel::Note, reference: kept.key })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Warden.Notify", notify)
            .describe("Tells the warden of a hut about arriving guests.")
            .effects([Effect::ExternalSend])
            .determinism(Determinism::External),
    ],
}
