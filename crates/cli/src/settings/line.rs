//! Parses the text of one option, `a.b=1,c[0].d=x,e={x,y}`, as Helm does; `\` escapes a character.

use serde_json::Value;

use super::SettingError;

/// The largest index: a typing error must not allocate a huge list.
pub(super) const MAX_INDEX: usize = 1024;

/// How values are parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// `true`, `false`, `null` and whole numbers without leading zeros are typed, all else is text.
    Typed,
    /// Always text.
    Text,
    /// JSON.
    Json,
}

/// One step of the path to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// The paths that a line sets, each with its value.
pub(super) fn read(line: &str, reading: Reading) -> Result<Vec<(Vec<Step>, Value)>, SettingError> {
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

/// Splits at the first unescaped character of `ends`: the text before, that character, and the rest.
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

fn path(line: &str) -> Result<(Vec<Step>, &str), SettingError> {
    let (mut steps, mut rest) = (vec![], line);
    loop {
        let (name, mut end, mut after) = until(rest, "=[,.");
        if name.is_empty() && end.is_some_and(|end| end != ',') {
            return Err(SettingError::EmptyKey(line.to_owned()));
        }
        steps.push(Step::Key(name));
        while end == Some('[') {
            let (index, _, behind) = until(after, "]");
            let index = index.parse().ok().filter(|index| *index <= MAX_INDEX);
            steps.push(Step::Index(index.ok_or_else(|| SettingError::InvalidIndex(line.to_owned()))?));
            end = behind.chars().next();
            after = behind.get(1..).unwrap_or_default();
        }
        match end {
            Some('=') => return Ok((steps, after)),
            Some('.') => rest = after,
            _ => return Err(SettingError::MissingEquals(line.to_owned())),
        }
    }
}

fn value<'a>(text: &'a str, scalar: &impl Fn(String) -> Value) -> Result<(Value, &'a str), SettingError> {
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
            None => return Err(SettingError::UnclosedList(text.to_owned())),
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

/// One JSON value; an empty text is null.
fn json(text: &str) -> Result<(Value, &str), SettingError> {
    let text = text.trim_start();
    if text.is_empty() || text.starts_with(',') {
        return Ok((Value::Null, text.get(1..).unwrap_or_default()));
    }
    let mut found = serde_json::Deserializer::from_str(text).into_iter();
    let value = found
        .next()
        .transpose()
        .map_err(|error| SettingError::InvalidJsonValue { text: text.to_owned(), error: error.to_string() })?;
    let after = text[found.byte_offset()..].trim_start();
    Ok((value.unwrap_or_default(), after.strip_prefix(',').unwrap_or(after)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_line_is_refused() {
        let wrong = |line: &str, reading| read(line, reading).unwrap_err().to_string();
        for (line, sentence) in [
            ("a", "'a' has no '=': expected KEY=VALUE"),
            ("a=1,b", "'b' has no '=': expected KEY=VALUE"),
            ("a..b=1", "'a..b=1' contains an empty key"),
            ("=1", "'=1' contains an empty key"),
            ("a[x]=1", "'a[x]=1': an index in brackets is a number from 0 to 1024"),
            ("a[1025]=1", "'a[1025]=1': an index in brackets is a number from 0 to 1024"),
            ("a[1", "'a[1' has no '=': expected KEY=VALUE"),
            ("a[0]é=1", "'a[0]é=1' has no '=': expected KEY=VALUE"),
            ("a={x", "'{x': a list ends with '}'"),
        ] {
            assert_eq!(wrong(line, Reading::Typed), sentence);
        }
        assert_eq!(wrong("a=x", Reading::Json), "'x' does not begin with JSON: expected value at line 1 column 1");
    }
}
