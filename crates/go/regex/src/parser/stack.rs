//! The stack of what was read and is not yet part of something larger.

use super::flags::Flags;
use super::{Parsed, Parser};
use crate::class::Class;
use crate::error::{Error, Reason};
use crate::tree::{Kind, Literal, Tree};
use crate::unicode;

#[derive(Debug)]
pub(super) enum Entry {
    Part(Tree),
    /// A group begins: with the flags around it, and its number if it is one to remember.
    Open(Flags, Option<u32>),
    /// Alternatives are below.
    Bar,
}

impl Entry {
    fn literal(&mut self) -> Option<&mut Tree> {
        match self {
            Self::Part(tree) if matches!(tree.kind, Kind::Literal(_)) => Some(tree),
            _ => None,
        }
    }
}

impl Parser<'_> {
    pub(super) fn push(&mut self, kind: Kind) -> Result<(), Error> {
        self.limits.made();
        self.put(Tree::new(kind))
    }

    fn put(&mut self, mut tree: Tree) -> Result<(), Error> {
        self.limits.pushed(&tree.kind);
        if let Kind::Class(class) = &tree.kind
            && let Some(literal) = only(class)
        {
            tree = Tree::new(Kind::Literal(literal));
        }
        self.join();
        self.limits.check(&tree, &self.stack, self.whole)?;
        self.stack.push(Entry::Part(tree));
        Ok(())
    }

    /// Makes one literal of two: the upper one will not be repeated alone any more.
    fn join(&mut self) {
        let [.., lower, upper] = self.stack.as_mut_slice() else { return };
        let (Some(lower), Some(upper)) = (lower.literal(), upper.literal()) else { return };
        let (Kind::Literal(below), Kind::Literal(above)) = (&mut lower.kind, &mut upper.kind) else { return };
        if below.folded != above.folded {
            return;
        }
        below.codes.append(&mut above.codes);
        lower.size += upper.size;
        self.stack.pop();
        self.limits.freed();
    }

    /// Takes all parts above the last bar or group that is open.
    fn take_parts(&mut self) -> Vec<Tree> {
        let begin = self.stack.iter().rposition(|entry| !matches!(entry, Entry::Part(_))).map_or(0, |at| at + 1);
        let parts = self.stack.drain(begin..).filter_map(|entry| match entry {
            Entry::Part(tree) => Some(tree),
            Entry::Open(..) | Entry::Bar => None,
        });
        parts.collect()
    }

    fn concat(&mut self) -> Result<(), Error> {
        self.join();
        let mut parts = self.take_parts();
        match parts.len() {
            0 => self.push(Kind::Empty),
            1 => parts.pop().map_or(Ok(()), |part| self.put(part)),
            _ => {
                self.limits.made();
                let mut flat = Vec::with_capacity(parts.len());
                for part in parts {
                    match part.kind {
                        Kind::Concat(inner) => {
                            flat.extend(inner);
                            self.limits.freed();
                        }
                        _ => flat.push(part),
                    }
                }
                self.put(Tree::new(Kind::Concat(flat)))
            }
        }
    }

    fn alternate(&mut self) -> Result<(), Error> {
        let mut parts = self.take_parts();
        if parts.len() == 1 {
            return parts.pop().map_or(Ok(()), |part| self.put(part));
        }
        self.limits.made();
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match part.kind {
                Kind::Alternate(inner) => {
                    flat.extend(inner);
                    self.limits.freed();
                }
                _ => flat.push(part),
            }
        }
        self.put(Tree::new(Kind::Alternate(flat)))
    }

    /// `|`
    pub(super) fn bar(&mut self) -> Result<(), Error> {
        self.concat()?;
        if !self.swap_bar() {
            self.limits.made();
            self.stack.push(Entry::Bar);
        }
        Ok(())
    }

    /// Puts what is above a bar below it, where it joins the other alternatives. Answers whether there was a bar.
    fn swap_bar(&mut self) -> bool {
        let count = self.stack.len();
        if count < 2 || !matches!(self.stack[count - 2], Entry::Bar) {
            return false;
        }
        if let [.., Entry::Part(below), Entry::Bar, Entry::Part(above)] = self.stack.as_mut_slice()
            && let Some(more) = above.to_class()
            && below.is_character()
        {
            // One character or another is one of both. A long row of them is extended in its place.
            let mut class = match &mut below.kind {
                Kind::Class(class) => std::mem::take(class),
                _ => below.to_class().unwrap_or_default(),
            };
            class.add_all(&more);
            *below = Tree::new(Kind::Class(class));
            self.stack.pop();
            self.limits.freed();
        } else {
            self.stack.swap(count - 2, count - 1);
        }
        true
    }

    /// Makes one part of all since the group was opened.
    fn gather(&mut self) -> Result<(), Error> {
        self.concat()?;
        if self.swap_bar() {
            self.stack.pop();
        }
        self.alternate()
    }

    /// `(`, with a name or without.
    pub(super) fn open(&mut self, name: Option<&[u8]>, remembered: bool) -> Result<(), Error> {
        let number = remembered.then_some(self.names.len());
        if remembered {
            self.names.push(name.map(Into::into));
        }
        self.limits.made();
        self.join();
        let number = number.map(u32::try_from).transpose().map_err(|_| Reason::TooLarge.of(self.whole))?;
        self.stack.push(Entry::Open(self.flags, number));
        Ok(())
    }

    /// `)`
    pub(super) fn close(&mut self) -> Result<(), Error> {
        self.gather()?;
        let (part, opened) = (self.stack.pop(), self.stack.pop());
        let (Some(Entry::Part(part)), Some(Entry::Open(flags, number))) = (part, opened) else {
            return Err(Reason::UnexpectedParenthesis.of(self.whole));
        };
        self.flags = flags;
        self.put(match number {
            Some(number) => Tree::new(Kind::Capture(number, Box::new(part))),
            None => part,
        })
    }

    pub(super) fn finish(mut self) -> Result<Parsed, Error> {
        self.gather()?;
        match (self.stack.pop(), self.stack.is_empty()) {
            (Some(Entry::Part(tree)), true) => Ok(Parsed { tree, names: self.names }),
            _ => Err(Reason::MissingParenthesis.of(self.whole)),
        }
    }
}

/// The literal that a class of one character is, be it with case or without.
fn only(class: &Class) -> Option<Literal> {
    let (first, folded) = match *class.ranges() {
        [(first, last)] if first == last => (first, false),
        [(first, last)] if first + 1 == last && unicode::same_as(first) == [last] => (first, true),
        [(first, one), (second, other)] if first == one && second == other && unicode::same_as(first) == [second] => {
            (first, true)
        }
        _ => return None,
    };
    Some(Literal { codes: vec![first], folded })
}
