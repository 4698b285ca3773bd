//! A line of YAML in block style, and the value that it leaves open.
//!
//! Supports the YAML that programs write; all other YAML is [`Unsupported`], never guessed at.

/// YAML that only the YAML parser supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unsupported;

/// The value that the lines so far leave open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Open {
    /// No value.
    #[default]
    Nothing,
    /// A plain or block scalar, whose lines are indented deeper than this column.
    Text(usize),
    /// A quoted scalar, with its quote.
    Quoted(u8),
    /// A flow collection: the depth of its brackets, and the quote of an open scalar in it.
    Brackets(usize, Option<u8>),
}

/// A line that does not continue a value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line<'l> {
    /// The column of the first character.
    pub(crate) column: usize,
    /// Whether it begins with a dash.
    pub(crate) dash: bool,
    /// The key after all dashes, as it is written.
    pub(crate) key: Option<&'l [u8]>,
    /// The rest of the line after the key, without a comment.
    pub(crate) value: &'l [u8],
    /// The value that it leaves open.
    pub(crate) open: Open,
}

/// The indentation of a line; none for an empty line.
pub(crate) fn indent(line: &[u8]) -> Option<usize> {
    line.iter().position(|&byte| byte != b' ')
}

/// Whether a line is `---` or `...`.
pub(crate) fn is_document_marker(line: &[u8]) -> bool {
    (line.starts_with(b"---") || line.starts_with(b"...")) && line.get(3).is_none_or(u8::is_ascii_whitespace)
}

/// Reads a line that does not continue a value; none if it is empty or a comment.
pub(crate) fn read(line: &[u8]) -> Result<Option<Line<'_>>, Unsupported> {
    let Some(column) = indent(line).filter(|&column| line[column] != b'#') else { return Ok(None) };
    let (mut at, mut dash) = (column, None);
    while line[at] == b'-' && line.get(at + 1).is_none_or(|&next| next == b' ') {
        dash = Some(at);
        match indent(&line[at + 1..]) {
            Some(spaces) if line[at + 1 + spaces] != b'#' => at += 1 + spaces,
            _ => return Ok(Some(Line { column, dash: true, key: None, value: &[], open: Open::Nothing })),
        }
    }
    let rest = &line[at..];
    let (key, value) = match split(rest)? {
        Some((key, value)) => (Some(key), value),
        None => (None, rest),
    };
    let value = trimmed(value);
    // A scalar on its own line below its key may continue in the same column, where its lines look like any other.
    let parent = if key.is_some() { Some(at) } else { dash };
    let open = left_open(value, parent)?;
    Ok(Some(Line { column, dash: dash.is_some(), key, value, open }))
}

/// Reads a line that continues an open value, and returns the value that is open after it.
pub(crate) fn continue_value(line: &[u8], open: Open) -> Result<Open, Unsupported> {
    match open {
        Open::Nothing | Open::Text(_) => Ok(open),
        _ if is_document_marker(line) => Err(Unsupported),
        Open::Quoted(quote) => match closing(line, quote) {
            Some(end) => nothing_after(&line[end..]),
            None => Ok(open),
        },
        Open::Brackets(depth, quote) => brackets(line, depth, quote, true),
    }
}

/// A key and the text after it.
type Pair<'l> = (&'l [u8], &'l [u8]);

/// Splits a line into a key and the text after it, if it has a key.
fn split(text: &[u8]) -> Result<Option<Pair<'_>>, Unsupported> {
    let key = match text[0] {
        quote @ (b'"' | b'\'') => match closing(&text[1..], quote) {
            Some(end) => end + 1,
            None => return Ok(None),
        },
        b'[' | b'{' => return Ok(None),
        _ => match plain_key(text) {
            Some(end) => end,
            None => return Ok(None),
        },
    };
    let after = key + text[key..].iter().take_while(|&&byte| byte == b' ').count();
    if text.get(after) != Some(&b':') || text.get(after + 1).is_some_and(|&next| next != b' ') {
        return Ok(None);
    }
    match text[0] {
        b'?' | b'&' | b'*' | b'!' | b'|' | b'>' | b'%' | b'@' | b'`' | b'\t' => Err(Unsupported),
        _ => Ok(Some((&text[..key], &text[after + 1..]))),
    }
}

/// The end of an unquoted key.
fn plain_key(text: &[u8]) -> Option<usize> {
    let colon = memchr::memchr_iter(b':', text).find(|&at| text.get(at + 1).is_none_or(|&next| next == b' '))?;
    let is_comment = |at: usize| at > 0 && text[at - 1] == b' ';
    let has_comment = memchr::memchr_iter(b'#', &text[..colon]).any(is_comment);
    (!has_comment).then(|| trimmed(&text[..colon]).len())
}

/// The value that is open after a value of the key or dash in this column.
fn left_open(value: &[u8], parent: Option<usize>) -> Result<Open, Unsupported> {
    let Some(&first) = value.first() else { return Ok(Open::Nothing) };
    match first {
        b'"' | b'\'' => match closing(&value[1..], first) {
            Some(end) => nothing_after(&value[1 + end..]),
            None => Ok(Open::Quoted(first)),
        },
        b'[' | b'{' => brackets(value, 0, None, true),
        b'?' | b'&' | b'*' | b'!' | b'%' | b'@' | b'`' | b'\t' | b',' | b']' | b'}' => Err(Unsupported),
        b'|' | b'>' => parent.map(Open::Text).ok_or(Unsupported),
        b'-' if value.get(1).is_none_or(|&next| next == b' ') => Err(Unsupported),
        // The YAML parser reports a second key on the line.
        _ if plain_key(value).is_some() => Err(Unsupported),
        _ => parent.map(Open::Text).ok_or(Unsupported),
    }
}

/// The position after the closing quote, in a text after the opening one.
fn closing(text: &[u8], quote: u8) -> Option<usize> {
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'\\' if quote == b'"' => at += 1,
            byte if byte == quote && quote == b'\'' && text.get(at + 1) == Some(&quote) => at += 1,
            byte if byte == quote => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Follows brackets to the end of the line. `fresh` says whether a value may start.
fn brackets(text: &[u8], mut depth: usize, mut quote: Option<u8>, mut fresh: bool) -> Result<Open, Unsupported> {
    let mut at = 0;
    while at < text.len() {
        if let Some(open) = quote {
            match closing(&text[at..], open) {
                Some(end) => (at, quote) = (at + end, None),
                None => return Ok(Open::Brackets(depth, quote)),
            }
            // Characters that may follow a quote; `'a'b` is left to the YAML parser.
            if !matches!(text.get(at), None | Some(b' ' | b',' | b':' | b']' | b'}')) {
                return Err(Unsupported);
            }
            fresh = text.get(at) == Some(&b':');
            at += usize::from(fresh);
            continue;
        }
        match text[at] {
            b'[' | b'{' if fresh => depth += 1,
            b']' | b'}' => {
                (depth, fresh) = (depth.checked_sub(1).ok_or(Unsupported)?, false);
                if depth == 0 {
                    return nothing_after(&text[at + 1..]);
                }
            }
            b',' => fresh = true,
            b' ' => {}
            b'"' | b'\'' if fresh => quote = Some(text[at]),
            b'#' if at == 0 || text[at - 1] == b' ' => break,
            b':' if matches!(text.get(at + 1), None | Some(b' ')) => fresh = true,
            b'"' | b'\'' | b'[' | b'{' | b'\t' => return Err(Unsupported),
            b'&' | b'*' | b'!' | b'?' | b'|' | b'>' | b'%' | b'@' | b'`' if fresh => return Err(Unsupported),
            _ => fresh = false,
        }
        at += 1;
    }
    Ok(Open::Brackets(depth, quote))
}

/// Fails if anything but a comment follows the end of a value.
fn nothing_after(text: &[u8]) -> Result<Open, Unsupported> {
    if trimmed(text).is_empty() { Ok(Open::Nothing) } else { Err(Unsupported) }
}

/// Trims whitespace; a comment is empty.
fn trimmed(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii();
    if text.first() == Some(&b'#') { &[] } else { text }
}
