//! A document as it is written: scalars are still text, aliases are not followed.

use std::borrow::Cow;

use crate::cursor::Mark;

/// A node of a tree, by its number.
pub(crate) type NodeId = usize;

/// A document.
#[derive(Debug, Default)]
pub(crate) struct Tree<'t> {
    nodes: Vec<Node<'t>>,
    /// Nothing, where the text has no document.
    pub(crate) root: Option<NodeId>,
}

/// A node, and where it is written, from 0.
#[derive(Debug)]
pub(crate) struct Node<'t> {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) content: Content<'t>,
}

#[derive(Debug)]
pub(crate) enum Content<'t> {
    Scalar(Scalar<'t>),
    Sequence(Vec<NodeId>),
    Mapping(Vec<(NodeId, NodeId)>),
    Alias { name: Cow<'t, str>, target: NodeId },
}

/// A scalar. It is implicit where its form decides what it means.
#[derive(Debug)]
pub(crate) struct Scalar<'t> {
    pub(crate) text: Cow<'t, str>,
    pub(crate) tag: String,
    pub(crate) implicit: bool,
}

impl<'t> Tree<'t> {
    /// One of a text of so many lines: most have a key and a value.
    pub(crate) fn of_lines(count: usize) -> Self {
        Self { nodes: Vec::with_capacity(2 * count + 1), root: None }
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node<'t> {
        &self.nodes[id]
    }

    pub(crate) fn add(&mut self, mark: Mark, content: Content<'t>) -> NodeId {
        self.nodes.push(Node { line: mark.line, column: mark.column, content });
        self.nodes.len() - 1
    }

    /// Gives a node its content, once its children are known.
    pub(crate) fn complete(&mut self, id: NodeId, content: Content<'t>) {
        self.nodes[id].content = content;
    }

    /// The scalar that is meant where nothing is written.
    pub(crate) fn add_nothing(&mut self, mark: Mark) -> NodeId {
        self.add(mark, Content::Scalar(Scalar { text: Cow::Borrowed(""), tag: String::new(), implicit: true }))
    }
}

impl Node<'_> {
    pub(crate) fn mark(&self) -> Mark {
        Mark { index: 0, line: self.line, column: self.column }
    }
}
