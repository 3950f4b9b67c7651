//! The meaning of the members of an input for an action key: documents and lists that exist once, and subjects of effects
//! that recur.

use serde_json::Value;

use crate::check::variations::{YEARS, changed_members};

/// Parts of the names of members that name a document, and the least length of such a name in bytes.
const DOCUMENTS: [&str; 8] = ["invoice", "receipt", "ticket", "voucher", "claim", "payslip", "isbn", "serial"];
const DOCUMENT_MIN: usize = 3;

/// Parts of the names of members that name the subject of an effect that recurs, such as the rent of a tenant. With any other
/// member, a period can belong to the thing that the key names.
const SUBJECTS: [&str; 48] = [
    "account",
    "address",
    "apartment",
    "berth",
    "boiler",
    "branch",
    "card",
    "child",
    "client",
    "club",
    "company",
    "contract",
    "customer",
    "depot",
    "device",
    "donor",
    "driver",
    "email",
    "employee",
    "family",
    "farm",
    "flat",
    "garden",
    "house",
    "iban",
    "lease",
    "lift",
    "machine",
    "member",
    "meter",
    "owner",
    "parcel",
    "patient",
    "person",
    "phone",
    "plot",
    "pupil",
    "recipient",
    "resident",
    "room",
    "school",
    "site",
    "staff",
    "student",
    "subscri",
    "supplier",
    "tenant",
    "user",
];

/// Last words of the names of members that identify a list as a whole.
const IDENTIFIERS: [&str; 21] = [
    "id",
    "number",
    "no",
    "ref",
    "reference",
    "order",
    "batch",
    "code",
    "manifest",
    "shipment",
    "consignment",
    "delivery",
    "booking",
    "transfer",
    "docket",
    "waybill",
    "meeting",
    "slug",
    "version",
    "revision",
    "edition",
];

/// Minimum number of hexadecimal digits of a hash in a key.
const HASH_MIN: usize = 12;

/// A member that is a text or a number: its name and its text.
type NamedText = (String, String);

/// Returns true if an effect with this key recurs in each period: the key names a subject, or nothing of the input, and no
/// document.
pub(super) fn recurs(key: &str, input: &Value) -> bool {
    let named: Vec<NamedText> = members_of(input, true).into_iter().filter(|(_, text)| contains(key, text)).collect();
    let is_subject = |(name, _): &NamedText| SUBJECTS.iter().any(|part| name.to_lowercase().contains(part));
    let is_known = match named.is_empty() {
        true => key.split(|c: char| !c.is_ascii_hexdigit()).all(|part| part.len() < HASH_MIN),
        false => named.iter().any(is_subject),
    };
    is_known && !names_document(key, input)
}

/// Returns true if a key contains a document or an identifier of the input itself. The elements of such a list stay.
pub(super) fn names_identity(key: &str, input: &Value) -> bool {
    let is_named = |(name, text): &NamedText| is_identifier(name) && contains(key, text);
    names_document(key, input) || members_of(input, false).iter().any(is_named)
}

/// Returns inputs in which a member that identifies the list is another one.
pub(super) fn identity_changes(input: &Value, schema: &Value, is_allowed: impl Fn(&Value) -> bool) -> Vec<Value> {
    changed_members(input, schema, is_identifier, is_allowed)
}

/// Returns true if a key needs no year of its period: it contains four digits that can be a year, or names a document of the
/// input, such as an invoice. A document exists once.
pub(super) fn needs_no_year(key: &str, input: &Value) -> bool {
    let mut digits = key.split(|c: char| !c.is_ascii_digit()).filter(|part| part.len() == 4);
    let has_year = digits.any(|part| part.parse().is_ok_and(|year: i64| YEARS.contains(&year)));
    has_year || names_document(key, input)
}

/// Returns true if a key contains the text of a member that names a document.
fn names_document(key: &str, input: &Value) -> bool {
    members_of(input, true).iter().any(|(name, text)| {
        let name = name.to_lowercase();
        DOCUMENTS.iter().any(|part| name.contains(part)) && text.len() >= DOCUMENT_MIN && contains(key, text)
    })
}

fn is_identifier(name: &str) -> bool {
    IDENTIFIERS.contains(&last_word(name).as_str()) || DOCUMENTS.iter().any(|part| name.to_lowercase().contains(part))
}

/// Returns true if a key contains a text, in any case. A short text must be a whole word of the key.
fn contains(key: &str, text: &str) -> bool {
    let (key, text) = (key.to_lowercase(), text.to_lowercase());
    match text.len() {
        0 => false,
        length if length < DOCUMENT_MIN => key.split(|c: char| !c.is_alphanumeric()).any(|word| word == text),
        _ => key.contains(&text),
    }
}

/// Returns the texts and numbers of an input, each with the name of its member, with those of arrays or without them.
fn members_of(input: &Value, with_arrays: bool) -> Vec<NamedText> {
    let (mut pending, mut members) = (vec![(String::new(), input)], vec![]);
    while let Some((name, value)) = pending.pop() {
        match value {
            Value::String(text) => members.push((name, text.clone())),
            Value::Number(number) => members.push((name, number.to_string())),
            Value::Array(elements) if with_arrays => {
                pending.extend(elements.iter().map(|element| (name.clone(), element)));
            }
            Value::Object(object) => pending.extend(object.iter().map(|(name, value)| (name.clone(), value))),
            _ => {}
        }
    }
    members
}

/// Returns the last word of a name such as `order_id` or `orderId`, in lower case.
fn last_word(name: &str) -> String {
    let last = name.rsplit(['_', '-']).next().unwrap_or_default();
    let has_lower = last.contains(|c: char| c.is_ascii_lowercase());
    let start = last.rfind(|c: char| c.is_ascii_uppercase()).filter(|_| has_lower).unwrap_or_default();
    last[start..].to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_words_identify_a_list() {
        let found = ["order_id", "orderId", "Id", "ID", "grid", "batch-no", "piano"].map(last_word);
        assert_eq!(found, ["id", "id", "id", "id", "grid", "no", "piano"]);
        let input = serde_json::json!({ "orderNo": "A-17", "paid": "yes!", "hymn": { "edition": 3 } });
        assert!(names_identity("order A-17/1", &input) && names_identity("[3,1]", &input));
        assert!(!names_identity("yes!/1", &input) && !names_identity("31", &input));
    }

    #[test]
    fn effects_of_subjects_recur() {
        let input = |name: &str| serde_json::json!({ "month": "2026-03", name: "A-17" });
        for (key, name) in [("rent A-17", "tenant"), ("rent a-17", "customerNo"), ("digest", "article")] {
            assert!(recurs(key, &input(name)), "{key} {name}");
        }
        for (key, name) in [("add A-17", "article"), ("add-f0c0ae8ac222cded", "tenant"), ("rent A-17", "memberInvoice")]
        {
            assert!(!recurs(key, &input(name)), "{key} {name}");
        }
    }
}
