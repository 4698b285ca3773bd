//! Strings, once they are found: escapes get their meaning.

/// A string of many lines without the break that follows its opening quotes.
pub(crate) fn without_first_break(text: &str) -> &str {
    text.strip_prefix('\n').or_else(|| text.strip_prefix("\r\n")).unwrap_or(text)
}

/// A string without line breaks that are escaped, and without the space after them.
pub(crate) fn without_escaped_breaks(mut text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut from = 0;
    while let Some(at) = text[from..].find('\\').map(|ahead| from + ahead) {
        let after = &text[at + 1..];
        if after.starts_with('\\') {
            from = at + 2;
            continue;
        }
        let rest = after.trim_start_matches([' ', '\t', '\r', '\n']);
        let space = &after[..after.len() - rest.len()];
        if !space.contains('\n') {
            from = at + 1;
            continue;
        }
        joined.push_str(&text[..at]);
        text = rest;
        from = 0;
    }
    joined.push_str(text);
    joined
}

/// A string with its escapes replaced. The lexer has seen to it that they are complete.
pub(crate) fn unescaped(text: &str) -> Result<String, String> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let letter = after.chars().next().unwrap_or_default();
        let digits = match letter {
            'b' => one(&mut plain, '\x08'),
            't' => one(&mut plain, '\t'),
            'n' => one(&mut plain, '\n'),
            'f' => one(&mut plain, '\x0c'),
            'r' => one(&mut plain, '\r'),
            'e' => one(&mut plain, '\x1b'),
            'x' => 2,
            'u' => 4,
            'U' => 8,
            ' ' | '\t' => return Err(format!("invalid escape: '\\{letter}'")),
            other => one(&mut plain, other),
        };
        let code = after.get(letter.len_utf8()..letter.len_utf8() + digits).unwrap_or_default();
        if digits > 0 {
            let c = u32::from_str_radix(code, 16).ok().and_then(char::from_u32);
            plain.push(c.ok_or_else(|| format!("Escaped character '\\u{code}' is not valid UTF-8."))?);
        }
        rest = &after[letter.len_utf8() + code.len()..];
    }
    plain.push_str(rest);
    Ok(plain)
}

/// Pushes a character for which there are no digits.
fn one(plain: &mut String, c: char) -> usize {
    plain.push(c);
    0
}
