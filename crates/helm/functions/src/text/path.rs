//! Paths with slashes.

use fitout_go_template::{Type, Value};
use memchr::memrchr;

use super::TEXT;
use super::affix::part;
use crate::argument::text;
use crate::declare::Declare;

pub(super) fn add(declare: &mut Declare<'_>) {
    // Helm runs on machines whose own paths are such.
    declare.plain(&["base", "osBase"], &[TEXT], TEXT, |a| part(&a[0], base(text(&a[0]))));
    declare.plain(&["dir", "osDir"], &[TEXT], TEXT, |a| {
        let path = text(&a[0]);
        Value::string(clean(&path[..memrchr(b'/', path).map_or(0, |slash| slash + 1)]))
    });
    declare.plain(&["clean", "osClean"], &[TEXT], TEXT, |a| Value::string(clean(text(&a[0]))));
    declare.plain(&["ext", "osExt"], &[TEXT], TEXT, |a| part(&a[0], extension(text(&a[0]))));
    declare.plain(&["isAbs", "osIsAbs"], &[TEXT], Type::Bool, |a| text(&a[0]).starts_with(b"/").into());
}

/// `path.Base`: the last element.
fn base(path: &[u8]) -> &[u8] {
    if path.is_empty() {
        return b".";
    }
    let Some(last) = path.iter().rposition(|byte| *byte != b'/') else { return b"/" };
    let path = &path[..=last];
    &path[memrchr(b'/', path).map_or(0, |slash| slash + 1)..]
}

/// `path.Ext`: from the last dot of the last element on.
fn extension(path: &[u8]) -> &[u8] {
    let name = &path[memrchr(b'/', path).map_or(0, |slash| slash + 1)..];
    memrchr(b'.', name).map_or(&[], |dot| &name[dot..])
}

/// `path.Clean`: the shortest path to the same place.
fn clean(path: &[u8]) -> Vec<u8> {
    let rooted = path.first() == Some(&b'/');
    let mut kept: Vec<&[u8]> = Vec::new();
    for element in path.split(|byte| *byte == b'/') {
        match element {
            b"" | b"." => {}
            b".." => match kept.last() {
                Some(last) if **last != *b".." => drop(kept.pop()),
                _ if rooted => {}
                _ => kept.push(element),
            },
            _ => kept.push(element),
        }
    }
    let joined = kept.join(&b'/');
    match (rooted, joined.is_empty()) {
        (true, _) => [b"/", &*joined].concat(),
        (false, true) => b".".to_vec(),
        (false, false) => joined,
    }
}
