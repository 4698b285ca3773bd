//! `RenderProgress`: templates and values in, texts out.

mod capabilities;
mod error;
mod files;
mod functions;
mod glob;
mod named;
mod version;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use fitout_go_template::{Map, MissingKey, Parsed, Set, Text, Type, Value};
use fitout_helm_functions::Environment;

use crate::Chart;
use crate::load::clean;
use crate::values::{self, Schemas};

pub use capabilities::{Capabilities, HELM_VERSION};
pub use error::{Error, Place};
pub use functions::{Answer, Lookup, all as functions};
pub use version::KubeVersion;

use files::Files;
use functions::ROOT;
use named::{VALUES, named};

/// How a chart is rendered.
#[derive(Default)]
pub struct Options {
    /// Whether what is missing is an error.
    pub strict: bool,
    /// Whether `required` and `fail` let everything pass.
    pub lint: bool,
    /// Whether values are checked against the schemas of charts.
    pub schemas: Schemas,
    /// What answers `lookup`; without it there is nothing to be found.
    pub answer: Option<Rc<Answer>>,
}

/// A template, with what it is given.
struct Task {
    path: String,
    text: Text,
    /// Shared by all templates of a chart.
    values: Rc<Map>,
    base: Text,
    /// What was parsed of its chart.
    parsed: Rc<RefCell<HashMap<String, Parsed>>>,
}

/// What is the same for all templates.
struct Common {
    release: Value,
    capabilities: Value,
}

/// Renders all templates of a chart and its dependencies: each file's path and text. `top` is what the chart itself is
/// given.
pub(crate) fn render(
    chart: &Chart,
    top: &Map,
    world: &Rc<dyn Environment>,
    options: &Options,
) -> Result<Vec<(String, Text)>, Error> {
    let given = |name: &[u8]| top.get(name).unwrap_or_default();
    let common = Common { release: given(b"Release"), capabilities: given(b"Capabilities") };
    let values = named(given(b"Values"));
    let mut tasks = Vec::new();
    collect(chart, &values, &common, &mut tasks);
    // Helm goes from the deepest path up, and backwards through the names: of two templates of one name, the last counts.
    let depth = |path: &str| memchr::memchr_iter(b'/', path.as_bytes()).count();
    tasks.sort_by(|one, other| (depth(&other.path), &other.path).cmp(&(depth(&one.path), &one.path)));
    tasks.dedup_by(|later, earlier| later.path == earlier.path);
    let missing_key = if options.strict { MissingKey::Error } else { MissingKey::Zero };
    let functions = Rc::new(functions(world, options.lint, options.answer.clone()));
    let set = Set::new(ROOT, functions, missing_key);
    for task in &tasks {
        set.add(&parsed(task, &set).map_err(|cause| error::unparsed(&task.path, &cause))?);
    }
    let mut rendered = Vec::with_capacity(tasks.len());
    for task in tasks {
        if is_partial(&task.path) {
            continue;
        }
        let about = [("Name", Value::string(task.path.as_str())), ("BasePath", Value::String(task.base))];
        task.values.insert("Template".into(), named(Value::map(about)));
        let output = set
            .execute(task.path.as_bytes(), &Value::Map(task.values))
            .map_err(|cause| error::unexecuted(&task.path, &cause))?;
        rendered.push((task.path, cleaned(output)));
    }
    Ok(rendered)
}

/// The template of a task: parsed before, for another release of the same chart, or now. All sets have the same functions.
fn parsed(task: &Task, set: &Set) -> Result<Parsed, fitout_go_template::Error> {
    if let Some(known) = task.parsed.borrow().get(&task.path) {
        return Ok(known.clone());
    }
    let parsed = set.parse_only(task.path.as_str(), task.text.clone())?;
    task.parsed.borrow_mut().insert(task.path.clone(), parsed.clone());
    Ok(parsed)
}

/// Whether a template is only there to be included by others.
pub(crate) fn is_partial(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with('_'))
}

/// Go shows a value that is missing in words, which Helm takes out of all it renders.
fn cleaned(output: Text) -> Text {
    const NOTHING: &[u8] = b"<no value>";
    let mut found = memchr::memmem::find_iter(&output, NOTHING).peekable();
    if found.peek().is_none() {
        return output;
    }
    let mut clean = Vec::with_capacity(output.len());
    let mut from = 0;
    for at in found {
        clean.extend_from_slice(&output[from..at]);
        from = at + NOTHING.len();
    }
    clean.extend_from_slice(&output[from..]);
    clean.into()
}

/// Collects the templates of a chart, with what each is given. The answer is that, for the chart above.
fn collect(chart: &Chart, values: &Value, common: &Common, tasks: &mut Vec<Task>) -> Value {
    let subcharts = Rc::new(Map::of(Type::MAP, []));
    let files = chart.files.iter().map(|file| (Rc::clone(&file.name), file.data.clone())).collect();
    let metadata = chart.metadata.to_value();
    if let Value::Map(metadata) = &metadata {
        metadata.insert("IsRoot".into(), chart.is_root().into());
    }
    let given = [
        ("Chart", metadata),
        ("Files", Files::value(files)),
        ("Release", common.release.clone()),
        ("Capabilities", common.capabilities.clone()),
        ("Values", values.clone()),
        ("Subcharts", Value::Map(Rc::clone(&subcharts))),
    ];
    let given = Rc::new(Map::of(Type::MAP, given.map(|(key, value)| (Value::from(key), value))));
    let dot = Rc::new(Map::under(&VALUES, Rc::clone(&given)));
    for child in &chart.dependencies {
        let own = match values {
            Value::Map(values) => values.get(child.name().as_bytes()),
            _ => None,
        };
        // The same map: what a template of one chart puts into it, those of the other see.
        let own = own.filter(|own| matches!(own, Value::Map(_))).unwrap_or_else(|| Value::Map(values::empty()));
        let own = named(own);
        subcharts.insert(Value::string(child.name()), collect(child, &own, common, tasks));
    }
    let path = chart.full_path();
    let base = Text::from(format!("{path}/templates"));
    for template in chart.templates.iter().filter(|template| !chart.is_library() || is_partial(&template.name)) {
        tasks.push(Task {
            path: clean(&format!("{path}/{}", template.name)),
            text: template.data.clone(),
            values: Rc::clone(&dot),
            base: base.clone(),
            parsed: Rc::clone(&chart.parsed),
        });
    }
    Value::Map(given)
}
