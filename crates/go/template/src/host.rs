//! What the program that runs a template hands in.

use std::any::Any;
use std::fmt::Debug;
use std::rc::Rc;

use crate::error::Error;
use crate::function::Function;
use crate::text::Text;
use crate::value::Value;

/// The fields of a struct, in order.
pub type Fields = Vec<(&'static str, Value)>;

/// What a host's value looks like to Go.
pub enum Shape {
    /// A struct with these fields in this order.
    Struct(Fields),
    /// A pointer to such a struct.
    Pointer(Fields),
    /// A named type of one of Go's own kinds, such as `time.Duration`.
    Like(Value),
}

/// The formats in which Go writes values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `encoding/json`
    Json,
    /// `go.yaml.in/yaml/v3`
    Yaml,
    /// `github.com/BurntSushi/toml`
    Toml,
}

/// A field of a host's value.
pub struct Field {
    /// What is in it.
    pub value: Value,
    /// Whether its type is `interface {}`, which messages name in the place of the value's own type.
    pub any: bool,
}

/// A value of the program that runs a template, with fields and methods as Go's structs have them.
pub trait Host: Debug {
    /// The type's name as `%T` prints it; a pointer's begins with `*`.
    fn type_name(&self) -> &'static str;

    /// What it is made of, for printing, iterating, comparing.
    fn shape(&self) -> Shape;

    /// A method, with its receiver bound.
    fn method(&self, _name: &[u8]) -> Option<Rc<Function>> {
        None
    }

    /// A field of a struct. One that does not begin with an upper case letter is not seen.
    fn field(&self, name: &[u8]) -> Option<Field> {
        let (Shape::Struct(fields) | Shape::Pointer(fields)) = self.shape() else { return None };
        if !name.first()?.is_ascii_uppercase() {
            return None;
        }
        let (_, value) = fields.into_iter().find(|(field, _)| field.as_bytes() == name)?;
        Some(Field { value, any: false })
    }

    /// Another value of the same named type, made of this one. Cutting and counting up to a value gives such.
    fn like(&self, _value: &Value) -> Option<Value> {
        None
    }

    /// What a format makes of it, where its type says something else than its shape does. The fields of a struct have
    /// the names that the format gives them, and only those are there that it writes. To YAML and TOML, bytes are what is
    /// written as it is, without quotes.
    fn marshal(&self, _format: Format) -> Option<Result<Shape, Error>> {
        None
    }

    /// What is left of it when only what templates see of its fields is copied, if that is not all.
    fn copied(&self) -> Option<Value> {
        None
    }

    /// Itself, for whoever handed it in and takes it back as an argument.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }

    /// What its method `Error` or `String` answers, if it has one.
    fn text(&self) -> Option<Text> {
        None
    }
}
