//! `latch init`: creates a project that is ready to run.

use serde_json::json;

use latchwork_core::model::error_docs;
use latchwork_core::response::shell_quoted;
use latchwork_tooling::build;
use latchwork_tooling::build::{InitError, Lang, NewProject};

use crate::args::InitArgs;
use crate::context::CommandContext;
use crate::error::{CliError, Exit};
use crate::text::{Text, Tone, table};

pub(crate) fn run(args: &InitArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let lang = args.lang.map_or_else(build::suggested_language, Lang::from);
    let dir: std::path::PathBuf = ctx.cwd.join(&args.dir).components().collect();
    let made = NewProject { dir: dir.clone(), lang }.write().map_err(|error| match error {
        InitError::Exists(_) | InitError::NotFolder(_) => CliError::input(error_docs::INIT_REFUSED, error.to_string()),
        InitError::Write(why) => CliError::unwritable_build(&why)
            .unwrap_or_else(|| CliError::failed(error_docs::INIT_REFUSED, why.to_string())),
    })?;
    let displayed = dir.strip_prefix(&ctx.cwd).unwrap_or(&dir).display().to_string();
    let mut next = vec!["latch run plan.json --build".to_owned()];
    if dir != ctx.cwd {
        next.insert(0, format!("cd {}", shell_quoted(&displayed)));
    }
    let document = json!({
        "dir": dir.display().to_string(), "lang": lang.as_str(), "made": made.entries, "main": made.main.display().to_string(),
        "next_actions": next,
    });
    let place = if displayed.is_empty() { "this folder" } else { displayed.as_str() };
    ctx.answer(&document, || {
        let rows: Vec<_> = made.entries.iter().map(|entry| [(*entry).to_owned(), about(entry, lang)]).collect();
        // `table` expects a header row. The list of files has no header, so the first file takes this place.
        let (first, rest) = rows.split_first().expect("a project has files");
        let files = table([first[0].as_str(), first[1].as_str()], rest).indented(2);
        let mut text = Text::from(format!("made a project in {place}:")).under(files);
        if made.gitignore_existed {
            text = text.under(".gitignore was there and is unchanged: add latch.db* and .latch/ to it");
        }
        if args.lang.is_none() {
            text = text.under(format!("{} is the default on this machine; --lang names another", name(lang)));
        }
        text = text.under(Tone::Title.of("next:"));
        next.iter().fold(text, |text, command| text.under(Text::unwrapped(format!("  {command}"))))
    });
    Ok(Exit::Done)
}

fn about(entry: &str, lang: Lang) -> String {
    match entry {
        "latch.toml" => "the plugins, and what they are granted".to_owned(),
        "plan.json" => "the steps of a job".to_owned(),
        ".gitignore" => "leaves out the database and what is built".to_owned(),
        _ => format!("a plugin in {}", name(lang)),
    }
}

fn name(lang: Lang) -> &'static str {
    match lang {
        Lang::Rust => "Rust",
        Lang::Js => "JavaScript",
        Lang::Python => "Python",
        Lang::C => "C",
        Lang::Go => "Go",
    }
}
