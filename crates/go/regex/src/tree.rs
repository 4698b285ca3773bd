//! A parsed pattern.

use regex_syntax::hir::{Capture, Hir, Look, Repetition};

use crate::class::{Class, LAST};
use crate::unicode;

/// A parsed pattern, or a part of one.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) kind: Kind,
    /// How deep it is, and how large Go's program for it is: both are limited.
    pub(crate) height: usize,
    pub(crate) size: u64,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Empty,
    Literal(Literal),
    Class(Class),
    Look(Look),
    Capture(u32, Box<Tree>),
    Repeat(Repeat, Box<Tree>),
    Concat(Vec<Tree>),
    Alternate(Vec<Tree>),
}

/// Code points one after another. Surrogates among them match nothing.
#[derive(Clone, Debug)]
pub(crate) struct Literal {
    pub(crate) codes: Vec<u32>,
    /// Whether case does not count.
    pub(crate) folded: bool,
}

/// How often something is repeated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repeat {
    pub(crate) least: u32,
    pub(crate) most: Option<u32>,
    pub(crate) greedy: bool,
    /// Whether it is written with numbers.
    pub(crate) counted: bool,
}

impl Tree {
    pub(crate) fn new(kind: Kind) -> Self {
        let (height, size) = (kind.height(), kind.size().max(1));
        Self { kind, height, size }
    }

    /// Whether it is one character of some, so that an alternative to it can be put into a class.
    pub(crate) fn is_character(&self) -> bool {
        matches!(&self.kind, Kind::Class(_)) || matches!(&self.kind, Kind::Literal(literal) if literal.codes.len() == 1)
    }

    /// The class that it is, if it is one character of some.
    pub(crate) fn to_class(&self) -> Option<Class> {
        match &self.kind {
            Kind::Class(class) => Some(class.clone()),
            Kind::Literal(literal) if literal.codes.len() == 1 => {
                let class = Class::of(&[(literal.codes[0], literal.codes[0])]);
                Some(if literal.folded { class.folded() } else { class })
            }
            _ => None,
        }
    }

    /// Whether no part is repeated more than so many times, all repetitions around it taken together.
    pub(crate) fn repeats_at_most(&self, mut times: u32) -> bool {
        if let Kind::Repeat(repeat @ Repeat { counted: true, .. }, _) = &self.kind {
            let most = repeat.most.unwrap_or(repeat.least);
            if repeat.most == Some(0) {
                return true;
            } else if most > times {
                return false;
            }
            times = times.checked_div(most).unwrap_or(times);
        }
        self.kind.parts().iter().all(|part| part.repeats_at_most(times))
    }

    pub(crate) fn to_hir(&self) -> Hir {
        match &self.kind {
            Kind::Empty => Hir::empty(),
            Kind::Literal(literal) => literal.to_hir(),
            Kind::Class(class) => class.to_hir(),
            Kind::Look(look) => Hir::look(*look),
            // Names are ours to keep: two groups may have the same.
            Kind::Capture(index, part) => {
                Hir::capture(Capture { index: *index, name: None, sub: Box::new(part.to_hir()) })
            }
            Kind::Repeat(repeat, part) => Hir::repetition(Repetition {
                min: repeat.least,
                max: repeat.most,
                greedy: repeat.greedy,
                sub: Box::new(part.to_hir()),
            }),
            Kind::Concat(parts) => Hir::concat(parts.iter().map(Self::to_hir).collect()),
            Kind::Alternate(parts) => Hir::alternation(parts.iter().map(Self::to_hir).collect()),
        }
    }
}

impl Literal {
    fn to_hir(&self) -> Hir {
        let mut parts = Vec::new();
        let mut plain = String::new();
        for code in &self.codes {
            let same = if self.folded { unicode::same_as(*code) } else { &[] };
            match char::from_u32(*code) {
                None => return Hir::fail(),
                Some(char) if same.is_empty() => plain.push(char),
                Some(_) => {
                    parts.push(Hir::literal(std::mem::take(&mut plain).into_bytes()));
                    parts.push(Class::of(&[(*code, *code)]).folded().to_hir());
                }
            }
        }
        parts.push(Hir::literal(plain.into_bytes()));
        Hir::concat(parts)
    }
}

impl Kind {
    pub(crate) fn any() -> Self {
        Self::Class(Class::of(&[(0, LAST)]))
    }

    pub(crate) fn any_but_newline() -> Self {
        Self::Class(Class::of(&[(0, 0x9), (0xB, LAST)]))
    }

    fn parts(&self) -> &[Tree] {
        match self {
            Self::Capture(_, part) | Self::Repeat(_, part) => std::slice::from_ref(part),
            Self::Concat(parts) | Self::Alternate(parts) => parts,
            Self::Empty | Self::Literal(_) | Self::Class(_) | Self::Look(_) => &[],
        }
    }

    fn height(&self) -> usize {
        self.parts().iter().map(|part| part.height).max().unwrap_or(0) + 1
    }

    fn size(&self) -> u64 {
        let parts = || self.parts().iter().map(|part| part.size).sum::<u64>();
        match self {
            Self::Empty | Self::Class(_) | Self::Look(_) => 1,
            Self::Literal(literal) => literal.codes.len() as u64,
            Self::Capture(..) => 2 + parts(),
            Self::Repeat(repeat, _) => match (repeat.least, repeat.most) {
                (0, None) => 2 + parts(),
                (least, None) => 1 + u64::from(least) * parts(),
                (least, Some(most)) => u64::from(most) * parts() + u64::from(most - least),
            },
            Self::Concat(_) => parts(),
            Self::Alternate(all) => parts() + all.len() as u64 - 1,
        }
    }
}
