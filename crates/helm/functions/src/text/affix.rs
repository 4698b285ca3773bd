//! The ends of texts, and what is in them.

use fitout_go_template::{Type, Value, rune};
use memchr::memmem;

use super::TEXT;
use crate::argument::text;
use crate::declare::Declare;

pub(super) fn add(declare: &mut Declare<'_>) {
    declare.plain(&["trim"], &[TEXT], TEXT, |a| part(&a[0], trim_space(text(&a[0]))));
    declare.plain(&["trimAll", "trimall"], &[TEXT, TEXT], TEXT, |a| part(&a[1], trim(text(&a[1]), text(&a[0]))));
    declare.plain(&["trimPrefix"], &[TEXT, TEXT], TEXT, |a| {
        text(&a[1]).strip_prefix(text(&a[0])).map_or_else(|| a[1].clone(), |rest| part(&a[1], rest))
    });
    declare.plain(&["trimSuffix"], &[TEXT, TEXT], TEXT, |a| {
        text(&a[1]).strip_suffix(text(&a[0])).map_or_else(|| a[1].clone(), |rest| part(&a[1], rest))
    });
    declare.plain(&["hasPrefix"], &[TEXT, TEXT], Type::Bool, |a| text(&a[1]).starts_with(text(&a[0])).into());
    declare.plain(&["hasSuffix"], &[TEXT, TEXT], Type::Bool, |a| text(&a[1]).ends_with(text(&a[0])).into());
    declare
        .plain(&["contains"], &[TEXT, TEXT], Type::Bool, |a| memmem::find(text(&a[1]), text(&a[0])).is_some().into());
}

/// A part of a text; all of it is shared.
pub(super) fn part(whole: &Value, part: &[u8]) -> Value {
    if part.len() == text(whole).len() { whole.clone() } else { Value::string(part) }
}

/// `strings.TrimSpace`.
fn trim_space(text: &[u8]) -> &[u8] {
    trim_while(text, char::is_whitespace)
}

/// `strings.Trim`. A byte that is no UTF-8 is among the characters if they have such a byte, or U+FFFD.
fn trim<'t>(text: &'t [u8], characters: &[u8]) -> &'t [u8] {
    if characters.is_ascii() {
        return trim_while(text, |c| u8::try_from(c).is_ok_and(|byte| characters.contains(&byte)));
    }
    let characters: Vec<char> = rune::all(characters).map(|rune| rune.char).collect();
    trim_while(text, |c| characters.contains(&c))
}

fn trim_while(mut text: &[u8], matches: impl Fn(char) -> bool) -> &[u8] {
    while let (c, width @ 1..) = rune::first(text)
        && matches(c)
    {
        text = &text[width..];
    }
    while let width @ 1.. = rune::last_width(text)
        && matches(rune::first(&text[text.len() - width..]).0)
    {
        text = &text[..text.len() - width];
    }
    text
}
