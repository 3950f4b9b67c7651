//! `Maze.Carve`: carves a maze for a hedge garden. The walk has no recursion: it keeps its way back in a list.

use latchwork_guest::{Determinism, Error, clock, rng, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const LARGEST: usize = 40;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Garden {
    #[schemars(range(min = 2, max = 40))]
    width: usize,
    #[schemars(range(min = 2, max = 40))]
    height: usize,
    /// Number of hedges that are opened at the end, so that the maze has loops.
    #[schemars(range(min = 0, max = 20))]
    #[serde(default)]
    gaps: usize,
}

#[derive(Serialize, JsonSchema)]
struct Maze {
    /// The maze as text: `#` is a hedge, a space is a path.
    rows: Vec<String>,
    longest_way_back: usize,
    carved_at: String,
}

fn carve(garden: Garden, _: &step::Context) -> Result<Maze, Error> {
    let Garden { width, height, gaps } = garden;
    if !(2..=LARGEST).contains(&width) || !(2..=LARGEST).contains(&height) {
        return Err(Error::invalid_input(format!("a side has 2 to {LARGEST} cells")));
    }
    let mut hedge = vec![vec![true; width * 2 + 1]; height * 2 + 1];
    hedge[1][1] = false;
    let mut way = vec![(0usize, 0usize)];
    let mut longest = 1;
    // Each round opens a cell or goes back by one, so there are fewer than two rounds for each cell.
    while let Some(&(x, y)) = way.last() {
        let mut next = Vec::with_capacity(4);
        for (right, down) in [(1i32, 0i32), (0, 1), (-1, 0), (0, -1)] {
            let (Some(to_x), Some(to_y)) = (x.checked_add_signed(right as isize), y.checked_add_signed(down as isize))
            else {
                continue;
            };
            if to_x < width && to_y < height && hedge[to_y * 2 + 1][to_x * 2 + 1] {
                next.push((to_x, to_y));
            }
        }
        if next.is_empty() {
            way.pop();
            continue;
        }
        let (to_x, to_y) = next[rng::below(next.len() as u32) as usize];
        hedge[y + to_y + 1][x + to_x + 1] = false;
        hedge[to_y * 2 + 1][to_x * 2 + 1] = false;
        way.push((to_x, to_y));
        longest = longest.max(way.len());
    }
    for _ in 0..gaps.min(20) {
        // An inner hedge between two cells of the same row.
        let y = rng::below(height as u32) as usize * 2 + 1;
        let x = (rng::below(width as u32 - 1) as usize + 1) * 2;
        hedge[y][x] = false;
    }
    let rows = hedge.iter().map(|row| row.iter().map(|&full| if full { '#' } else { ' ' }).collect()).collect();
    Ok(Maze { rows, longest_way_back: longest, carved_at: clock::now().to_string() })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        // Stable: the maze differs between jobs.
        step::operator("Maze.Carve", carve).describe("Carves a maze.").determinism(Determinism::Stable),
    ],
}
