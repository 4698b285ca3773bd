//! What a user asks for: files and flags, in the order in which Helm looks at them.

use std::rc::Rc;

use fitout_go_template::{Map, Value};

use super::{as_table, empty, load, merge_maps, strvals};
use crate::error::Error;

/// What a user asks for. Whatever comes later wins; of the flags, all of one kind come before those of the next, in the
/// order of the fields.
#[derive(Clone, Debug, Default)]
pub struct UserValues {
    /// `--values`: names of files.
    pub files: Vec<String>,
    /// `--set-json`
    pub set_json: Vec<String>,
    /// `--set`
    pub set: Vec<String>,
    /// `--set-string`
    pub set_string: Vec<String>,
    /// `--set-file`
    pub set_file: Vec<String>,
    /// `--set-literal`
    pub set_literal: Vec<String>,
}

impl UserValues {
    /// All of it in one map. What is in a file is asked for by its name.
    pub fn merged(&self, read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>) -> Result<Rc<Map>, Error> {
        let mut base = empty();
        for name in &self.files {
            let text = read(name).map_err(Error::new)?;
            let values = load(&text).map_err(|error| error.while_doing(&format!("failed to parse {name}")))?;
            base = merge_maps(&base, &values);
        }
        for given in &self.set_json {
            base = with_json(base, given)?;
        }
        for given in &self.set {
            strvals::set(given, &base).map_err(|error| error.while_doing("failed parsing --set data"))?;
        }
        for given in &self.set_string {
            let set = strvals::set_string(given, &base);
            set.map_err(|error| error.while_doing("failed parsing --set-string data"))?;
        }
        for given in &self.set_file {
            let set = strvals::set_file(given, &base, read);
            set.map_err(|error| error.while_doing("failed parsing --set-file data"))?;
        }
        for given in &self.set_literal {
            let set = strvals::set_literal(given, &base);
            set.map_err(|error| error.while_doing("failed parsing --set-literal data"))?;
        }
        Ok(base)
    }
}

/// A whole object, or keys with values.
fn with_json(base: Rc<Map>, given: &str) -> Result<Rc<Map>, Error> {
    let trimmed = given.trim();
    if !trimmed.starts_with('{') {
        let set = strvals::set_json(given, &base);
        return set.map(|()| base).map_err(|_| Error::new(format!("failed parsing --set-json data {given}")));
    }
    let value = fitout_helm_functions::from_json_text(trimmed.as_bytes()).unwrap_or(Value::Nil);
    match as_table(&value) {
        Some(table) => Ok(merge_maps(&base, table)),
        None => Err(Error::new(format!("failed parsing --set-json data JSON: {given}"))),
    }
}
