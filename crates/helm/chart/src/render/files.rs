//! The files of a chart that are no templates: `.Files`.

use std::collections::BTreeMap;
use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fitout_go_template::{Function, Host, Map, Shape, Signature, Text, Type, Value};

use super::glob::Glob;

/// Files by their names.
#[derive(Debug)]
pub(super) struct Files(Rc<BTreeMap<Rc<str>, Text>>);

const KIND: Type = Type::Map(&Type::String, &Type::BYTES);
const NAME: &str = "engine.files";

impl Files {
    pub(super) fn value(files: BTreeMap<Rc<str>, Text>) -> Value {
        Value::Host(Rc::new(Self(Rc::new(files))))
    }
}

fn text(value: &Value) -> &[u8] {
    if let Value::String(text) = value { text } else { b"" }
}

fn get(files: &BTreeMap<Rc<str>, Text>, name: &Value) -> Text {
    let name = str::from_utf8(text(name)).ok();
    name.and_then(|name| files.get(name)).cloned().unwrap_or_else(|| "".into())
}

fn method(
    files: &Rc<BTreeMap<Rc<str>, Text>>,
    params: &[Type],
    result: Type,
    body: impl Fn(&BTreeMap<Rc<str>, Text>, &[Value]) -> Value + 'static,
) -> Rc<Function> {
    let files = Rc::clone(files);
    let signature = Signature { params: params.to_vec(), variadic: false, result, fails: false };
    Function::new(signature, move |_, arguments| Ok(body(&files, arguments)))
}

impl Host for Files {
    fn type_name(&self) -> &'static str {
        NAME
    }

    fn shape(&self) -> Shape {
        let entries = self.0.iter().map(|(name, data)| (Value::string(&**name), Value::Bytes(data.clone())));
        Shape::Like(Value::Map(Rc::new(Map::of(KIND, entries))))
    }

    fn method(&self, name: &[u8]) -> Option<Rc<Function>> {
        const ONE: &[Type] = &[Type::String];
        Some(match name {
            b"Get" => method(&self.0, ONE, Type::String, |files, a| Value::String(get(files, &a[0]))),
            b"GetBytes" => method(&self.0, ONE, Type::BYTES, |files, a| Value::Bytes(get(files, &a[0]))),
            b"Lines" => method(&self.0, ONE, Type::STRINGS, |files, a| lines(&get(files, &a[0]))),
            b"AsConfig" => method(&self.0, &[], Type::String, |files, _| as_yaml(files, Text::clone)),
            b"AsSecrets" => {
                method(&self.0, &[], Type::String, |files, _| as_yaml(files, |data| STANDARD.encode(&**data).into()))
            }
            b"Glob" => method(&self.0, ONE, Type::Named(NAME), |files, a| {
                let glob = Glob::new(&String::from_utf8_lossy(text(&a[0])));
                let found = files.iter().filter(|(name, _)| glob.matches(name));
                Self::value(found.map(|(name, data)| (Rc::clone(name), data.clone())).collect())
            }),
            _ => return None,
        })
    }
}

fn lines(data: &[u8]) -> Value {
    if data.is_empty() {
        return Value::strings([""; 0]);
    }
    Value::strings(data.strip_suffix(b"\n").unwrap_or(data).split(|byte| *byte == b'\n'))
}

/// A map of the files' last names. Where two have the same, Go leaves it to chance; here it is the last.
fn as_yaml(files: &BTreeMap<Rc<str>, Text>, data: impl Fn(&Text) -> Text) -> Value {
    let name = |path: &str| path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
    let entries = files.iter().map(|(path, content)| (name(path), Value::String(data(content))));
    let written = fitout_helm_functions::to_yaml(&Value::map(entries)).unwrap_or_default();
    Value::string(written.strip_suffix('\n').unwrap_or_default())
}
