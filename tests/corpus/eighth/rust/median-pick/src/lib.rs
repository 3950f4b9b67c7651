use latchwork_guest::{Error, rng, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Samples {
    values: Vec<i32>,
}

#[derive(Serialize, JsonSchema)]
struct Median {
    median: f64,
    samples: usize,
}

/// Returns the value that is at `rank` in sorted order, in linear time on average.
fn select(mut values: Vec<i32>, mut rank: usize) -> i32 {
    loop {
        let pivot = values[rng::below(values.len() as u32) as usize];
        let smaller: Vec<i32> = values.iter().copied().filter(|value| *value < pivot).collect();
        let equal = values.iter().filter(|value| **value == pivot).count();
        if rank < smaller.len() {
            values = smaller;
        } else if rank < smaller.len() + equal {
            return pivot;
        } else {
            rank -= smaller.len() + equal;
            values.retain(|value| *value > pivot);
        }
    }
}

fn median(input: Samples, _: &step::Context) -> Result<Median, Error> {
    let samples = input.values.len();
    if samples == 0 {
        return Err(Error::invalid_input("there are no samples"));
    }
    let high = f64::from(select(input.values.clone(), samples / 2));
    let median = if samples % 2 == 1 { high } else { (high + f64::from(select(input.values, samples / 2 - 1))) / 2.0 };
    Ok(Median { median, samples })
}

latchwork_guest::export_step! {
    version: "0.1.0",
    operators: [step::operator("Samples.Median", median).describe("Computes the median of samples.")],
}
