//! The schemas of schemas.

use std::cell::OnceCell;
use std::rc::Rc;

use referencing::meta;
use serde_json::{Value as Json, json};

use super::compile::Compiler;
use super::draft::Draft;
use super::format::Asserted;
use super::node::{Id, Node};

/// The schema of schemas at an address, as Helm's library has it.
pub(crate) fn document(url: &str) -> Option<Json> {
    let name = url.strip_prefix("http://json-schema.org/").or_else(|| url.strip_prefix("https://json-schema.org/"))?;
    let published = match name {
        "draft-04/schema" => return Some(draft4()),
        "draft-06/schema" => return Some(draft6()),
        "draft-07/schema" => return Some(with_strict_enum((**meta::DRAFT7).clone())),
        "draft/2019-09/schema" => &meta::DRAFT201909,
        "draft/2019-09/meta/applicator" => &meta::DRAFT201909_APPLICATOR,
        "draft/2019-09/meta/content" => &meta::DRAFT201909_CONTENT,
        "draft/2019-09/meta/core" => &meta::DRAFT201909_CORE,
        "draft/2019-09/meta/format" => &meta::DRAFT201909_FORMAT,
        "draft/2019-09/meta/meta-data" => &meta::DRAFT201909_META_DATA,
        "draft/2019-09/meta/validation" => &meta::DRAFT201909_VALIDATION,
        "schema" | "draft/2020-12/schema" => &meta::DRAFT202012,
        "draft/2020-12/meta/applicator" => &meta::DRAFT202012_APPLICATOR,
        "draft/2020-12/meta/content" => &meta::DRAFT202012_CONTENT,
        "draft/2020-12/meta/core" => &meta::DRAFT202012_CORE,
        "draft/2020-12/meta/format-annotation" => &meta::DRAFT202012_FORMAT_ANNOTATION,
        "draft/2020-12/meta/format-assertion" => &meta::DRAFT202012_FORMAT_ASSERTION,
        "draft/2020-12/meta/meta-data" => &meta::DRAFT202012_META_DATA,
        "draft/2020-12/meta/unevaluated" => &meta::DRAFT202012_UNEVALUATED,
        "draft/2020-12/meta/validation" => &meta::DRAFT202012_VALIDATION,
        _ => return None,
    };
    Some((***published).clone())
}

/// The library asks more of `enum` than what is published.
fn with_strict_enum(mut schema: Json) -> Json {
    schema["properties"]["enum"]["minItems"] = json!(1);
    schema["properties"]["enum"]["uniqueItems"] = json!(true);
    schema
}

fn draft4() -> Json {
    let mut schema = with_strict_enum((**meta::DRAFT4).clone());
    schema["properties"]["$ref"] = json!({ "type": "string" });
    schema["properties"]["id"]["format"] = json!("uriref");
    schema["properties"]["$schema"]["format"] = json!("uri");
    schema
}

fn draft6() -> Json {
    let mut schema = with_strict_enum((**meta::DRAFT6).clone());
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.remove("examples");
    }
    if let Some(patterns) = schema["properties"]["patternProperties"].as_object_mut() {
        patterns.remove("propertyNames");
    }
    schema
}

/// A schema of schemas, ready to be used.
pub(crate) struct Compiled {
    pub(crate) nodes: Vec<Node>,
    pub(crate) root: Id,
}

thread_local! {
    static COMPILED: [OnceCell<Rc<Compiled>>; 5] = const { [const { OnceCell::new() }; 5] };
}

/// The schema that schemas of a version have to fit. It is compiled once.
pub(crate) fn schema(draft: Draft) -> Rc<Compiled> {
    let place = Draft::ALL.iter().position(|known| *known == draft).unwrap_or_default();
    COMPILED.with(|compiled| Rc::clone(compiled[place].get_or_init(|| Rc::new(compiled_now(draft)))))
}

fn compiled_now(draft: Draft) -> Compiled {
    let mut compiler = Compiler::new(Asserted::Always);
    // What is published can be compiled; a test sees to it.
    let root = compiler.compile(draft.url(), &mut Vec::new()).unwrap_or_default();
    Compiled { nodes: compiler.into_nodes(), root }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_published_can_be_compiled() {
        for draft in Draft::ALL {
            let mut compiler = Compiler::new(Asserted::Always);
            compiler.compile(draft.url(), &mut Vec::new()).unwrap();
            assert!(compiler.into_nodes().len() > 20, "{draft:?}");
        }
    }
}
