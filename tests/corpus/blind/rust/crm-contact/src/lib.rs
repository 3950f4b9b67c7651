use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, config, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Contact {
    name: String,
    mail: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Added {
    id: String,
}

fn contacts() -> Result<String, Error> {
    Ok(format!("{}/contacts", config::require::<String>("crm")?))
}

fn add(contact: Contact, context: &tool::Context) -> Result<Output<Added>, Error> {
    if !contact.mail.contains('@') {
        return Err(Error::invalid_input(format!("{} is no address", contact.mail)));
    }
    let body = json!({ "name": contact.name, "mail": contact.mail, "source": context.external_key() });
    let response =
        http::Request::post(&contacts()?).header("content-type", "application/json").body(body.to_string()).send()?;
    match response.status() {
        201 => {}
        400 | 409 | 422 => return Err(Error::invalid_input("the CRM refused the contact")),
        status => return Err(Error::temporary_provider_error(format!("the CRM answered {status}"))),
    }
    let made: Value = serde_json::from_slice(response.body()).unwrap_or_default();
    match made["id"].as_str() {
        Some(id) => Ok(added(id)),
        None => Err(Error::schema_validation_failed("the CRM returned no id")),
    }
}

fn added(id: &str) -> Output<Added> {
    Output::new(Added { id: id.to_owned() }).change(Change::new("contact", id, "create"))
}

fn find(_: Contact, key: &str) -> Result<Verdict<Output<Added>>, Error> {
    let response = http::Request::get(&format!("{}?source={key}", contacts()?)).send()?;
    let found: Value = serde_json::from_slice(response.body()).unwrap_or_default();
    Ok(match found["contacts"][0]["id"].as_str() {
        Some(id) => Verdict::Happened(added(id)),
        None => Verdict::DidNotHappen,
    })
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("CrmContact.Add", add)
            .describe("Adds a contact to the CRM.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(10))
            .reconcile(find),
    ],
    exports: [reconcile],
}
