//! Parses an HTML page into blocks of visible text.

/// One block of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// `h1` to `h6`.
    Heading { level: u8, text: String },
    /// A paragraph, a list item or a table cell.
    Text(String),
}

/// The visible content of a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Page {
    pub blocks: Vec<Block>,
    /// Addresses of the `mailto:` links, in the order of the page.
    pub mailto: Vec<String>,
}

/// Elements whose text is not visible or not content.
const HIDDEN: [&str; 5] = ["script", "style", "head", "nav", "template"];
/// Elements that do not start or end a block.
const INLINE: [&str; 16] =
    ["a", "abbr", "b", "cite", "code", "em", "i", "mark", "q", "small", "span", "strong", "sub", "sup", "time", "u"];

/// Parses a page. Accepts any text and skips unknown markup.
pub fn parse(html: &str) -> Page {
    let mut page = Page::default();
    let mut text = String::new();
    let mut heading: Option<u8> = None;
    let mut rest = html;
    while let Some(open) = rest.find('<') {
        text.push_str(&rest[..open]);
        rest = &rest[open..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        let named = rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '!');
        let Some(close) = rest.find('>').filter(|_| named) else {
            text.push('<');
            rest = &rest[1..];
            continue;
        };
        let tag = &rest[1..close];
        rest = &rest[close + 1..];
        let (closing, tag) = tag.strip_prefix('/').map_or((false, tag), |tag| (true, tag));
        let end = tag.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(tag.len());
        let name = tag[..end].to_ascii_lowercase();
        if name == "a" && !closing {
            page.mailto.extend(mailto(tag));
        }
        if INLINE.contains(&name.as_str()) {
            continue;
        }
        flush(&mut text, heading, &mut page.blocks);
        heading = match name.as_bytes() {
            [b'h', level @ b'1'..=b'6'] if !closing => Some(level - b'0'),
            _ => None,
        };
        if !closing && HIDDEN.contains(&name.as_str()) {
            rest = after_element(rest, &name);
        }
    }
    text.push_str(rest);
    flush(&mut text, heading, &mut page.blocks);
    page
}

fn flush(text: &mut String, heading: Option<u8>, blocks: &mut Vec<Block>) {
    let read = decode(&std::mem::take(text)).split_whitespace().collect::<Vec<_>>().join(" ");
    if !read.is_empty() {
        blocks.push(match heading {
            Some(level) => Block::Heading { level, text: read },
            None => Block::Text(read),
        });
    }
}

/// Returns the text after the end tag of an element.
fn after_element<'a>(rest: &'a str, name: &str) -> &'a str {
    // ASCII lower case keeps all byte positions, so a position in `lower` is valid in `rest`.
    let lower = rest.to_ascii_lowercase();
    match lower.find(&format!("</{name}")) {
        Some(at) => rest[at..].split_once('>').map_or("", |(_, after)| after),
        None => "",
    }
}

fn mailto(tag: &str) -> Option<String> {
    let at = tag.to_ascii_lowercase().find("mailto:")?;
    let address = &tag[at + "mailto:".len()..];
    let end = address.find(['"', '\'', '?', ' ', '>']).unwrap_or(address.len());
    Some(decode(&address[..end]))
}

/// Replaces numeric character references and common named character references.
fn decode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let found = rest.find(';').filter(|end| *end <= 10).and_then(|end| Some((character(&rest[1..end])?, end + 1)));
        let (c, length) = found.unwrap_or(('&', 1));
        out.push(c);
        rest = &rest[length..];
    }
    out + rest
}

fn character(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" | "ldquo" | "rdquo" => '"',
        "apos" | "lsquo" | "rsquo" => '\'',
        "nbsp" => ' ',
        "ndash" => '\u{2013}',
        "mdash" => '\u{2014}',
        "middot" => '\u{b7}',
        "auml" => 'ä',
        "ouml" => 'ö',
        "uuml" => 'ü',
        "eacute" => 'é',
        "egrave" => 'è',
        numbered => {
            let number = numbered.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_returns_visible_text_blocks() {
        let page = parse(
            "<html><head><title>x</title></head><body><H1 class='n'>Ada &amp; Co.</H1>\
             <script>if (a < b) { '<p>no</p>' }</script><!-- <p>no</p> -->\
             <p>One <b>bold</b>\n word, 1 < 2.</p><ul><li>a&#233;<li>b</ul>",
        );
        assert_eq!(
            page.blocks,
            [
                Block::Heading { level: 1, text: "Ada & Co.".into() },
                Block::Text("One bold word, 1 < 2.".into()),
                Block::Text("aé".into()),
                Block::Text("b".into()),
            ]
        );
    }

    #[test]
    fn mail_links_give_addresses() {
        let page = parse("<a href=\"mailto:ada@example.org?subject=hi\">write</a> <a href='/x'>x</a>");
        assert_eq!(page.mailto, ["ada@example.org"]);
    }

    #[test]
    fn any_text_can_be_parsed() {
        for text in ["", "<", "<<<>", "a & b &unknown; &#xffffffff;", "<p", "</", "<script>never closed", "<!--"] {
            parse(text);
        }
        assert_eq!(parse("a & b &unknown;").blocks, [Block::Text("a & b &unknown;".into())]);
    }
}
