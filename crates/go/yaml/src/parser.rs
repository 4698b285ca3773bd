//! From tokens to a tree.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::Error;
use crate::cursor::Mark;
use crate::input::Input;
use crate::scanner::Scanner;
use crate::stack::enough;
use crate::tokens::{Kind, Token};
use crate::tree::{Content, NodeId, Scalar, Tree};

/// How deep brackets may nest, and how deep blocks. Far more than any manifest has, and little enough for any thread's stack.
pub const MAX_DEPTH: usize = 200;

const STANDARD_TAGS: &str = "tag:yaml.org,2002:";

/// The first document of a text.
pub(crate) fn parse<'t>(input: &'t Input<'_>, deepest: usize) -> Result<Tree<'t>, Error> {
    let mut parser = Parser {
        scanner: Scanner::new(input, deepest),
        tree: Tree::of_lines(memchr::memchr_iter(b'\n', input.good.as_bytes()).count()),
        pairs: Vec::new(),
        anchors: HashMap::new(),
        handles: HashMap::new(),
    };
    parser.scanner.skip()?;
    parser.tree.root = parser.document()?;
    Ok(parser.tree)
}

struct Parser<'t> {
    scanner: Scanner<'t>,
    tree: Tree<'t>,
    anchors: HashMap<Cow<'t, str>, NodeId>,
    /// Of the block mappings that we are in, those pairs that are known.
    pairs: Vec<(NodeId, NodeId)>,
    /// What the handles of tags stand for that the document itself names.
    handles: HashMap<String, String>,
}

/// Where a node is: it decides how the node may be written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Block,
    /// In a block mapping a sequence needs no indentation.
    BlockMapping,
    Flow,
}

/// What stands before a node's content.
struct Properties<'t> {
    start: Mark,
    anchor: Option<Cow<'t, str>>,
    tag: String,
}

impl<'t> Parser<'t> {
    fn peek(&mut self) -> Result<Kind, Error> {
        self.scanner.kind()
    }

    fn skip_if(&mut self, kind: Kind) -> Result<bool, Error> {
        let found = self.peek()? == kind;
        if found {
            self.scanner.skip()?;
        }
        Ok(found)
    }

    fn fail<T>(&mut self, problem: &str) -> Result<T, Error> {
        Err(Error::in_parser(self.scanner.peek()?.start, problem))
    }

    fn document(&mut self) -> Result<Option<NodeId>, Error> {
        let root = match self.peek()? {
            Kind::StreamEnd => return Ok(None),
            Kind::VersionDirective | Kind::TagDirective | Kind::DocumentStart => self.explicit_document()?,
            _ => self.node(Within::Block)?,
        };
        // What follows has to be looked at, as Go does: it may be refused.
        self.peek()?;
        Ok(Some(root))
    }

    fn explicit_document(&mut self) -> Result<NodeId, Error> {
        self.directives()?;
        if !self.skip_if(Kind::DocumentStart)? {
            return self.fail("did not find expected <document start>");
        }
        let next = self.scanner.peek()?;
        match next.kind {
            Kind::VersionDirective | Kind::TagDirective | Kind::DocumentStart | Kind::DocumentEnd | Kind::StreamEnd => {
                Ok(self.tree.add_nothing(next.start))
            }
            _ => self.node(Within::Block),
        }
    }

    fn directives(&mut self) -> Result<(), Error> {
        let mut versioned = false;
        loop {
            match self.peek()? {
                Kind::VersionDirective if versioned => return self.fail("found duplicate %YAML directive"),
                Kind::VersionDirective => {
                    let Token { value, start, .. } = self.scanner.next()?;
                    if value != "1.1" {
                        return Err(Error::in_parser(start, "found incompatible YAML document"));
                    }
                    versioned = true;
                }
                Kind::TagDirective => {
                    let Token { value, suffix, start, .. } = self.scanner.next()?;
                    if self.handles.insert(value.into_owned(), suffix).is_some() {
                        return Err(Error::in_parser(start, "found duplicate %TAG directive"));
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    fn node(&mut self, within: Within) -> Result<NodeId, Error> {
        match self.peek()? {
            Kind::Alias => self.alias(),
            // Most nodes are no more than that.
            Kind::Plain | Kind::Text => {
                let start = self.scanner.peek()?.start;
                self.scalar(start, None, String::new())
            }
            _ => enough(|| self.content(within)),
        }
    }

    fn alias(&mut self) -> Result<NodeId, Error> {
        let Token { value: name, start, .. } = self.scanner.next()?;
        match self.anchors.get(&name) {
            Some(&target) => Ok(self.tree.add(start, Content::Alias { name, target })),
            None => Err(Error::in_meaning(start, format!("unknown anchor '{name}' referenced"))),
        }
    }

    fn content(&mut self, within: Within) -> Result<NodeId, Error> {
        let Properties { start, anchor, tag } = self.properties()?;
        let named = anchor.is_some() || !tag.is_empty();
        let block = within != Within::Flow;
        let children = match self.peek()? {
            Kind::BlockEntry if within == Within::BlockMapping => Self::indentless_sequence,
            Kind::FlowSequenceStart => Self::flow_sequence,
            Kind::FlowMappingStart => Self::flow_mapping,
            Kind::BlockSequenceStart if block => Self::block_sequence,
            Kind::BlockMappingStart if block => Self::block_mapping,
            Kind::Plain | Kind::Text => return self.scalar(start, anchor, tag),
            _ if named => {
                let scalar = Scalar { text: Cow::Borrowed(""), implicit: tag.is_empty(), tag };
                return Ok(self.add(start, anchor, Content::Scalar(scalar)));
            }
            _ => return self.fail("did not find expected node content"),
        };
        // The anchor is known within the node: whether that is an endless value is for the decoder to say.
        let id = self.add(start, anchor, Content::Sequence(Vec::new()));
        let content = children(self)?;
        self.tree.complete(id, content);
        Ok(id)
    }

    fn scalar(&mut self, start: Mark, anchor: Option<Cow<'t, str>>, tag: String) -> Result<NodeId, Error> {
        let Token { kind, value: text, .. } = self.scanner.next()?;
        let implicit = (tag.is_empty() && kind == Kind::Plain) || tag == "!";
        Ok(self.add(start, anchor, Content::Scalar(Scalar { text, tag, implicit })))
    }

    fn add(&mut self, start: Mark, anchor: Option<Cow<'t, str>>, content: Content<'t>) -> NodeId {
        let id = self.tree.add(start, content);
        if let Some(name) = anchor {
            self.anchors.insert(name, id);
        }
        id
    }

    fn properties(&mut self) -> Result<Properties<'t>, Error> {
        let start = self.scanner.peek()?.start;
        let (mut anchor, mut tag) = (None, None);
        loop {
            match self.peek()? {
                Kind::Anchor if anchor.is_none() => anchor = Some(self.scanner.next()?.value),
                Kind::Tag if tag.is_none() => tag = Some(self.scanner.next()?),
                _ => break,
            }
        }
        let tag = tag.map_or(Ok(String::new()), |token| self.whole_tag(token))?;
        Ok(Properties { start, anchor, tag })
    }

    fn whole_tag(&self, token: Token<'_>) -> Result<String, Error> {
        if token.value.is_empty() {
            return Ok(token.suffix);
        }
        let prefix = match &*token.value {
            handle if self.handles.contains_key(handle) => self.handles.get(handle).map(String::as_str),
            "!" => Some("!"),
            "!!" => Some(STANDARD_TAGS),
            _ => None,
        };
        match prefix {
            Some(prefix) if !prefix.is_empty() || !token.suffix.is_empty() => Ok(format!("{prefix}{}", token.suffix)),
            _ => Err(Error::in_parser(token.start, "found undefined tag handle")),
        }
    }

    fn block_sequence(&mut self) -> Result<Content<'t>, Error> {
        self.scanner.skip()?;
        let mut items = Vec::new();
        while self.peek()? == Kind::BlockEntry {
            items.push(self.value_unless(Within::Block, &[Kind::BlockEntry, Kind::BlockEnd])?);
        }
        if !self.skip_if(Kind::BlockEnd)? {
            return self.fail("did not find expected '-' indicator");
        }
        Ok(Content::Sequence(items))
    }

    fn indentless_sequence(&mut self) -> Result<Content<'t>, Error> {
        let mut items = Vec::new();
        while self.peek()? == Kind::BlockEntry {
            let ends = [Kind::BlockEntry, Kind::Key, Kind::Value, Kind::BlockEnd];
            items.push(self.value_unless(Within::Block, &ends)?);
        }
        Ok(Content::Sequence(items))
    }

    /// Takes an indicator and the node after it. There is none where one of these follows.
    fn value_unless(&mut self, within: Within, ends: &[Kind]) -> Result<NodeId, Error> {
        let indicator = self.scanner.next()?.end;
        let next = self.scanner.peek()?;
        // In brackets what is not written is where the next thing is, elsewhere it is where it would have been.
        let place = if within == Within::Flow { next.start } else { indicator };
        if ends.contains(&next.kind) { Ok(self.tree.add_nothing(place)) } else { self.node(within) }
    }

    fn block_mapping(&mut self) -> Result<Content<'t>, Error> {
        const ENDS: [Kind; 3] = [Kind::Key, Kind::Value, Kind::BlockEnd];
        self.scanner.skip()?;
        let first = self.pairs.len();
        while self.peek()? == Kind::Key {
            let key = self.value_unless(Within::BlockMapping, &ENDS)?;
            let next = self.scanner.peek()?;
            let value = match next.kind {
                Kind::Value => self.value_unless(Within::BlockMapping, &ENDS)?,
                _ => self.tree.add_nothing(next.start),
            };
            self.pairs.push((key, value));
        }
        if !self.skip_if(Kind::BlockEnd)? {
            return self.fail("did not find expected key");
        }
        Ok(Content::Mapping(self.pairs.drain(first..).collect()))
    }

    /// Goes to the next entry in brackets. Says whether there is one.
    fn next_entry(&mut self, first: bool, end: Kind, problem: &str) -> Result<bool, Error> {
        if self.peek()? != end && !first && !self.skip_if(Kind::FlowEntry)? {
            return self.fail(problem);
        }
        Ok(!self.skip_if(end)?)
    }

    fn flow_sequence(&mut self) -> Result<Content<'t>, Error> {
        const END: Kind = Kind::FlowSequenceEnd;
        self.scanner.skip()?;
        let mut items = Vec::new();
        while self.next_entry(items.is_empty(), END, "did not find expected ',' or ']'")? {
            items.push(if self.peek()? == Kind::Key { self.single_pair()? } else { self.node(Within::Flow)? });
        }
        Ok(Content::Sequence(items))
    }

    /// A mapping of one pair that has no braces, in a sequence.
    fn single_pair(&mut self) -> Result<NodeId, Error> {
        const ENDS: [Kind; 3] = [Kind::Value, Kind::FlowEntry, Kind::FlowSequenceEnd];
        let start = self.scanner.next()?.start;
        let next = self.scanner.peek()?;
        let key = if ENDS.contains(&next.kind) {
            // As in Go, what ends a missing key goes with it.
            self.scanner.skip()?;
            self.tree.add_nothing(next.end)
        } else {
            self.node(Within::Flow)?
        };
        let next = self.scanner.peek()?;
        let value = match next.kind {
            Kind::Value => self.value_unless(Within::Flow, &ENDS[1..])?,
            _ => self.tree.add_nothing(next.start),
        };
        Ok(self.tree.add(start, Content::Mapping(vec![(key, value)])))
    }

    fn flow_mapping(&mut self) -> Result<Content<'t>, Error> {
        const ENDS: [Kind; 3] = [Kind::Value, Kind::FlowEntry, Kind::FlowMappingEnd];
        self.scanner.skip()?;
        let mut pairs = Vec::new();
        while self.next_entry(pairs.is_empty(), Kind::FlowMappingEnd, "did not find expected ',' or '}'")? {
            let keyed = self.peek()? == Kind::Key;
            let key = if keyed { self.value_unless(Within::Flow, &ENDS)? } else { self.node(Within::Flow)? };
            let next = self.scanner.peek()?;
            let value = match next.kind {
                Kind::Value if keyed => self.value_unless(Within::Flow, &ENDS[1..])?,
                _ => self.tree.add_nothing(next.start),
            };
            pairs.push((key, value));
        }
        Ok(Content::Mapping(pairs))
    }
}
