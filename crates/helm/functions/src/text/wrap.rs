//! Lines of a width.

use fitout_go_template::Value;
use memchr::{memchr, memrchr};

use super::{INT, TEXT};
use crate::argument::{int, text};
use crate::declare::Declare;

pub(super) fn add(declare: &mut Declare<'_>) {
    declare.plain(&["wrap"], &[INT, TEXT], TEXT, |a| wrapped(text(&a[1]), int(&a[0]), b"", false));
    declare.plain(&["wrapWith"], &[INT, TEXT, TEXT], TEXT, |a| wrapped(text(&a[2]), int(&a[0]), text(&a[1]), true));
}

/// A text in lines that are at most so many bytes wide. A longer word has a line to itself, or is cut.
fn wrapped(text: &[u8], width: i64, line_end: &[u8], cut: bool) -> Value {
    let line_end = if line_end.is_empty() { b"\n" } else { line_end };
    let width = usize::try_from(width).unwrap_or(0).max(1);
    let mut lines = Vec::with_capacity(text.len() + text.len() / width);
    let mut rest = text;
    while rest.len() > width {
        if rest[0] == b' ' {
            rest = &rest[1..];
            continue;
        }
        let (line, after) = match memrchr(b' ', &rest[..=width]) {
            Some(space) => (space, space + 1),
            None if cut => (width, width),
            None => match memchr(b' ', &rest[width..]) {
                Some(space) => (width + space, width + space + 1),
                None => break,
            },
        };
        lines.extend_from_slice(&rest[..line]);
        lines.extend_from_slice(line_end);
        rest = &rest[after..];
    }
    lines.extend_from_slice(rest);
    Value::string(lines)
}
