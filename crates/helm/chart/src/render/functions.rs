//! The functions that need the templates around them: `include`, `tpl`, `required`, `fail`, `lookup`.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use fitout_go_template::{Error, Function, Functions, Parsed, Signature, Text, Type, Value, quote};
use fitout_helm_functions::Environment;

use super::cleaned;

/// How often a template may include itself before it is taken for endless.
const NESTED_INCLUDES: u32 = 1000;

/// How deeply `tpl` may call itself. Go has no such bound: there the program ends.
const NESTED_TEXTS: u32 = 1000;

/// What stands around the message of `required` and `fail`, so that it is found in the message of the execution.
pub(super) const BEGIN: &str = "HELM_ERR_START";
pub(super) const END: &str = "HELM_ERR_END";

/// The name of a set of templates, and of the texts that `tpl` is given.
pub(super) const ROOT: &str = "gotpl";

/// What a template asks of the cluster: an object, or all of a kind where it names none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lookup {
    /// The API version, such as `apps/v1`.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// The namespace, or nothing.
    pub namespace: String,
    /// The name, or nothing.
    pub name: String,
}

/// Answers what templates ask of the cluster.
pub type Answer = dyn Fn(&Lookup) -> Result<Value, String>;

/// All functions that templates of a chart call: those of [`fitout_helm_functions`], and those that need the templates around them.
pub fn all(world: &Rc<dyn Environment>, lint: bool, answer: Option<Rc<Answer>>) -> Functions {
    let mut functions = fitout_helm_functions::functions(world);
    functions.add("include", include());
    functions.add("tpl", tpl());
    functions.add("required", required(lint));
    functions.add("fail", fail(lint));
    functions.add("lookup", lookup(answer));
    functions
}

fn fallible(
    params: &[Type],
    result: Type,
    body: impl Fn(&fitout_go_template::Context<'_>, &[Value]) -> Result<Value, Error> + 'static,
) -> Rc<Function> {
    Function::new(Signature { params: params.to_vec(), variadic: false, result, fails: true }, body)
}

fn text(value: &Value) -> Text {
    if let Value::String(text) = value { text.clone() } else { "".into() }
}

fn include() -> Rc<Function> {
    let included: RefCell<HashMap<Text, u32>> = RefCell::default();
    fallible(&[Type::String, Type::Any], Type::String, move |context, arguments| {
        let name = text(&arguments[0]);
        {
            let mut included = included.borrow_mut();
            let count = included.entry(name.clone()).or_default();
            if *count > NESTED_INCLUDES {
                let name = name.to_str();
                let message = format!("rendering template has a nested reference name: {name}: ");
                return Err(Error::wrap(message, Error::new("unable to execute template")));
            }
            *count += 1;
        }
        let output = context.set().execute(&name, &arguments[1]);
        if let Some(count) = included.borrow_mut().get_mut(&name) {
            *count -= 1;
        }
        output.map(Value::String)
    })
}

fn tpl() -> Rc<Function> {
    // The same text is often given many times: it is parsed once.
    let known: RefCell<HashMap<Text, Parsed>> = RefCell::default();
    let depth = Cell::new(0);
    fallible(&[Type::String, Type::Any], Type::String, move |context, arguments| {
        let source = text(&arguments[0]);
        let scope = context.set().scope();
        let parsed = known.borrow().get(&source).cloned();
        let parsed = if let Some(parsed) = parsed {
            parsed
        } else {
            let parsed = scope
                .parse_only(ROOT, source.clone())
                .map_err(|error| Error::wrap(format!("cannot parse template {}: ", quote(&source)), error))?;
            known.borrow_mut().insert(source.clone(), parsed.clone());
            parsed
        };
        scope.add(&parsed);
        let Some(main) = parsed.main() else { return Ok("".into()) };
        if depth.get() >= NESTED_TEXTS {
            return Err(Error::new(format!("tpl calls itself more than {NESTED_TEXTS} times: the text has no end")));
        }
        depth.set(depth.get() + 1);
        let output = scope.execute_template(main, &arguments[1]);
        depth.set(depth.get() - 1);
        match output {
            Ok(output) => Ok(Value::String(cleaned(output))),
            Err(error) => {
                Err(Error::wrap(format!("error during tpl function execution for {}: ", quote(&source)), error))
            }
        }
    })
}

fn wrapped(message: &[u8]) -> Error {
    Error::new(format!("{BEGIN}{}{END}", String::from_utf8_lossy(message)))
}

fn required(lint: bool) -> Rc<Function> {
    fallible(&[Type::String, Type::Any], Type::Any, move |_, arguments| {
        let missing = match &arguments[1] {
            Value::Nil => true,
            Value::String(text) => text.is_empty(),
            _ => false,
        };
        match missing {
            true if lint => Ok("".into()),
            true => Err(wrapped(&text(&arguments[0]))),
            false => Ok(arguments[1].clone()),
        }
    })
}

fn fail(lint: bool) -> Rc<Function> {
    fallible(
        &[Type::String],
        Type::String,
        move |_, arguments| {
            if lint { Ok("".into()) } else { Err(wrapped(&text(&arguments[0]))) }
        },
    )
}

fn lookup(answer: Option<Rc<Answer>>) -> Rc<Function> {
    const TEXTS: [Type; 4] = [Type::String; 4];
    fallible(&TEXTS, Type::MAP, move |_, arguments| {
        let Some(answer) = &answer else { return Ok(Value::map([("", Value::Nil); 0])) };
        let field = |place: usize| text(&arguments[place]).to_str().into_owned();
        let asked = Lookup { api_version: field(0), kind: field(1), namespace: field(2), name: field(3) };
        answer(&asked).map_err(Error::new)
    })
}
