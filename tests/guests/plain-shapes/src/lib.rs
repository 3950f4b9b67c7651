//! Untyped component with functions over every WIT type, and some functions that misbehave.

wit_bindgen::generate!({
    inline: "
        package example:shapes@1.2.0;

        interface shapes {
            record point { x: s32, y: s32, label: option<string> }
            variant shape { dot, circle(f64), path(list<point>) }
            enum color { red, dark-green }
            flags style { bold, thin-line, dashed }
            record everything {
                truth: bool, tiny: s8, byte: u8, small: s16, word: u16, int: s32, nat: u32, long: s64, big: u64,
                single: f32, double: f64, letter: char, text: string, bytes: list<u8>, items: list<u64>,
                pair: tuple<u8, string>, shape: shape, color: color, style: style, maybe: option<option<u8>>,
                either: result<u8, string>, neither: result,
            }
            echo: func(all: everything) -> everything;
            far-corner: func(of: list<point>) -> option<point>;
        }

        world plain-shapes {
            use shapes.{color};
            export shapes;
            export add: func(a: u64, b: u64) -> u64;
            export divide: func(a: s32, b: s32) -> result<s32, string>;
            export pick: func(wanted: color) -> result<string, color>;
            export note: func(text: option<string>);
            export count: func() -> u32;
            export numbers: func(n: u32) -> list<u32>;
            export raw: func(n: u32) -> list<u8>;
            export nothing-number: func() -> f32;
            export panic: func();
            export spin: func();
            export grow: func();
        }
    ",
});

use std::cell::Cell;

use exports::example::shapes::shapes::{Everything, Guest as Shapes, Point};

thread_local! {
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

struct Plain;

impl Shapes for Plain {
    fn echo(all: Everything) -> Everything {
        all
    }
    fn far_corner(of: Vec<Point>) -> Option<Point> {
        of.into_iter().max_by_key(|point| i64::from(point.x) + i64::from(point.y))
    }
}

impl Guest for Plain {
    fn add(a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }
    fn divide(a: i32, b: i32) -> Result<i32, String> {
        a.checked_div(b).ok_or_else(|| format!("{a} cannot be divided by {b}"))
    }
    fn pick(wanted: Color) -> Result<String, Color> {
        match wanted {
            Color::Red => Ok("a rose".into()),
            Color::DarkGreen => Err(Color::DarkGreen),
        }
    }
    fn note(_text: Option<String>) {}
    fn count() -> u32 {
        CALLS.set(CALLS.get() + 1);
        CALLS.get()
    }
    fn numbers(n: u32) -> Vec<u32> {
        vec![7; n as usize]
    }
    fn raw(n: u32) -> Vec<u8> {
        vec![7; n as usize]
    }
    fn nothing_number() -> f32 {
        f32::NAN
    }
    fn panic() {
        panic!("on purpose")
    }
    fn spin() {
        loop {
            CALLS.set(CALLS.get().wrapping_add(1));
        }
    }
    fn grow() {
        let mut all = Vec::new();
        loop {
            all.push(vec![1_u8; 1 << 20]);
            std::hint::black_box(&all);
        }
    }
}

export!(Plain);
