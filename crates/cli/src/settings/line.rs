//! What one option sets: `a.b=1,c[0].d=x,e={x,y}`, read as Helm reads it, with `\` before a character that is meant as
//! itself.

use serde_json::Value;

/// The longest list that an index may call for: a slip of the finger is not to fill the memory.
const MAX_INDEX: usize = 1024;

/// What the values on a line are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// `true`, `false`, `null` and whole numbers without leading zeros are what they look like, all else is text.
    Typed,
    /// Text, whatever they look like.
    Text,
    /// JSON.
    Json,
}

/// One step on the way to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// The places that a line sets, each with its value; an error is a sentence.
pub(super) fn read(line: &str, reading: Reading) -> Result<Vec<(Vec<Step>, Value)>, String> {
    let (mut rest, mut found) = (line, vec![]);
    while !rest.is_empty() {
        let (path, after) = path(rest)?;
        let (value, after) = match reading {
            Reading::Json => json(after)?,
            Reading::Typed => value(after, &typed)?,
            Reading::Text => value(after, &Value::String)?,
        };
        found.push((path, value));
        rest = after;
    }
    Ok(found)
}

/// What comes before the first of these characters, which of them it is, and what comes after it.
fn until<'a>(text: &'a str, ends: &str) -> (String, Option<char>, &'a str) {
    let (mut found, mut letters) = (String::new(), text.chars());
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => found.extend(letters.next()),
            _ if ends.contains(letter) => return (found, Some(letter), letters.as_str()),
            _ => found.push(letter),
        }
    }
    (found, None, "")
}

fn path(line: &str) -> Result<(Vec<Step>, &str), String> {
    let (mut steps, mut rest) = (vec![], line);
    loop {
        let (name, mut end, mut after) = until(rest, "=[,.");
        if name.is_empty() && end.is_some_and(|end| end != ',') {
            return Err(format!("'{line}' has an empty name in it"));
        }
        steps.push(Step::Key(name));
        while end == Some('[') {
            let (index, _, behind) = until(after, "]");
            let index = index.parse().ok().filter(|index| *index <= MAX_INDEX);
            let wrong = || format!("'{line}': in brackets there is a number from 0 to {MAX_INDEX}");
            steps.push(Step::Index(index.ok_or_else(wrong)?));
            end = behind.chars().next();
            after = behind.get(1..).unwrap_or_default();
        }
        match end {
            Some('=') => return Ok((steps, after)),
            Some('.') => rest = after,
            _ => return Err(format!("'{line}' has no '=': a value is set with KEY=VALUE")),
        }
    }
}

fn value<'a>(text: &'a str, scalar: &impl Fn(String) -> Value) -> Result<(Value, &'a str), String> {
    let Some(mut rest) = text.strip_prefix('{') else {
        let (found, _, after) = until(text, ",");
        return Ok((scalar(found), after));
    };
    let mut list = vec![];
    loop {
        let (item, end, after) = until(rest, ",}");
        list.push(scalar(item));
        match end {
            Some('}') => return Ok((Value::Array(list), after.strip_prefix(',').unwrap_or(after))),
            Some(_) => rest = after,
            None => return Err(format!("'{text}': a list ends with '}}'")),
        }
    }
}

fn typed(text: String) -> Value {
    match text.to_ascii_lowercase().as_str() {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "null" => Value::Null,
        "0" => Value::from(0),
        _ => match text.parse::<i64>() {
            Ok(number) if !text.starts_with('0') => Value::from(number),
            _ => Value::String(text),
        },
    }
}

/// One JSON value; nothing at all is null.
fn json(text: &str) -> Result<(Value, &str), String> {
    let text = text.trim_start();
    if text.is_empty() || text.starts_with(',') {
        return Ok((Value::Null, text.get(1..).unwrap_or_default()));
    }
    let mut found = serde_json::Deserializer::from_str(text).into_iter();
    let value = found.next().transpose().map_err(|error| format!("'{text}' does not begin with JSON: {error}"))?;
    let after = text[found.byte_offset()..].trim_start();
    Ok((value.unwrap_or_default(), after.strip_prefix(',').unwrap_or(after)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_line_is_refused_with_a_sentence() {
        let wrong = |line: &str, reading| read(line, reading).unwrap_err();
        for (line, sentence) in [
            ("a", "'a' has no '=': a value is set with KEY=VALUE"),
            ("a=1,b", "'b' has no '=': a value is set with KEY=VALUE"),
            ("a..b=1", "'a..b=1' has an empty name in it"),
            ("=1", "'=1' has an empty name in it"),
            ("a[x]=1", "'a[x]=1': in brackets there is a number from 0 to 1024"),
            ("a[1025]=1", "'a[1025]=1': in brackets there is a number from 0 to 1024"),
            ("a[1", "'a[1' has no '=': a value is set with KEY=VALUE"),
            ("a[0]é=1", "'a[0]é=1' has no '=': a value is set with KEY=VALUE"),
            ("a={x", "'{x': a list ends with '}'"),
        ] {
            assert_eq!(wrong(line, Reading::Typed), sentence);
        }
        assert_eq!(wrong("a=x", Reading::Json), "'x' does not begin with JSON: expected value at line 1 column 1");
    }
}
