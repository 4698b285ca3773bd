//! Functions that templates call.

use std::fmt;
use std::rc::Rc;

use crate::error::Error;
use crate::kind::Type;
use crate::quick::Table;
use crate::set::Context;
use crate::value::Value;

/// What Go's declaration of a function says: it decides which calls are refused, and in which words.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The types of the parameters.
    pub params: Vec<Type>,
    /// Whether the last parameter takes any number of arguments, each of its type.
    pub variadic: bool,
    /// The type of the result.
    pub result: Type,
    /// Whether there is an error beside the result.
    pub fails: bool,
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("func(")?;
        for (place, param) in self.params.iter().enumerate() {
            let before = if place > 0 { ", " } else { "" };
            let dots = if self.variadic && place + 1 == self.params.len() { "..." } else { "" };
            write!(f, "{before}{dots}{param}")?;
        }
        if self.fails { write!(f, ") ({}, error)", self.result) } else { write!(f, ") {}", self.result) }
    }
}

type Body = dyn Fn(&Context<'_>, &[Value]) -> Result<Value, Error>;

/// A function: its declaration and what it does with arguments that fit the declaration.
pub struct Function {
    signature: Signature,
    /// Why templates cannot call it.
    unfit: Option<String>,
    body: Box<Body>,
}

impl Function {
    /// A function. It is called only with arguments that fit: as many as there are parameters, each of its type.
    pub fn new(
        signature: Signature,
        body: impl Fn(&Context<'_>, &[Value]) -> Result<Value, Error> + 'static,
    ) -> Rc<Self> {
        Rc::new(Self { signature, unfit: None, body: Box::new(body) })
    }

    /// A function that cannot fail.
    pub fn plain(params: &[Type], result: Type, body: impl Fn(&Context<'_>, &[Value]) -> Value + 'static) -> Rc<Self> {
        let signature = Signature { params: params.to_vec(), variadic: false, result, fails: false };
        Self::new(signature, move |context, arguments| Ok(body(context, arguments)))
    }

    /// A function without parameters that is there, but refused whenever it is called: its results are none for templates.
    pub fn unfit(reason: impl Into<String>) -> Rc<Self> {
        let signature = Signature { params: Vec::new(), variadic: false, result: Type::Any, fails: false };
        Rc::new(Self { signature, unfit: Some(reason.into()), body: Box::new(|_, _| Ok(Value::Nil)) })
    }

    /// The declaration.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    pub(crate) fn why_unfit(&self) -> Option<&str> {
        self.unfit.as_deref()
    }

    pub(crate) fn call(&self, context: &Context<'_>, arguments: &[Value]) -> Result<Value, Error> {
        (self.body)(context, arguments)
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.signature)
    }
}

/// The functions of a set of templates, beside Go's own.
#[derive(Debug, Default)]
pub struct Functions {
    /// Functions that are there for others too, and how many: their places come first.
    shared: Option<Rc<Functions>>,
    first: usize,
    places: Table<String, usize>,
    all: Vec<Rc<Function>>,
}

impl Functions {
    /// Those functions, and what is added to them here.
    pub fn over(shared: Rc<Self>) -> Self {
        let first = shared.first + shared.all.len();
        Self { shared: Some(shared), first, ..Self::default() }
    }

    /// Adds a function. It comes before an earlier one and before one of Go's own of the same name.
    pub fn add(&mut self, name: impl Into<String>, function: Rc<Function>) {
        self.places.insert(name.into(), self.first + self.all.len());
        self.all.push(function);
    }

    /// The function of a name.
    pub fn get(&self, name: &str) -> Option<&Rc<Function>> {
        match self.places.get(name) {
            Some(place) => Some(&self.all[place - self.first]),
            None => self.shared.as_ref()?.get(name),
        }
    }

    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied().or_else(|| self.shared.as_ref()?.place(name))
    }

    pub(crate) fn at(&self, place: usize) -> &Function {
        match (place.checked_sub(self.first), &self.shared) {
            (None, Some(shared)) => shared.at(place),
            (own, _) => &self.all[own.unwrap_or_default()],
        }
    }
}
