//! Branches, tags and commits, by name.

use std::collections::BTreeSet;

use fitout_model::nearest;
use gix_hash::ObjectId;
use gix_protocol::handshake::Ref;

use crate::connection::Connection;
use crate::{Cause, Reference, ReferenceKind};

/// How many names a message has.
const MAX_NAMES: usize = 5;

const BRANCHES: &str = "refs/heads/";
const TAGS: &str = "refs/tags/";

/// A reference with a valid name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Default,
    Branch(String),
    Tag(String),
    Commit(ObjectId),
}

/// The object and the commit that a reference names.
pub(crate) struct Target {
    /// The object to ask for: a tag, or the commit.
    pub(crate) want: ObjectId,
    /// The commit.
    pub(crate) commit: ObjectId,
    /// The reference, for messages.
    pub(crate) name: String,
}

pub(crate) fn parse(reference: Reference<'_>) -> Result<Wanted, Cause> {
    let invalid = |name: &str, kind| Cause::InvalidReference(name.to_owned(), kind);
    match reference {
        Reference::Default => Ok(Wanted::Default),
        Reference::Branch(name) if is_name(name) => Ok(Wanted::Branch(name.to_owned())),
        Reference::Branch(name) => Err(invalid(name, ReferenceKind::Branch)),
        Reference::Tag(name) if is_name(name) => Ok(Wanted::Tag(name.to_owned())),
        Reference::Tag(name) => Err(invalid(name, ReferenceKind::Tag)),
        Reference::Commit(name) => parse_commit(name).map(Wanted::Commit),
    }
}

pub(crate) fn parse_commit(name: &str) -> Result<ObjectId, Cause> {
    name.parse().map_err(|_| Cause::InvalidReference(name.to_owned(), ReferenceKind::Commit))
}

/// Whether git allows the name. Nothing in it can end the line of the protocol in which it is sent.
fn is_name(name: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.');
    let is_special = |character: char| " ~^:?*[\\".contains(character) || character.is_control();
    name.split('/').all(is_part)
        && !name.starts_with('-')
        && !name.ends_with('.')
        && !name.contains("..")
        && !name.contains("@{")
        && !name.contains(is_special)
}

/// Finds what the reference names.
pub(crate) fn resolve(connection: &mut Connection<'_>, wanted: &Wanted) -> Result<Target, Cause> {
    let (full, name) = match wanted {
        Wanted::Default => ("HEAD".to_owned(), "the default branch".to_owned()),
        Wanted::Branch(name) => (format!("{BRANCHES}{name}"), format!("branch {name}")),
        Wanted::Tag(name) => (format!("{TAGS}{name}"), format!("tag {name}")),
        Wanted::Commit(commit) => {
            return Ok(Target { want: *commit, commit: *commit, name: format!("commit {commit}") });
        }
    };
    let listed = connection.references(std::slice::from_ref(&full))?;
    let Some(found) = listed.iter().find(|reference| reference.unpack().0 == full.as_str()) else {
        return Err(unknown(connection, wanted)?);
    };
    let (_, target, peeled) = found.unpack();
    let name = match (found, wanted) {
        (Ref::Symbolic { target, .. }, Wanted::Default) => {
            let target = target.to_string();
            format!("branch {}", target.strip_prefix(BRANCHES).unwrap_or(&target))
        }
        _ => name,
    };
    let want = target.ok_or(Cause::Empty)?.to_owned();
    let commit = peeled.map_or(want, ToOwned::to_owned);
    Ok(Target { want, commit, name })
}

/// The cause of a reference that does not exist, with those that do.
fn unknown(connection: &mut Connection<'_>, wanted: &Wanted) -> Result<Cause, Cause> {
    let (kind, name, prefix) = match wanted {
        Wanted::Tag(name) => (ReferenceKind::Tag, name.as_str(), TAGS),
        Wanted::Branch(name) => (ReferenceKind::Branch, name.as_str(), BRANCHES),
        _ => (ReferenceKind::Branch, "", BRANCHES),
    };
    let listed = connection.references(&[prefix.to_owned()])?;
    let mut names: BTreeSet<String> = BTreeSet::new();
    for reference in &listed {
        let full = reference.unpack().0.to_string();
        names.extend(full.strip_prefix(prefix).map(str::to_owned));
    }
    if *wanted == Wanted::Default && names.is_empty() {
        return Ok(Cause::Empty);
    }
    let name = if name.is_empty() { "HEAD (the default)" } else { name };
    Ok(Cause::Unknown { kind, name: name.to_owned(), existing: sorted(name, names) })
}

/// A few of the names, the nearest first.
fn sorted(name: &str, mut names: BTreeSet<String>) -> Vec<String> {
    let mut sorted = Vec::new();
    while sorted.len() < MAX_NAMES {
        let next = nearest(name, names.iter().map(String::as_str)).or(names.first().map(String::as_str));
        let Some(next) = next.map(str::to_owned) else { break };
        names.remove(&next);
        sorted.push(next);
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_git_allows() {
        for name in ["main", "team/x", "v1.2.3", "release-1.36", "a@b", "ü"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "a b", "a\nwant x", "../x", "a..b", "-x", "a//b", "/a", ".a", "a.", "a~1", "@{u}x", "a:b"] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn nearest_names_are_first() {
        let names = ["a", "b", "c", "d", "e", "main"].map(str::to_owned).into();
        assert_eq!(sorted("mian", names), ["main", "a", "b", "c", "d"]);
    }
}
