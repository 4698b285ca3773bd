//! The characters of a text, one after the other.

/// What is left of a text.
pub(super) struct Runes<'t> {
    left: &'t str,
}

/// What was read up to a character that ends it, and that character: none, where the text has ended.
pub(super) struct Read {
    pub(super) text: String,
    pub(super) end: Option<char>,
}

impl<'t> Runes<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { left: text }
    }

    pub(super) fn left(&self) -> &'t str {
        self.left
    }

    pub(super) fn skip(&mut self, bytes: usize) {
        self.left = self.left.get(bytes..).unwrap_or_default();
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.left.chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.left = &self.left[next.len_utf8()..];
        Some(next)
    }

    /// Reads up to one of these. Where there are escapes, what is behind a backslash ends nothing.
    pub(super) fn until(&mut self, ends: &[char], escapes: bool) -> Read {
        let mut text = String::new();
        loop {
            let Some(c) = self.next() else { return Read { text, end: None } };
            if ends.contains(&c) {
                return Read { text, end: Some(c) };
            }
            if c == '\\' && escapes {
                let Some(next) = self.next() else { return Read { text, end: None } };
                text.push(next);
            } else {
                text.push(c);
            }
        }
    }
}
