//! Turns the order of an optician into the ticket that travels with the tray through the lens workshop.

use std::collections::BTreeMap;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Order {
    /// Number of the order in the shop.
    #[schemars(range(min = 1, max = 9_999_999))]
    number: u32,
    #[schemars(length(min = 1, max = 60))]
    frame: String,
    right: Eye,
    left: Eye,
    /// Wishes that the shop wrote down, by keyword, such as `tint` or `engraving`.
    #[serde(default)]
    wishes: BTreeMap<String, String>,
}

/// Prescription of one eye, in hundredths of a dioptre.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Eye {
    #[schemars(range(min = -2000, max = 2000))]
    sphere: i32,
    #[schemars(range(min = -600, max = 600))]
    #[serde(default)]
    cylinder: i32,
    /// Axis of the cylinder in degrees.
    #[schemars(range(max = 180))]
    #[serde(default)]
    axis: u16,
}

#[derive(Serialize, JsonSchema)]
struct Ticket {
    number: u32,
    frame: String,
    blank: &'static str,
    right: String,
    left: String,
    /// The wishes are printed as further lines of the ticket.
    #[serde(flatten)]
    wishes: BTreeMap<String, String>,
}

/// The workshop grinds minus cylinders only. A plus cylinder is written with the axis turned by a right angle.
fn minus_form(eye: Eye) -> Eye {
    if eye.cylinder <= 0 {
        return eye;
    }
    let axis = if eye.axis > 90 { eye.axis - 90 } else { eye.axis + 90 };
    Eye { sphere: eye.sphere + eye.cylinder, cylinder: -eye.cylinder, axis }
}

fn dioptres(hundredths: i32) -> String {
    let sign = if hundredths < 0 { '-' } else { '+' };
    format!("{sign}{}.{:02}", hundredths.abs() / 100, hundredths.abs() % 100)
}

fn line(eye: Eye) -> String {
    match eye.cylinder {
        0 => dioptres(eye.sphere),
        cylinder => format!("{} {} x {}", dioptres(eye.sphere), dioptres(cylinder), eye.axis),
    }
}

fn prepare(order: Order, _: &step::Context) -> Result<Ticket, Error> {
    let eyes = [minus_form(order.right), minus_form(order.left)];
    if eyes.iter().any(|eye| eye.sphere % 25 != 0 || eye.cylinder % 25 != 0) {
        return Err(Error::invalid_input("the workshop grinds in steps of a quarter of a dioptre"));
    }
    if order.wishes.len() > 20 {
        return Err(Error::invalid_input("the ticket has room for 20 wishes"));
    }
    if order.wishes.iter().any(|(name, wish)| name.chars().count() > 40 || wish.chars().count() > 200) {
        return Err(Error::invalid_input("a wish has at most 40 characters of keyword and 200 of text"));
    }
    let strongest = eyes.iter().map(|eye| eye.sphere.abs().max((eye.sphere + eye.cylinder).abs())).max().unwrap_or(0);
    let blank = match strongest {
        0..=400 => "1.50",
        401..=800 => "1.60",
        _ => "1.74",
    };
    // Keywords are printed in lower case. Wishes without text stay away.
    let wishes = order
        .wishes
        .into_iter()
        .map(|(name, wish)| (name.trim().to_lowercase(), wish.trim().to_owned()))
        .filter(|(name, wish)| !name.is_empty() && !wish.is_empty())
        .collect();
    Ok(Ticket { number: order.number, frame: order.frame, blank, right: line(eyes[0]), left: line(eyes[1]), wishes })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [step::operator("Lens.Prepare", prepare).describe("Makes the workshop ticket of a lens order.")],
}
