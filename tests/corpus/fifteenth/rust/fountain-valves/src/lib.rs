//! Estimates the pump load of a fountain show, scene by scene.

use latchwork_guest::{Error, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The controller of the fountain has 64 valves, numbered from 0.
const VALVES: u32 = 64;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Show {
    title: String,
    scenes: Vec<Scene>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Scene {
    /// Start of the scene within the show, in milliseconds.
    at_ms: u32,
    /// Numbers of the valves that are open during the scene.
    open: Vec<u32>,
}

/// Arguments of the tool that models the pumps. The controller uses the same form.
#[derive(Serialize)]
struct Estimate {
    at_ms: u32,
    /// Bit `n` is set if valve `n` is open.
    valves: u64,
}

#[derive(Deserialize)]
struct Load {
    litres_per_minute: u32,
    bar: f64,
}

#[derive(Serialize, JsonSchema)]
struct SceneLoad {
    at_ms: u32,
    open: u32,
    litres_per_minute: u32,
    bar: f64,
}

#[derive(Serialize, JsonSchema)]
struct Report {
    title: String,
    scenes: Vec<SceneLoad>,
    peak_litres_per_minute: u32,
}

/// Packs the numbers of the open valves into the register of the controller.
fn register(scene: &Scene) -> Result<u64, Error> {
    scene.open.iter().try_fold(0_u64, |register, &valve| {
        if valve >= VALVES {
            return Err(Error::invalid_input(format!("scene at {} ms: there is no valve {valve}", scene.at_ms)));
        }
        Ok(register | 1 << valve)
    })
}

fn estimate(show: Show, _: &step::Context) -> Result<Report, Error> {
    if !show.scenes.is_sorted_by(|a, b| a.at_ms < b.at_ms) {
        return Err(Error::invalid_input("the scenes are not in the order of their starts"));
    }
    let registers = show.scenes.iter().map(register).collect::<Result<Vec<_>, _>>()?;

    let calls = show
        .scenes
        .iter()
        .zip(&registers)
        .map(|(scene, &valves)| tools::Call::new("Pump.Estimate", &Estimate { at_ms: scene.at_ms, valves }));
    let loads = tools::call_all::<Load>(calls).into_iter().collect::<Result<Vec<_>, _>>()?;

    let scenes: Vec<SceneLoad> = show
        .scenes
        .iter()
        .zip(registers)
        .zip(loads)
        .map(|((scene, register), load)| SceneLoad {
            at_ms: scene.at_ms,
            open: register.count_ones(),
            litres_per_minute: load.litres_per_minute,
            bar: load.bar,
        })
        .collect();
    let peak = scenes.iter().map(|scene| scene.litres_per_minute).max().unwrap_or(0);
    Ok(Report { title: show.title, scenes, peak_litres_per_minute: peak })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        // Pump.Estimate is a model without state and has the class pure.
        step::operator("Fountain.Estimate", estimate).describe("Estimates the pump load of each scene of a show."),
    ],
}
