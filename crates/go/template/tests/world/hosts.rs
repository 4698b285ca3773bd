//! Values of the program that runs the templates.

use std::rc::Rc;

use fitout_go_template::{Error, Field, Function, Host, Map, Shape, Signature, Text, Type, Value};

use super::{int, joined, text};

/// A host's value by its name.
pub(crate) fn by_name(name: &str) -> Value {
    let like = |type_name, value| Value::Host(Rc::new(Like { type_name, value }));
    match name {
        "point" => Value::Host(Rc::new(Point { x: 1, y: 2 })),
        "pair" => Value::Host(Rc::new(Pair)),
        "version" => Value::Host(Rc::new(Version)),
        "problem" => Value::Host(Rc::new(Problem)),
        "names" => like("world.Names", Value::strings(["a", "b"])),
        "files" => {
            let files = [("f.txt", &b"hello"[..]), ("g.txt", &[0, 255])];
            let entries = files.map(|(name, bytes)| (name.into(), Value::Bytes(bytes.into())));
            like("world.Files", Value::Map(Rc::new(Map::of(Type::Map(&Type::String, &Type::BYTES), entries))))
        }
        "span" => like("world.Span", Value::int64(5)),
        "level" => like("world.Level", Value::int64(3)),
        "word" => like("world.Word", "w".into()),
        _ => Value::Nil,
    }
}

#[derive(Debug)]
struct Point {
    x: i64,
    y: i64,
}

impl Host for Point {
    fn type_name(&self) -> &'static str {
        "*world.Point"
    }

    fn shape(&self) -> Shape {
        let fields = [("X", Value::int(self.x)), ("Y", Value::int(self.y)), ("Label", "p".into()), ("Any", Value::Nil)];
        Shape::Pointer(fields.into())
    }

    fn field(&self, name: &[u8]) -> Option<Field> {
        Some(match name {
            b"X" => Field { value: Value::int(self.x), any: false },
            b"Y" => Field { value: Value::int(self.y), any: false },
            b"Label" => Field { value: "p".into(), any: false },
            b"Any" => Field { value: Value::Nil, any: true },
            _ => return None,
        })
    }

    fn method(&self, name: &[u8]) -> Option<Rc<Function>> {
        let (x, y) = (self.x, self.y);
        let signature =
            |params: &[Type], variadic, result, fails| Signature { params: params.to_vec(), variadic, result, fails };
        Some(match name {
            b"Sum" => Function::plain(&[], Type::INT, move |_, _| Value::int(x + y)),
            b"Nothing" => Function::plain(&[], Type::Any, |_, _| Value::Nil),
            b"Scale" => Function::plain(&[Type::INT], Type::Named("*world.Point"), move |_, arguments| {
                let by = int(&arguments[0]);
                Value::Host(Rc::new(Point { x: x.wrapping_mul(by), y: y.wrapping_mul(by) }))
            }),
            b"Join" => {
                Function::new(signature(&[Type::String, Type::String], true, Type::String, false), |_, arguments| {
                    Ok(joined(&arguments[0], &arguments[1..]))
                })
            }
            b"Fail" => Function::new(signature(&[Type::String], false, Type::String, true), |_, arguments| {
                Err(Error::new(text(&arguments[0]).to_str()))
            }),
            _ => return None,
        })
    }
}

#[derive(Debug)]
struct Pair;

impl Host for Pair {
    fn type_name(&self) -> &'static str {
        "world.Pair"
    }

    fn shape(&self) -> Shape {
        Shape::Struct(vec![("Left", "l".into()), ("Right", Value::int(7))])
    }

    fn field(&self, name: &[u8]) -> Option<Field> {
        match name {
            b"Left" => Some(Field { value: "l".into(), any: true }),
            b"Right" => Some(Field { value: Value::int(7), any: true }),
            _ => None,
        }
    }
}

#[derive(Debug)]
struct Version;

impl Host for Version {
    fn type_name(&self) -> &'static str {
        "*world.Version"
    }

    fn shape(&self) -> Shape {
        Shape::Pointer(vec![("Major", Value::int(1)), ("Minor", Value::int(2))])
    }

    fn text(&self) -> Option<Text> {
        Some("v1.2".into())
    }

    fn method(&self, name: &[u8]) -> Option<Rc<Function>> {
        (name == b"String").then(|| Function::plain(&[], Type::String, |_, _| "v1.2".into()))
    }
}

#[derive(Debug)]
struct Problem;

impl Host for Problem {
    fn type_name(&self) -> &'static str {
        "*world.Problem"
    }

    fn shape(&self) -> Shape {
        Shape::Pointer(vec![("Code", Value::int(4))])
    }

    fn text(&self) -> Option<Text> {
        Some("problem 4".into())
    }

    fn method(&self, name: &[u8]) -> Option<Rc<Function>> {
        (name == b"Error").then(|| Function::plain(&[], Type::String, |_, _| "problem 4".into()))
    }
}

/// A named type of one of Go's own kinds.
#[derive(Debug)]
struct Like {
    type_name: &'static str,
    value: Value,
}

impl Host for Like {
    fn type_name(&self) -> &'static str {
        self.type_name
    }

    fn shape(&self) -> Shape {
        Shape::Like(self.value.clone())
    }

    fn like(&self, value: &Value) -> Option<Value> {
        Some(Value::Host(Rc::new(Self { type_name: self.type_name, value: value.clone() })))
    }

    fn text(&self) -> Option<Text> {
        (self.type_name == "world.Span").then(|| format!("{}s", int(&self.value)).into())
    }

    fn method(&self, name: &[u8]) -> Option<Rc<Function>> {
        let value = self.value.clone();
        match (self.type_name, name) {
            ("world.Span", b"String") => {
                let text = self.text();
                Some(Function::plain(&[], Type::String, move |_, _| text.clone().map_or(Value::Nil, Value::String)))
            }
            ("world.Names", b"Has") => Some(Function::plain(&[Type::String], Type::Bool, move |_, arguments| {
                let Value::List(list) = &value else { return Value::Nil };
                Value::Bool(list.items().iter().any(|item| text(item) == text(&arguments[0])))
            })),
            ("world.Files", b"Get") => Some(Function::plain(&[Type::String], Type::String, move |_, arguments| {
                let Value::Map(map) = &value else { return Value::Nil };
                match map.get(&text(&arguments[0])) {
                    Some(Value::Bytes(bytes)) => Value::String(bytes),
                    _ => "".into(),
                }
            })),
            _ => None,
        }
    }
}
