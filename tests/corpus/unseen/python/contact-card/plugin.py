from dataclasses import dataclass

from latchwork import step


@dataclass
class Contact:
    name: str
    fields: dict[str, str]


@dataclass
class Card:
    title: str
    phone: str
    city: str


@step("Contact.Card", determinism="pure")
def card(contact: Contact, context) -> Card:
    """Makes a card of a contact."""
    phone = contact.fields.get("phone")
    if phone is not None:
        phone = phone.replace(" ", "")
    return Card(contact.name.title(), phone, contact.fields.get("city", "unknown"))
