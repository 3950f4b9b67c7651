use crate::text::*;

fn plain(text: impl Into<Text>, width: usize) -> String {
    text.into().render(TextTarget { color: false, width: Some(width) })
}

#[test]
fn styles_surround_text_and_are_never_escaped() {
    let text = Tone::Bad.of("error[L0003]:") + " \u{1b}[2Jgone\nnext";
    let colored = TextTarget { color: true, width: None };
    assert_eq!(text.render(colored), "\u{1b}[1m\u{1b}[31merror[L0003]:\u{1b}[0m \\u{1b}[2Jgone\nnext\n");
    assert_eq!(text.render(TextTarget::PLAIN), "error[L0003]: \\u{1b}[2Jgone\nnext\n");
}

#[test]
fn styles_in_untrusted_text_are_escaped() {
    let text = Tone::Good.of("\u{1b}[32mfake\u{1b}[0m");
    assert_eq!(text.render(TextTarget::PLAIN), "\\u{1b}[32mfake\\u{1b}[0m\n");
    assert_eq!(Tone::Good.of("a\nb").render(TextTarget::PLAIN), "a\\nb\n");
}

#[test]
fn lines_wrap_at_blanks_with_indented_continuation() {
    assert_eq!(plain("  alpha beta gamma delta", 14), "  alpha beta\n      gamma\n      delta\n");
    assert_eq!(plain("sha256:0123456789", 8), "sha256:0\n12345678\n9\n");
    assert_eq!(
        Text::unwrapped("latch job approve").render(TextTarget { color: false, width: Some(6) }),
        "latch job approve\n"
    );
}

#[test]
fn wide_characters_count_two_columns() {
    assert_eq!(plain("漢字漢字 ab", 8), "漢字漢字\nab\n");
}

#[test]
fn cells_wrap_inside_their_column() {
    let rows = [["step_with_a_long_name".to_owned(), "waits for the signal".to_owned(), "x".to_owned()]];
    let text = plain(table(["step", "state", ""], &rows).indented(2), 30);
    assert!(text.lines().all(|line| line.chars().count() <= 30), "{text}");
    assert_eq!(text.lines().next().map(str::trim_end), Some("  step                state"));
    assert_eq!(plain(table(["a", "b"], &[["x".to_owned(), "y".to_owned()]]), 30), "a  b\nx  y\n");
}

#[test]
fn last_column_moves_below_when_words_would_break() {
    let row = |cells: [&str; 4]| cells.map(str::to_owned);
    let rows = [
        row(["read", "Effect.Read", "SUCCEEDED", ""]),
        row(["send-a-message", "Effect.Opaque", "WAITING_APPROVAL", "REQUIRES_APPROVAL"]),
    ];
    let text = plain(table(["step", "operator", "state", ""], &rows).indented(2), 50);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let expected = [
        "  step            operator       state",
        "  read            Effect.Read    SUCCEEDED",
        "  send-a-message  Effect.Opaque  WAITING_APPROVAL",
        "      REQUIRES_APPROVAL",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn redrawn_lines_are_truncated_at_the_edge() {
    assert_eq!(Text::from("  s1  running").truncate(false, 8), ["  s1  r…"]);
}

/// I131: a command in backquotes stays in one piece on a terminal of any width.
#[test]
fn commands_in_backquotes_are_not_broken() {
    let text = Text::from("it is parked; `latch job show job_1234567890` tells (`latch worker`) more of it");
    for width in 20..80 {
        let rendered = text.render(TextTarget { color: false, width: Some(width) });
        for command in ["`latch job show job_1234567890`", "(`latch worker`)"] {
            assert!(rendered.lines().any(|line| line.contains(command)), "{width}: {rendered}");
        }
        assert_eq!(rendered.split_whitespace().collect::<Vec<_>>().join(" "), text.plain(), "{width}");
    }
    assert_eq!(Text::from("a:").with_command("latch b").plain(), "a:\n  latch b");
}
