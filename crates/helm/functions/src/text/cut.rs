//! Parts of texts.

use fitout_go_template::{Error, Value};

use super::affix::part;
use super::{INT, TEXT};
use crate::argument::{int, text};
use crate::declare::Declare;

pub(super) fn add(declare: &mut Declare<'_>) {
    declare.panicking(&["substr"], &[INT, INT, TEXT], TEXT, |a| {
        Ok(part(&a[2], substring(int(&a[0]), int(&a[1]), text(&a[2]))?))
    });
    declare.plain(&["trunc"], &[INT, TEXT], TEXT, |a| part(&a[1], truncated(int(&a[0]), text(&a[1]))));
    declare.plain(&["abbrev"], &[INT, TEXT], TEXT, |a| match int(&a[0]) {
        ..4 => a[1].clone(),
        width => abbreviated(&a[1], 0, width),
    });
    declare.plain(&["abbrevboth"], &[INT, INT, TEXT], TEXT, |a| match (int(&a[0]), int(&a[1])) {
        (_, ..4) | (1.., ..7) => a[2].clone(),
        (left, right) => abbreviated(&a[2], left, right),
    });
}

fn length(text: &[u8]) -> i64 {
    i64::try_from(text.len()).unwrap_or(i64::MAX)
}

/// A text from its beginning, to its end, or from one place to another.
fn substring(start: i64, end: i64, text: &[u8]) -> Result<&[u8], Error> {
    let len = length(text);
    let beyond = |range: String| Error::new(format!("runtime error: slice bounds out of range {range}"));
    let at = |place: i64| usize::try_from(place).unwrap_or(0);
    if start < 0 {
        return match end {
            ..0 => Err(beyond(format!("[:{end}]"))),
            _ if end > len => Err(beyond(format!("[:{end}] with length {len}"))),
            _ => Ok(&text[..at(end)]),
        };
    }
    let end = if end < 0 || end > len { len } else { end };
    if start > end {
        return Err(beyond(format!("[{start}:{end}]")));
    }
    Ok(&text[at(start)..at(end)])
}

/// So many bytes at the beginning, or at the end where there are less than none.
fn truncated(count: i64, text: &[u8]) -> &[u8] {
    let kept = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    match count {
        _ if kept >= text.len() => text,
        ..0 => &text[text.len() - kept..],
        _ => &text[..kept],
    }
}

/// A text that is at most so wide, with dots for what is left out. What is at the offset stays, if there is one.
fn abbreviated(value: &Value, offset: i64, width: i64) -> Value {
    let text = text(value);
    let (len, kept) = (length(text), width - 3);
    if text.is_empty() || len <= width {
        return value.clone();
    }
    let mut offset = offset.min(len);
    // An offset far below zero wraps around, as it does in Go.
    if len.wrapping_sub(offset) < kept {
        offset = len - kept;
    }
    let at = |place: i64| usize::try_from(place).unwrap_or(0);
    if offset <= 4 {
        return Value::string([&text[..at(kept)], b"..."].concat());
    }
    if width < 7 {
        return "".into();
    }
    let end = if offset + kept < len {
        // Of what begins there, again abbreviated.
        let inner = abbreviated(&Value::string(&text[at(offset)..]), 0, kept);
        return Value::string([b"...", crate::argument::text(&inner)].concat());
    } else {
        &text[at(len - kept)..]
    };
    Value::string([b"...", end].concat())
}
