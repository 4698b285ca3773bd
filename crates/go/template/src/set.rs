//! Sets of templates that call each other by name.

use std::cell::RefCell;
use std::rc::Rc;

use crate::error::Error;
use crate::exec;
use crate::function::Functions;
use crate::node::Template;
use crate::parser;
use crate::quick::Table;
use crate::quote;
use crate::text::Text;
use crate::value::Value;

/// What happens where a map has no entry for a key: Go's option `missingkey`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingKey {
    /// There is no value, and nothing is said about it.
    #[default]
    Default,
    /// There is the zero value of the map's values.
    Zero,
    /// It is an error.
    Error,
}

/// Templates that call each other by name, and the functions that they call.
///
/// A scope of a set sees all that is in the set, and what is parsed in the scope is seen only there.
#[derive(Debug)]
pub struct Set {
    name: Text,
    functions: Rc<Functions>,
    missing_key: MissingKey,
    around: Option<Rc<Set>>,
    templates: RefCell<Table<Text, Rc<Template>>>,
}

/// A text that has been parsed: can be put into any set with the same functions.
#[derive(Clone, Debug)]
pub struct Parsed {
    name: Text,
    templates: Rc<[Rc<Template>]>,
}

impl Set {
    /// A set without templates. Its name is only for messages.
    pub fn new(name: impl Into<Text>, functions: Rc<Functions>, missing_key: MissingKey) -> Rc<Self> {
        Rc::new(Self { name: name.into(), functions, missing_key, around: None, templates: RefCell::default() })
    }

    /// A set inside of this one.
    pub fn scope(self: &Rc<Self>) -> Rc<Self> {
        Rc::new(Self {
            name: self.name.clone(),
            functions: Rc::clone(&self.functions),
            missing_key: self.missing_key,
            around: Some(Rc::clone(self)),
            templates: RefCell::default(),
        })
    }

    /// Parses a text, without putting what it defines into the set.
    pub fn parse_only(&self, name: impl Into<Text>, text: impl Into<Text>) -> Result<Parsed, Error> {
        let name = name.into();
        let templates = parser::parse(&name, &text.into(), &self.functions)?.into();
        Ok(Parsed { name, templates })
    }

    /// Puts parsed templates into the set. They take the place of those of the same name, unless they are empty.
    pub fn add(&self, parsed: &Parsed) {
        for template in &*parsed.templates {
            if !template.empty || self.lookup(&template.name).is_none() {
                self.templates.borrow_mut().insert(template.name.clone(), Rc::clone(template));
            }
        }
    }

    /// Parses a text and puts what it is and what it defines into the set.
    pub fn parse(&self, name: impl Into<Text>, text: impl Into<Text>) -> Result<Parsed, Error> {
        let parsed = self.parse_only(name, text)?;
        self.add(&parsed);
        Ok(parsed)
    }

    /// The template of this name.
    pub fn lookup(&self, name: &[u8]) -> Option<Rc<Template>> {
        let own = self.templates.borrow().get(name).map(Rc::clone);
        own.or_else(|| self.around.as_ref()?.lookup(name))
    }

    /// What the template of this name makes of a value.
    pub fn execute(self: &Rc<Self>, name: &[u8], data: &Value) -> Result<Text, Error> {
        let Some(template) = self.lookup(name) else {
            let (name, set) = (quote::quote(name), quote::quote(&self.name));
            return Err(Error::new(format!("template: no template {name} associated with template {set}")));
        };
        self.execute_template(&template, data)
    }

    /// What a template makes of a value, with the templates of this set around it.
    pub fn execute_template(self: &Rc<Self>, template: &Template, data: &Value) -> Result<Text, Error> {
        exec::execute(self, template, data)
    }

    /// The set's functions.
    pub fn functions(&self) -> &Functions {
        &self.functions
    }

    pub(crate) fn missing_key(&self) -> MissingKey {
        self.missing_key
    }
}

impl Parsed {
    /// The template that is the text itself.
    pub fn main(&self) -> Option<&Rc<Template>> {
        self.templates.iter().find(|template| *template.name() == self.name)
    }

    /// All templates: the text itself, and those it defines.
    pub fn templates(&self) -> &[Rc<Template>] {
        &self.templates
    }
}

/// What a function knows of the template that calls it.
#[derive(Debug)]
pub struct Context<'s> {
    set: &'s Rc<Set>,
}

impl<'s> Context<'s> {
    pub(crate) fn new(set: &'s Rc<Set>) -> Self {
        Self { set }
    }

    /// The templates around the one that calls.
    pub fn set(&self) -> &'s Rc<Set> {
        self.set
    }
}
