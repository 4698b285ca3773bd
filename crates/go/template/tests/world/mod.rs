//! The values, hosts and functions of the tests: the same as in `testbed/oracle/template`.

mod hosts;
mod values;

use std::rc::Rc;

use fitout_go_template::{
    Error, Function, Functions, Map, MissingKey, Set, Signature, Text, Type, Unsigned, Value, sprint,
};
use fitout_go_template::{Floating, Signed};

pub(crate) use values::decode;

/// What a template "t" makes of a value, with others beside it.
pub(crate) fn run(
    text: &str,
    others: &[(String, String)],
    data: &Value,
    missing_key: MissingKey,
) -> Result<Text, Error> {
    let set = Set::new("root", Rc::new(functions()), missing_key);
    for (name, text) in others {
        set.parse(name.as_str(), text.as_str())?;
    }
    set.parse("t", text)?;
    set.execute(b"t", data)
}

fn int(value: &Value) -> i64 {
    if let Value::Int(_, int) = value { *int } else { 0 }
}

fn text(value: &Value) -> Text {
    if let Value::String(text) = value { text.clone() } else { "".into() }
}

fn joined(separator: &Value, parts: &[Value]) -> Value {
    let parts: Vec<Text> = parts.iter().map(text).collect();
    let parts: Vec<&[u8]> = parts.iter().map(|part| &**part).collect();
    Value::string(parts.join(&*text(separator)))
}

type Body = fn(&[Value]) -> Result<Value, Error>;

fn function(params: &[Type], variadic: bool, result: Type, fails: bool, body: Body) -> Rc<Function> {
    let signature = Signature { params: params.to_vec(), variadic, result, fails };
    Function::new(signature, move |_, arguments| body(arguments))
}

/// All functions, by their names.
pub(crate) fn functions() -> Functions {
    let mut all = Functions::default();
    for name in NAMES {
        all.add(*name, by_name(name).unwrap());
    }
    all
}

const NAMES: &[&str] = &[
    "add", "sum", "upper", "join", "list", "dict", "set", "fail", "null", "ident", "typeof", "half", "flip", "tiny",
    "small", "single", "strs", "keys", "label", "left", "until", "include", "tpl",
];

/// A function as a value.
fn by_name(name: &str) -> Option<Rc<Function>> {
    const INT: Type = Type::INT;
    const POINT: Type = Type::Named("*world.Point");
    Some(match name {
        "add" => function(&[INT, INT], false, INT, false, |a| Ok(Value::int(int(&a[0]).wrapping_add(int(&a[1]))))),
        "sum" => function(&[INT], true, INT, false, |a| {
            Ok(Value::int(a.iter().fold(0, |total, one| total.wrapping_add(int(one)))))
        }),
        "upper" => function(&[Type::String], false, Type::String, false, |a| {
            Ok(Value::string(text(&a[0]).to_str().to_uppercase()))
        }),
        "join" => function(&[Type::String, Type::String], true, Type::String, false, |a| Ok(joined(&a[0], &a[1..]))),
        "list" => function(&[Type::Any], true, Type::LIST, false, |a| Ok(Value::list(a.to_vec()))),
        "dict" => function(&[Type::Any], true, Type::MAP, true, dict),
        "set" => function(&[Type::MAP, Type::String, Type::Any], false, Type::MAP, true, set),
        "fail" => function(&[Type::String], false, Type::String, true, |a| Err(Error::new(text(&a[0]).to_str()))),
        "null" => function(&[], false, Type::Any, false, |_| Ok(Value::Nil)),
        "ident" => function(&[Type::Any], false, Type::Any, false, |a| Ok(a[0].clone())),
        "typeof" => function(&[Type::Any], false, Type::String, false, |a| Ok(Value::string(&*a[0].type_name()))),
        "half" => function(&[Type::FLOAT64], false, Type::FLOAT64, false, |a| match a[0] {
            Value::Float(_, float) => Ok(Value::float(float / 2.0)),
            _ => Ok(Value::Nil),
        }),
        "flip" => function(&[Type::Bool], false, Type::Bool, false, |a| Ok(Value::Bool(!a[0].is_true()))),
        "tiny" => same(Type::Int(Signed::Int8)),
        "small" => same(Type::Uint(Unsigned::Uint16)),
        "single" => same(Type::Float(Floating::Float32)),
        "strs" => function(&[Type::STRINGS], false, INT, false, |a| Ok(length(&a[0]))),
        "keys" => function(&[Type::MAP], false, INT, false, |a| Ok(length(&a[0]))),
        "label" => function(&[POINT], false, Type::String, false, |a| match &a[0] {
            Value::Host(host) => Ok(host.field(b"Label").unwrap().value),
            _ => Err(Error::new("runtime error: invalid memory address or nil pointer dereference")),
        }),
        "left" => function(&[Type::Named("world.Pair")], false, Type::Any, false, |a| match &a[0] {
            Value::Host(host) => Ok(host.field(b"Left").unwrap().value),
            _ => Ok(Value::Nil),
        }),
        "until" => function(&[INT], false, Type::List(&Type::INT), false, |a| {
            let items = (0..int(&a[0])).map(Value::int).collect();
            Ok(Value::List(Rc::new(fitout_go_template::List::of(Type::List(&Type::INT), items))))
        }),
        "include" | "tpl" => rendering(name == "tpl"),
        _ => return None,
    })
}

fn same(kind: Type) -> Rc<Function> {
    function(&[kind], false, kind, false, |a| Ok(a[0].clone()))
}

fn length(value: &Value) -> Value {
    Value::int(match value {
        Value::List(list) => i64::try_from(list.len()).unwrap(),
        Value::Map(map) => i64::try_from(map.len()).unwrap(),
        _ => 0,
    })
}

fn dict(arguments: &[Value]) -> Result<Value, Error> {
    if !arguments.len().is_multiple_of(2) {
        return Err(Error::new("an odd number of arguments"));
    }
    let pairs = arguments.chunks(2).map(|pair| Ok((sprint(&pair[..1])?, pair[1].clone())));
    Ok(Value::map(pairs.collect::<Result<Vec<_>, Error>>()?))
}

fn set(arguments: &[Value]) -> Result<Value, Error> {
    let Value::Map(map) = &arguments[0] else { return Err(Error::new("no map")) };
    if map.is_nil() {
        return Err(Error::new("set on nil"));
    }
    Map::insert(map, arguments[1].clone(), arguments[2].clone());
    Ok(arguments[0].clone())
}

/// Helm's `include`, by name, and `tpl`, by text.
fn rendering(by_text: bool) -> Rc<Function> {
    let signature =
        Signature { params: vec![Type::String, Type::Any], variadic: false, result: Type::String, fails: true };
    Function::new(signature, move |context, arguments| {
        if !by_text {
            return Ok(Value::String(context.set().execute(&text(&arguments[0]), &arguments[1])?));
        }
        let scope = context.set().scope();
        let parsed = scope.parse("inner", text(&arguments[0]))?;
        Ok(Value::String(scope.execute_template(parsed.main().unwrap(), &arguments[1])?))
    })
}
