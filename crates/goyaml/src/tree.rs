//! A document as it is written: scalars are still text, aliases are not followed.

use crate::cursor::Mark;

/// A node of a tree, by its number.
pub(crate) type NodeId = usize;

/// A document.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    /// Nothing, where the text has no document.
    pub(crate) root: Option<NodeId>,
}

/// A node, and where it is written, from 0.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) content: Content,
}

#[derive(Debug)]
pub(crate) enum Content {
    Scalar(Scalar),
    Sequence(Vec<NodeId>),
    Mapping(Vec<(NodeId, NodeId)>),
    Alias { name: String, target: NodeId },
}

/// A scalar. It is implicit where its form decides what it means.
#[derive(Debug)]
pub(crate) struct Scalar {
    pub(crate) text: String,
    pub(crate) tag: String,
    pub(crate) implicit: bool,
}

impl Tree {
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    pub(crate) fn add(&mut self, mark: Mark, content: Content) -> NodeId {
        self.nodes.push(Node { line: mark.line, column: mark.column, content });
        self.nodes.len() - 1
    }

    /// Gives a node its content, once its children are known.
    pub(crate) fn complete(&mut self, id: NodeId, content: Content) {
        self.nodes[id].content = content;
    }

    /// The scalar that is meant where nothing is written.
    pub(crate) fn add_nothing(&mut self, mark: Mark) -> NodeId {
        self.add(mark, Content::Scalar(Scalar { text: String::new(), tag: String::new(), implicit: true }))
    }
}

impl Node {
    pub(crate) fn mark(&self) -> Mark {
        Mark { index: 0, line: self.line, column: self.column }
    }
}
