//! From a tree to a value: scalars get their meaning, aliases and merge keys are followed.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};

use crate::cursor::Mark;
use crate::gosyntax;
use crate::resolve::{Meaning, resolve_tagged};
use crate::stack::enough;
use crate::tree::{Content, Node, NodeId, Scalar, Tree};
use crate::{Error, binary};

/// What becomes of equal keys.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Duplicates {
    LastWins,
    Refused,
}

/// A value of YAML, which has more kinds of keys than JSON.
#[derive(Clone, Debug)]
pub(crate) enum Decoded<'t> {
    Scalar(Key<'t>),
    Sequence(Vec<Decoded<'t>>),
    Mapping(Mapping<'t>),
}

/// Pairs in the order of their keys, of which no two are equal.
pub(crate) type Mapping<'t> = Vec<(Key<'t>, Decoded<'t>)>;

/// A scalar, which can be a key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key<'t> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(FloatBits),
    Text(Cow<'t, str>),
}

/// A float as bits, because only these can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FloatBits(u64);

impl FloatBits {
    pub(crate) fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// The value of a tree.
pub(crate) fn decode<'t>(tree: &'t Tree<'_>, duplicates: Duplicates, deepest: usize) -> Result<Decoded<'t>, Error> {
    let Some(root) = tree.root else { return Ok(Decoded::Scalar(Key::Null)) };
    // Go counts the document as one.
    let mut decoder = Decoder {
        tree,
        duplicates,
        found: vec![],
        open: HashSet::new(),
        count: 1,
        aliased: 0,
        within_aliases: 0,
        depth: 0,
        deepest,
    };
    let value = decoder.value(root)?;
    if decoder.found.is_empty() { Ok(value) } else { Err(Error::duplicates(decoder.found)) }
}

struct Decoder<'t> {
    tree: &'t Tree<'t>,
    duplicates: Duplicates,
    found: Vec<(Mark, String)>,
    /// The aliases that are being followed.
    open: HashSet<NodeId>,
    count: u32,
    aliased: u32,
    within_aliases: usize,
    depth: usize,
    /// How deep a text may nest.
    deepest: usize,
}

impl<'t> Decoder<'t> {
    fn value(&mut self, id: NodeId) -> Result<Decoded<'t>, Error> {
        let node = self.tree.node(id);
        self.enter(node)?;
        let value = match &node.content {
            Content::Scalar(scalar) => meaning(node, scalar).map(Decoded::Scalar),
            Content::Alias { name, target } => self.aliased(id, name, *target),
            Content::Sequence(items) => enough(|| self.sequence(items)),
            Content::Mapping(pairs) => enough(|| self.mapping(pairs)),
        };
        self.depth -= 1;
        value
    }

    fn aliased(&mut self, id: NodeId, name: &str, target: NodeId) -> Result<Decoded<'t>, Error> {
        self.open_alias(id, name)?;
        let value = self.value(target);
        self.close_alias(id);
        value
    }

    fn sequence(&mut self, items: &'t [NodeId]) -> Result<Decoded<'t>, Error> {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            values.push(self.value(*item)?);
        }
        Ok(Decoded::Sequence(values))
    }

    fn mapping(&mut self, pairs: &'t [(NodeId, NodeId)]) -> Result<Decoded<'t>, Error> {
        let mut mapping = Vec::with_capacity(pairs.len());
        self.add_pairs(pairs, &mut mapping, &mut BTreeSet::new())?;
        if !mapping.is_sorted_by(|(one, _), (other, _)| one < other) {
            // Equal keys stay in order, and the last of them wins.
            mapping.sort_by(|(one, _), (other, _)| one.cmp(other));
            mapping.dedup_by(|later, earlier| {
                let same = later.0 == earlier.0;
                if same {
                    std::mem::swap(later, earlier);
                }
                same
            });
        }
        Ok(Decoded::Mapping(mapping))
    }

    /// Counts, and refuses what would be too much.
    fn enter(&mut self, node: &Node<'_>) -> Result<(), Error> {
        self.count += 1;
        self.aliased += u32::from(self.within_aliases > 0);
        let share = f64::from(self.aliased) / f64::from(self.count);
        if self.aliased > 100 && self.count > 1000 && share > allowed_share(self.count) {
            return Err(Error::in_meaning(node.mark(), "document contains excessive aliasing"));
        }
        // Aliases can nest more deeply than the text does. That may be in brackets, in blocks, and in lists that are not
        // further in than their key.
        if self.depth == 4 * self.deepest {
            return Err(Error::in_meaning(node.mark(), format!("exceeded max depth of {}", self.deepest)));
        }
        self.depth += 1;
        Ok(())
    }

    fn open_alias(&mut self, id: NodeId, name: &str) -> Result<(), Error> {
        if !self.open.insert(id) {
            let mark = self.tree.node(id).mark();
            return Err(Error::in_meaning(mark, format!("anchor '{name}' value contains itself")));
        }
        self.within_aliases += 1;
        Ok(())
    }

    fn close_alias(&mut self, id: NodeId) {
        self.within_aliases -= 1;
        self.open.remove(&id);
    }

    fn add_pairs(
        &mut self,
        pairs: &'t [(NodeId, NodeId)],
        mapping: &mut Mapping<'t>,
        known: &mut BTreeSet<Key<'t>>,
    ) -> Result<(), Error> {
        for (key, value) in pairs {
            if self.is_merge(*key) {
                self.merge(*value, mapping, known)?;
                continue;
            }
            let decoded = self.key(*key)?;
            let content = self.value(*value)?;
            if self.is_new(*value, &decoded, known) {
                mapping.push((decoded, content));
            }
        }
        Ok(())
    }

    fn key(&mut self, id: NodeId) -> Result<Key<'t>, Error> {
        match self.value(id)? {
            Decoded::Scalar(key) => Ok(key),
            other => {
                let problem = format!("invalid map key: {}", gosyntax::value(&other));
                Err(Error::in_meaning(self.tree.node(id).mark(), problem))
            }
        }
    }

    /// Whether a key may be added. One that is there already is noted where that is refused.
    fn is_new(&mut self, value: NodeId, key: &Key<'t>, known: &mut BTreeSet<Key<'t>>) -> bool {
        let no_number = matches!(key, Key::Float(float) if float.get().is_nan());
        if self.duplicates == Duplicates::LastWins || no_number || known.insert(key.clone()) {
            return true;
        }
        self.found.push((self.tree.node(value).mark(), gosyntax::key(key)));
        false
    }

    fn is_merge(&self, key: NodeId) -> bool {
        matches!(&self.tree.node(key).content, Content::Scalar(Scalar { text, tag, implicit })
            if text == "<<" && (*implicit || tag == "tag:yaml.org,2002:merge"))
    }

    /// Adds what is behind a merge key. As in Go, it wins over the keys before it.
    fn merge(&mut self, id: NodeId, mapping: &mut Mapping<'t>, known: &mut BTreeSet<Key<'t>>) -> Result<(), Error> {
        match &self.tree.node(id).content {
            Content::Sequence(items) => items.iter().rev().try_for_each(|item| self.merge_one(*item, mapping, known)),
            _ => self.merge_one(id, mapping, known),
        }
    }

    fn merge_one(&mut self, id: NodeId, mapping: &mut Mapping<'t>, known: &mut BTreeSet<Key<'t>>) -> Result<(), Error> {
        let node = self.tree.node(id);
        match &node.content {
            Content::Mapping(pairs) => {
                self.enter(node)?;
                enough(|| self.add_pairs(pairs, mapping, known))?;
            }
            Content::Alias { name, target } if matches!(self.tree.node(*target).content, Content::Mapping(_)) => {
                self.enter(node)?;
                self.open_alias(id, name)?;
                self.merge_one(*target, mapping, known)?;
                self.close_alias(id);
            }
            _ => {
                let problem = "map merge requires map or sequence of maps as the value";
                return Err(Error::in_meaning(node.mark(), problem));
            }
        }
        self.depth -= 1;
        Ok(())
    }
}

/// The larger a document, the smaller the share of it that may come from aliases: nearly all of it up to 400,000 nodes,
/// a tenth from 4,000,000 on.
fn allowed_share(count: u32) -> f64 {
    const LOW: f64 = 400_000.0;
    const HIGH: f64 = 4_000_000.0;
    let over = (f64::from(count).clamp(LOW, HIGH) - LOW) / (HIGH - LOW);
    0.99 - 0.89 * over
}

fn meaning<'t>(node: &Node<'_>, scalar: &'t Scalar<'_>) -> Result<Key<'t>, Error> {
    if scalar.tag.is_empty() && !scalar.implicit {
        return Ok(Key::Text(Cow::Borrowed(&scalar.text)));
    }
    let fail = |problem| Error::in_meaning(node.mark(), problem);
    Ok(match resolve_tagged(&scalar.tag, &scalar.text).map_err(fail)? {
        Meaning::Null => Key::Null,
        Meaning::Bool(value) => Key::Bool(value),
        Meaning::Int(whole) => Key::Int(whole),
        Meaning::Uint(whole) => Key::Uint(whole),
        Meaning::Float(float) => Key::Float(FloatBits(float.to_bits())),
        Meaning::Text | Meaning::Timestamp => Key::Text(Cow::Borrowed(&scalar.text)),
        Meaning::Binary => {
            let decoded = binary::decode(&scalar.text);
            let decoded = decoded.ok_or_else(|| fail("!!binary value contains invalid base64 data".to_owned()))?;
            Key::Text(Cow::Owned(decoded))
        }
    })
}
