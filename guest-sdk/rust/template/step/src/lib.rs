use latchwork_guest::{Determinism, Error, clock, log, rng, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Person {
    name: String,
}

#[derive(Serialize, JsonSchema)]
struct Greeting {
    greeting: String,
    id: String,
    at: String,
}

fn greet(person: Person, context: &step::Context) -> Result<Greeting, Error> {
    if person.name.trim().is_empty() {
        return Err(Error::invalid_input("the name is empty"));
    }
    log::info!("greeting {} for {}", person.name, context.actor());
    Ok(Greeting { greeting: format!("Hello, {}!", person.name), id: rng::uuid(), at: clock::now().to_string() })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        // Stable and not pure: equal input gives a different id in each job.
        step::operator("{{Noun}}.Greet", greet).describe("Greets a person by name.").determinism(Determinism::Stable),
    ],
}

#[cfg(test)]
mod tests {
    use latchwork_guest::testing::Host;

    use super::*;

    fn greeted(host: &Host, name: &str) -> Result<Greeting, Error> {
        host.run(|| greet(Person { name: name.into() }, &step::Context::default()))
    }

    #[test]
    fn greets_a_person_by_name() {
        let host = Host::new();
        let made = greeted(&host, "Ada").unwrap();
        assert_eq!((made.greeting.as_str(), made.id.len()), ("Hello, Ada!", 36));
        assert_eq!(host.logs(), [(log::Level::Info, "greeting Ada for ada".to_owned())]);
    }

    #[test]
    fn rejects_an_empty_name() {
        assert!(greeted(&Host::new(), " ").is_err());
    }
}
