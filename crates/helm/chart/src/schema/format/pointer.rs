//! Pointers into JSON, and UUIDs.

use super::{Checked, digits, refuse, shown};

pub(super) fn absolute(text: &str) -> Checked {
    if text.is_empty() {
        return Ok(());
    }
    let Some(rest) = text.strip_prefix('/') else { return refuse("not starting with /") };
    for part in rest.split('/') {
        let mut chars = part.chars();
        while let Some(c) = chars.next() {
            if c == '~' && !matches!(chars.next(), Some('0' | '1')) {
                return refuse("~ must be followed by 0 or 1");
            }
        }
    }
    Ok(())
}

pub(super) fn relative(text: &str) -> Checked {
    let count = digits(text);
    if count == 0 {
        return refuse("must start with non-negative integer");
    }
    if count > 1 && text.starts_with('0') {
        return refuse("starts with zero");
    }
    let rest = &text[count..];
    if rest == "#" { Ok(()) } else { absolute(rest) }
}

pub(super) fn uuid(text: &str) -> Checked {
    const LENGTHS: [usize; 5] = [8, 4, 4, 4, 12];
    let groups: Vec<_> = text.split('-').collect();
    if groups.len() != LENGTHS.len() {
        return refuse(format!("must have {} elements", LENGTHS.len()));
    }
    for (place, (group, length)) in groups.iter().zip(LENGTHS).enumerate() {
        if group.len() != length {
            return refuse(format!("element {} must be {length} characters long", place + 1));
        }
        if let Some(c) = group.chars().find(|c| !c.is_ascii_hexdigit()) {
            return refuse(format!("non-hex character {}", shown(c)));
        }
    }
    Ok(())
}
