//! One line of YAML in block style: what stands on it, and what it leaves open.
//!
//! Only what programs write is understood. Whatever else YAML has is [`Unusual`]: it is never guessed at.

/// Something that only a whole parser understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unusual;

/// What the lines so far have left open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Open {
    /// The next line stands for itself.
    #[default]
    Nothing,
    /// A text whose lines are further in than this column.
    Text(usize),
    /// A text in quotes.
    Quoted(u8),
    /// So many brackets, and maybe a text in quotes.
    Brackets(usize, Option<u8>),
}

/// A line that stands for itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line<'l> {
    /// The column of the first character.
    pub(crate) column: usize,
    /// Whether it begins with a dash.
    pub(crate) dash: bool,
    /// The key, as it is written, with which it begins after all dashes.
    pub(crate) key: Option<&'l [u8]>,
    /// What follows the key on the line; a comment is nothing.
    pub(crate) value: &'l [u8],
    /// What it leaves open.
    pub(crate) open: Open,
}

/// How far in a line is. None for a line on which there is nothing.
pub(crate) fn indent(line: &[u8]) -> Option<usize> {
    line.iter().position(|&byte| byte != b' ')
}

/// Whether a line is one of the marks between documents.
pub(crate) fn is_mark(line: &[u8]) -> bool {
    (line.starts_with(b"---") || line.starts_with(b"...")) && line.get(3).is_none_or(u8::is_ascii_whitespace)
}

/// Reads a line that stands for itself; none if there is nothing on it but a comment.
pub(crate) fn read(line: &[u8]) -> Result<Option<Line<'_>>, Unusual> {
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
    // A text that stands alone below its key may go on in the same column, where its lines look like anything.
    let parent = if key.is_some() { Some(at) } else { dash };
    let open = left_open(value, parent)?;
    Ok(Some(Line { column, dash: dash.is_some(), key, value, open }))
}

/// What is open after a line that continues what was open before it.
pub(crate) fn go_on(line: &[u8], open: Open) -> Result<Open, Unusual> {
    match open {
        Open::Nothing | Open::Text(_) => Ok(open),
        _ if is_mark(line) => Err(Unusual),
        Open::Quoted(quote) => match closing(line, quote) {
            Some(end) => nothing_after(&line[end..]),
            None => Ok(open),
        },
        Open::Brackets(depth, quote) => brackets(line, depth, quote, true),
    }
}

/// A key, and what follows it.
type Pair<'l> = (&'l [u8], &'l [u8]);

/// The key and what follows it, where there is a key.
fn split(text: &[u8]) -> Result<Option<Pair<'_>>, Unusual> {
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
        b'?' | b'&' | b'*' | b'!' | b'|' | b'>' | b'%' | b'@' | b'`' | b'\t' => Err(Unusual),
        _ => Ok(Some((&text[..key], &text[after + 1..]))),
    }
}

/// Where a key without quotes ends.
fn plain_key(text: &[u8]) -> Option<usize> {
    let colon = memchr::memchr_iter(b':', text).find(|&at| text.get(at + 1).is_none_or(|&next| next == b' '))?;
    let comment = memchr::memmem::find(&text[..colon], b" #");
    comment.is_none().then(|| trimmed(&text[..colon]).len())
}

/// What a value leaves open that belongs to the key or dash in this column.
fn left_open(value: &[u8], parent: Option<usize>) -> Result<Open, Unusual> {
    let Some(&first) = value.first() else { return Ok(Open::Nothing) };
    match first {
        b'"' | b'\'' => match closing(&value[1..], first) {
            Some(end) => nothing_after(&value[1 + end..]),
            None => Ok(Open::Quoted(first)),
        },
        b'[' | b'{' => brackets(value, 0, None, true),
        b'?' | b'&' | b'*' | b'!' | b'%' | b'@' | b'`' | b'\t' | b',' | b']' | b'}' => Err(Unusual),
        b'|' | b'>' => parent.map(Open::Text).ok_or(Unusual),
        b'-' if value.get(1).is_none_or(|&next| next == b' ') => Err(Unusual),
        // A second key on the line is for the whole parser to refuse.
        _ if plain_key(value).is_some() => Err(Unusual),
        _ => parent.map(Open::Text).ok_or(Unusual),
    }
}

/// Where the text after an opening quote ends: behind the closing one.
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

/// Follows brackets to the end of the line. `fresh` says that a value may begin.
fn brackets(text: &[u8], mut depth: usize, mut quote: Option<u8>, mut fresh: bool) -> Result<Open, Unusual> {
    let mut at = 0;
    while at < text.len() {
        if let Some(open) = quote {
            match closing(&text[at..], open) {
                Some(end) => (at, quote) = (at + end, None),
                None => return Ok(Open::Brackets(depth, quote)),
            }
            // What a quote may be followed by, so that `'a'b` is left to others.
            if !matches!(text.get(at), None | Some(b' ' | b',' | b':' | b']' | b'}')) {
                return Err(Unusual);
            }
            fresh = text.get(at) == Some(&b':');
            at += usize::from(fresh);
            continue;
        }
        match text[at] {
            b'[' | b'{' if fresh => depth += 1,
            b']' | b'}' => {
                (depth, fresh) = (depth.checked_sub(1).ok_or(Unusual)?, false);
                if depth == 0 {
                    return nothing_after(&text[at + 1..]);
                }
            }
            b',' => fresh = true,
            b' ' => {}
            b'"' | b'\'' if fresh => quote = Some(text[at]),
            b'#' if at == 0 || text[at - 1] == b' ' => break,
            b':' if matches!(text.get(at + 1), None | Some(b' ')) => fresh = true,
            b'"' | b'\'' | b'[' | b'{' | b'\t' => return Err(Unusual),
            b'&' | b'*' | b'!' | b'?' | b'|' | b'>' | b'%' | b'@' | b'`' if fresh => return Err(Unusual),
            _ => fresh = false,
        }
        at += 1;
    }
    Ok(Open::Brackets(depth, quote))
}

/// After a value that has ended there is at most a comment.
fn nothing_after(text: &[u8]) -> Result<Open, Unusual> {
    if trimmed(text).is_empty() { Ok(Open::Nothing) } else { Err(Unusual) }
}

/// Without the space around it; a comment is nothing.
fn trimmed(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii();
    if text.first() == Some(&b'#') { &[] } else { text }
}
