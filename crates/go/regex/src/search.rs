//! `ConditionUpdate`, and cutting at what is found.

use std::ops::Range;

use regex_automata::Input;
use regex_automata::util::captures::Captures;

use crate::Regex;
use crate::haystack::Haystack;

impl Regex {
    /// Whether there is a match anywhere in a text.
    pub fn is_match(&self, text: &[u8]) -> bool {
        self.engine.is_match(Haystack::new(text).text())
    }

    /// The first match.
    pub fn find<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let haystack = Haystack::new(text);
        let found = self.from(&haystack, 0)?;
        Some(&text[haystack.original(&found)])
    }

    /// Where the first match is, and where each group of it is, if it took part.
    pub fn captures(&self, text: &[u8]) -> Option<Vec<Option<Range<usize>>>> {
        let haystack = Haystack::new(text);
        let mut captures = self.engine.create_captures();
        self.captures_from(&haystack, 0, &mut captures)?;
        let group = |number| Some(haystack.original(&captures.get_group(number)?.range()));
        Some((0..self.names.len()).map(group).collect())
    }

    /// All matches, at most so many; as many as there are where the limit is negative. Where there are none, Go gives nil.
    pub fn find_all<'t>(&self, text: &'t [u8], limit: i64) -> Vec<&'t [u8]> {
        self.all(text, limit).into_iter().map(|found| &text[found]).collect()
    }

    /// The parts of a text between matches, at most so many; as many as there are where the limit is negative. Where the
    /// limit is zero there is nothing, which is nil in Go.
    pub fn split<'t>(&self, text: &'t [u8], limit: i64) -> Option<Vec<&'t [u8]>> {
        if limit == 0 {
            return None;
        }
        if !self.pattern.is_empty() && text.is_empty() {
            return Some(vec![text]);
        }
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut parts = Vec::new();
        let (mut begin, mut end) = (0, 0);
        for found in self.all(text, limit) {
            if parts.len() >= most - 1 {
                break;
            }
            end = found.start;
            if found.end != 0 {
                parts.push(&text[begin..end]);
            }
            begin = found.end;
        }
        if end != text.len() {
            parts.push(&text[begin..]);
        }
        Some(parts)
    }

    fn all(&self, text: &[u8], limit: i64) -> Vec<Range<usize>> {
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        let haystack = Haystack::new(text);
        let (mut all, mut at, mut before) = (Vec::new(), 0, None);
        while all.len() < most && at <= haystack.text().len() {
            let Some(found) = self.from(&haystack, at) else { break };
            let (empty, end) = (found.end == at, found.end);
            // Nothing, right after a match, is no match of its own.
            if !(empty && Some(found.start) == before) {
                all.push(haystack.original(&found));
            }
            at = if empty { at + haystack.width(at).max(1) } else { end };
            before = Some(end);
        }
        all
    }

    /// The first match that begins at a place or after it.
    pub(crate) fn from(&self, haystack: &Haystack<'_>, at: usize) -> Option<Range<usize>> {
        self.engine.search(&Input::new(haystack.text()).range(at..)).map(|found| found.range())
    }

    /// The same with its groups.
    pub(crate) fn captures_from(
        &self,
        haystack: &Haystack<'_>,
        at: usize,
        captures: &mut Captures,
    ) -> Option<Range<usize>> {
        self.engine.search_captures(&Input::new(haystack.text()).range(at..), captures);
        captures.get_match().map(|found| found.range())
    }
}
