//! Upper, lower and title case.

use fitout_go_template::{Value, rune};

use super::TEXT;
use super::character::{is_lower, is_title, is_upper, to_lower, to_title, to_upper};
use crate::argument::text;
use crate::declare::Declare;

pub(super) fn add(declare: &mut Declare<'_>) {
    declare.plain(&["upper"], &[TEXT], TEXT, |a| match text(&a[0]) {
        ascii if ascii.is_ascii() => Value::string(ascii.to_ascii_uppercase()),
        other => changed(other, to_upper),
    });
    declare.plain(&["lower"], &[TEXT], TEXT, |a| match text(&a[0]) {
        ascii if ascii.is_ascii() => Value::string(ascii.to_ascii_lowercase()),
        other => changed(other, to_lower),
    });
    declare.plain(&["title"], &[TEXT], TEXT, |a| title(text(&a[0])));
    declare.plain(&["untitle"], &[TEXT], TEXT, |a| untitle(text(&a[0])));
    declare.plain(&["swapcase"], &[TEXT], TEXT, |a| swap(text(&a[0])));
}

/// Each rune changed; what is no UTF-8 becomes U+FFFD.
fn changed(text: &[u8], mut change: impl FnMut(char) -> char) -> Value {
    let mut changed = Vec::with_capacity(text.len());
    for rune in rune::all(text) {
        rune::push(&mut changed, change(rune.char));
    }
    Value::string(changed)
}

/// `strings.Title`: only what begins a word is changed.
fn title(text: &[u8]) -> Value {
    let mut previous = ' ';
    changed(text, |c| {
        let begins = !rune::is_alphanumeric(previous) && (previous.is_ascii() || previous.is_whitespace());
        previous = c;
        if begins { to_title(c) } else { c }
    })
}

fn untitle(text: &[u8]) -> Value {
    let mut begins = true;
    changed(text, |c| {
        if c.is_whitespace() {
            begins = true;
            c
        } else if std::mem::take(&mut begins) {
            to_lower(c)
        } else {
            c
        }
    })
}

fn swap(text: &[u8]) -> Value {
    let mut after_space = true;
    changed(text, |c| {
        if is_upper(c) || is_title(c) {
            after_space = false;
            to_lower(c)
        } else if is_lower(c) {
            if std::mem::take(&mut after_space) { to_title(c) } else { to_upper(c) }
        } else {
            after_space = c.is_whitespace();
            c
        }
    })
}
