//! Patterns of file names, as `.Files.Glob` understands them.

use fitout_go_regex::{Regex, quote_meta};

/// A pattern: `*` and `?` stop at a slash, `**` does not, `{a,b}` is either, `[a-c]`, `[abc]` and `[!abc]` are one character.
pub(super) struct Glob(Option<Regex>);

impl Glob {
    /// A pattern; one that cannot be read matches everything.
    pub(super) fn new(pattern: &str) -> Self {
        let translated = Translation::of(pattern);
        Self(translated.and_then(|translated| Regex::compile(format!(r"(?s)\A(?:{translated})\z")).ok()))
    }

    pub(super) fn matches(&self, name: &str) -> bool {
        self.0.as_ref().is_none_or(|pattern| pattern.is_match(name.as_bytes()))
    }
}

struct Translation<'p> {
    rest: std::iter::Peekable<std::str::Chars<'p>>,
    to: String,
    open: usize,
}

impl Translation<'_> {
    fn of(pattern: &str) -> Option<String> {
        let mut translation = Translation { rest: pattern.chars().peekable(), to: String::new(), open: 0 };
        while let Some(c) = translation.rest.next() {
            translation.translate(c)?;
        }
        // Alternatives that are not closed end with the pattern.
        translation.to.push_str(&")".repeat(translation.open));
        Some(translation.to)
    }

    fn translate(&mut self, c: char) -> Option<()> {
        match c {
            '\0' | '\u{FFFD}' => return None,
            '*' if self.rest.next_if_eq(&'*').is_some() => self.to.push_str(".*"),
            '*' => self.to.push_str("[^/]*"),
            '?' => self.to.push_str("[^/]"),
            '[' => self.class()?,
            '{' => {
                self.to.push_str("(?:");
                self.open += 1;
            }
            ',' if self.open > 0 => self.to.push('|'),
            '}' if self.open > 0 => {
                self.to.push(')');
                self.open -= 1;
            }
            '\\' => {
                if let Some(next) = self.rest.next() {
                    self.literal(next);
                }
            }
            other => self.literal(other),
        }
        Some(())
    }

    fn literal(&mut self, c: char) {
        let quoted = quote_meta(c.encode_utf8(&mut [0; 4]).as_bytes());
        self.to.push_str(&String::from_utf8_lossy(&quoted));
    }

    /// What is between brackets: one range, or characters.
    fn class(&mut self) -> Option<()> {
        let not = self.rest.next_if_eq(&'!').is_some();
        self.to.push_str(if not { "[^" } else { "[" });
        let first = self.rest.next()?;
        if self.rest.next_if_eq(&'-').is_some() {
            let last = self.rest.next()?;
            if last < first || self.rest.next()? != ']' {
                return None;
            }
            self.member(first);
            self.to.push('-');
            self.member(last);
        } else {
            let mut next = Some(first);
            let mut any = false;
            loop {
                match next? {
                    ']' => break,
                    '\\' => self.member(self.rest.clone().next()?),
                    other => self.member(other),
                }
                if next == Some('\\') {
                    self.rest.next();
                }
                any = true;
                next = self.rest.next();
            }
            if !any {
                return None;
            }
        }
        self.to.push(']');
        Some(())
    }

    fn member(&mut self, c: char) {
        if !c.is_alphanumeric() && c.is_ascii() {
            self.to.push('\\');
        }
        self.to.push(c);
    }
}
