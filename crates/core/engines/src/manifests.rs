//! The manifests engine: a directory of YAML files with parameters.

use fitout_model::{Manifests, ObjectId, Problem};
use serde_json::Value;

use crate::parameters::Parameters;
use crate::{Input, substitute};

/// The size limit for the files of a definition, so that the rendered objects can be stored.
const LIMIT: usize = 4 << 20;

pub(crate) fn objects(input: &Input, manifests: &Manifests) -> Result<Vec<Value>, Problem> {
    let size: usize = input.files.beside.values().map(Vec::len).sum();
    if size > LIMIT {
        return Err(problem(
            &input.definition.extension,
            &format!("its files are {:.1} MB, and {} MB is the limit", megabytes(size), LIMIT >> 20),
            "leave out what is not applied, or ship it as a chart",
        ));
    }
    let parameters = Parameters::new(input)?;
    let folder = format!("{}/", manifests.path.trim_end_matches('/'));
    let mut objects = Vec::new();
    for (path, content) in input.files.beside.iter().filter(|(path, _)| path.starts_with(&folder) && is_yaml(path)) {
        let text = std::str::from_utf8(content).map_err(|_| problem(path, "it is not UTF-8", "save it as UTF-8"))?;
        let documents = fitout_go_yaml::documents(text)
            .map_err(|error| problem(path, &error.to_string(), "fix the YAML at that line"))?;
        for document in documents {
            let place = format!("{path}:{}", document.line);
            let value = substitute::substitute(document.value, &parameters, &place)?;
            collect(value, &place, &mut objects)?;
        }
    }
    if objects.is_empty() {
        return Err(problem(&folder, "it contains no object", "add a file that ends in .yaml or .yml"));
    }
    Ok(objects)
}

#[expect(clippy::cast_precision_loss, reason = "for display")]
fn megabytes(size: usize) -> f64 {
    size as f64 / f64::from(1 << 20)
}

fn is_yaml(path: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|end| path.ends_with(end))
}

/// Adds an object. A `List` is replaced by its items.
pub(crate) fn collect(value: Value, place: &str, objects: &mut Vec<Value>) -> Result<(), Problem> {
    if value["kind"] == "List" && value["apiVersion"] == "v1" {
        let items = value["items"].as_array().cloned().unwrap_or_default();
        return items.into_iter().try_for_each(|item| collect(item, place, objects));
    }
    if ObjectId::of(&value).is_none() {
        let missing = ["apiVersion", "kind"].into_iter().find(|field| !value[*field].is_string());
        let missing = missing.unwrap_or("metadata.name");
        return Err(problem(place, &format!("an object needs `{missing}`"), "add it, or remove the document"));
    }
    objects.push(value);
    Ok(())
}

pub(crate) fn problem(field: &str, message: &str, hint: &str) -> Problem {
    Problem { field: field.to_owned(), message: message.to_owned(), hint: Some(hint.to_owned()) }
}
