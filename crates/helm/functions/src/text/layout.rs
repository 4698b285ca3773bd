//! Texts with something put in, left out or repeated.

use fitout_go_template::{Error, Value, rune};
use memchr::{memchr_iter, memmem};

use super::{INT, TEXT};
use crate::argument::{int, text};
use crate::declare::Declare;

/// The longest text that is made by repetition. Go goes on until the machine has no memory left.
const LONGEST: usize = 1 << 28;

pub(super) fn add(declare: &mut Declare<'_>) {
    declare.panicking(&["indent"], &[INT, TEXT], TEXT, |a| indented(b"", int(&a[0]), text(&a[1])));
    declare.panicking(&["nindent"], &[INT, TEXT], TEXT, |a| indented(b"\n", int(&a[0]), text(&a[1])));
    declare.panicking(&["repeat"], &[INT, TEXT], TEXT, |a| repeated(int(&a[0]), text(&a[1])).map(Value::string));
    declare.panicking(&["replace"], &[TEXT, TEXT, TEXT], TEXT, |a| replaced(&a[2], text(&a[0]), text(&a[1])));
    declare.plain(&["nospace"], &[TEXT], TEXT, |a| without_space(&a[0]));
    declare.plain(&["initials"], &[TEXT], TEXT, |a| initials(text(&a[0])));
    declare.plain(&["plural"], &[TEXT, TEXT, INT], TEXT, |a| if int(&a[2]) == 1 { a[0].clone() } else { a[1].clone() });
}

/// How many, if that is possible.
fn count(count: i64, width: usize) -> Result<usize, Error> {
    let count = usize::try_from(count).map_err(|_| Error::new("strings: negative Repeat count"))?;
    match count.checked_mul(width) {
        Some(length) if length <= LONGEST => Ok(count),
        Some(length) if i64::try_from(length).is_ok() => {
            Err(Error::new(format!("the text would be longer than {LONGEST} bytes")))
        }
        _ => Err(Error::new("strings: Repeat output length overflow")),
    }
}

fn repeated(times: i64, text: &[u8]) -> Result<Vec<u8>, Error> {
    Ok(if times == 1 { text.to_vec() } else { text.repeat(count(times, text.len())?) })
}

/// Each line with so many spaces before it.
fn indented(before: &[u8], spaces: i64, text: &[u8]) -> Result<Value, Error> {
    let spaces = count(spaces, 1)?;
    let lines = 1 + memchr_iter(b'\n', text).count();
    count(i64::try_from(lines).unwrap_or(i64::MAX), spaces)?;
    let mut indented = Vec::with_capacity(before.len() + text.len() + lines * spaces);
    indented.extend_from_slice(before);
    indented.resize(indented.len() + spaces, b' ');
    let mut begin = 0;
    for end in memchr_iter(b'\n', text) {
        indented.extend_from_slice(&text[begin..=end]);
        indented.resize(indented.len() + spaces, b' ');
        begin = end + 1;
    }
    indented.extend_from_slice(&text[begin..]);
    Ok(Value::string(indented))
}

/// `strings.ReplaceAll`: where nothing is looked for, it is found around each rune.
fn replaced(value: &Value, old: &[u8], new: &[u8]) -> Result<Value, Error> {
    let text = text(value);
    let places: Vec<usize> = if old == new {
        Vec::new()
    } else if old.is_empty() {
        rune::all(text).map(|rune| rune.begin).chain([text.len()]).collect()
    } else {
        memmem::find_iter(text, old).collect()
    };
    if places.is_empty() {
        return Ok(value.clone());
    }
    count(i64::try_from(places.len()).unwrap_or(i64::MAX), new.len())?;
    let mut replaced = Vec::with_capacity(text.len() + places.len() * new.len() - places.len() * old.len());
    let mut begin = 0;
    for place in places {
        replaced.extend_from_slice(&text[begin..place]);
        replaced.extend_from_slice(new);
        begin = place + old.len();
    }
    replaced.extend_from_slice(&text[begin..]);
    Ok(Value::string(replaced))
}

/// Without space. If there is any, every byte becomes a character: the library goes through bytes.
fn without_space(value: &Value) -> Value {
    let text = text(value);
    let kept: String = text.iter().map(|byte| char::from(*byte)).filter(|c| !c.is_whitespace()).collect();
    if kept.chars().count() == text.len() { value.clone() } else { Value::string(kept) }
}

/// The first byte of each word, as a character.
fn initials(text: &[u8]) -> Value {
    let mut begins = true;
    let begins_word = |byte: &u8| {
        let space = char::from(*byte).is_whitespace();
        let first = begins && !space;
        begins = space;
        first.then_some(char::from(*byte))
    };
    Value::string(text.iter().filter_map(begins_word).collect::<String>())
}
