//! JSON Schemas of Rust types, and conversion from and to JSON text.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Error, finite};

/// Returns the schemas of the input type and of the output type.
pub(crate) fn schemas_of<I: JsonSchema, O: JsonSchema>() -> (String, String) {
    let settings = SchemaSettings::draft2020_12();
    let input = settings.clone().for_deserialize().into_generator().into_root_schema_for::<I>();
    let output = settings.for_serialize().into_generator().into_root_schema_for::<O>();
    (input.to_value().to_string(), output.to_value().to_string())
}

/// Parses the input or arguments that the host passed.
pub(crate) fn parse_json<T: DeserializeOwned>(operator: &str, text: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|error| Error::invalid_input(format!("invalid input of {operator}: {error}")))
}

/// Serializes a result for the host.
pub(crate) fn to_json<T: Serialize>(operator: &str, value: &T) -> Result<String, Error> {
    finite::to_string(value)
        .map_err(|error| Error::schema_validation_failed(format!("output of {operator} is not JSON: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Serialize, serde::Deserialize, JsonSchema)]
    struct Letter {
        to: String,
        #[serde(default)]
        copies: u32,
    }

    #[test]
    fn defaulted_field_is_optional_in_input_and_required_in_output() {
        let (input, output) = schemas_of::<Letter, Letter>();
        let required = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap()["required"].clone();
        assert_eq!(required(&input), serde_json::json!(["to"]));
        assert_eq!(required(&output), serde_json::json!(["to", "copies"]));
    }

    #[test]
    fn wrong_input_is_invalid_input() {
        let error = parse_json::<Letter>("Letter.Write", r#"{"copies":1}"#).err().unwrap();
        assert_eq!(error.code(), crate::Code::InvalidInput);
        assert!(error.message().contains("missing field `to`"), "{error}");
    }
}
