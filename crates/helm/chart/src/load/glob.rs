//! Go's `filepath.Match`.

/// A pattern that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bad;

/// Whether a pattern matches all of a name. A star and a question mark match no slash.
pub(crate) fn matches(pattern: &str, name: &str) -> Result<bool, Bad> {
    const SPECIAL: [char; 4] = ['*', '?', '[', '\\'];
    // Most patterns are a name, or the end of one.
    if !pattern.contains(SPECIAL) {
        return Ok(pattern == name);
    }
    if let Some(end) = pattern.strip_prefix('*').filter(|end| !end.contains(SPECIAL)) {
        return Ok(name.strip_suffix(end).is_some_and(|start| !start.contains('/')));
    }
    let (mut pattern, mut name) = (pattern, name);
    while !pattern.is_empty() {
        let (star, chunk, rest) = next_chunk(pattern);
        pattern = rest;
        if star && chunk.is_empty() {
            return Ok(!name.contains('/'));
        }
        let after = match_chunk(chunk, name)?;
        if let Some(after) = after
            && (after.is_empty() || !pattern.is_empty())
        {
            name = after;
            continue;
        }
        if star {
            let mut found = None;
            for (place, c) in name.char_indices() {
                if c == '/' {
                    break;
                }
                let Some(after) = match_chunk(chunk, &name[place + c.len_utf8()..])? else { continue };
                if pattern.is_empty() && !after.is_empty() {
                    continue;
                }
                found = Some(after);
                break;
            }
            if let Some(after) = found {
                name = after;
                continue;
            }
        }
        return Ok(false);
    }
    Ok(name.is_empty())
}

/// Whether stars come first, then what is up to the next star, then the rest.
fn next_chunk(pattern: &str) -> (bool, &str, &str) {
    let trimmed = pattern.trim_start_matches('*');
    let star = trimmed.len() < pattern.len();
    let (mut in_range, mut escaped) = (false, false);
    for (place, byte) in trimmed.bytes().enumerate() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match byte {
            b'\\' => escaped = true,
            b'[' => in_range = true,
            b']' => in_range = false,
            b'*' if !in_range => return (star, &trimmed[..place], &trimmed[place..]),
            _ => {}
        }
    }
    (star, trimmed, "")
}

/// What is left of a name after a chunk. A chunk that is no pattern is refused even where the name has ended.
fn match_chunk<'n>(chunk: &str, name: &'n str) -> Result<Option<&'n str>, Bad> {
    let mut failed = false;
    let (mut chunk, mut rest) = (chunk, name);
    while let Some(first) = chunk.chars().next() {
        failed = failed || rest.is_empty();
        match first {
            '[' => {
                let c = if failed { None } else { take(&mut rest) };
                let (inside, after) = range(&chunk[1..], c)?;
                failed = failed || !inside;
                chunk = after;
            }
            '?' => {
                failed = failed || take(&mut rest).is_none_or(|c| c == '/');
                chunk = &chunk[1..];
            }
            _ => {
                if first == '\\' {
                    chunk = &chunk[1..];
                }
                let wanted = take(&mut chunk).ok_or(Bad)?;
                failed = failed || take(&mut rest) != Some(wanted);
            }
        }
    }
    Ok((!failed).then_some(rest))
}

/// Whether a character is in a range, and what follows it.
fn range(text: &str, c: Option<char>) -> Result<(bool, &str), Bad> {
    let (negated, mut text) = text.strip_prefix('^').map_or((false, text), |rest| (true, rest));
    let (mut inside, mut count) = (false, 0);
    loop {
        if count > 0
            && let Some(rest) = text.strip_prefix(']')
        {
            return Ok((c.is_some() && inside != negated, rest));
        }
        let low = edge(&mut text)?;
        let mut high = low;
        if let Some(rest) = text.strip_prefix('-') {
            text = rest;
            high = edge(&mut text)?;
        }
        inside = inside || c.is_some_and(|c| low <= c && c <= high);
        count += 1;
    }
}

/// One end of a range. Something has to come after it.
fn edge(text: &mut &str) -> Result<char, Bad> {
    if text.is_empty() || text.starts_with(['-', ']']) {
        return Err(Bad);
    }
    if let Some(rest) = text.strip_prefix('\\') {
        *text = rest;
    }
    let c = take(text).ok_or(Bad)?;
    if text.is_empty() { Err(Bad) } else { Ok(c) }
}

fn take(text: &mut &str) -> Option<char> {
    let mut chars = text.chars();
    let c = chars.next()?;
    *text = chars.as_str();
    Some(c)
}
