//! Reading JSON into fields as Go does: what does not fit is refused in Go's words.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::error::Error;

/// Where we are, for messages: the struct, and the way to it.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    structure: &'static str,
    around: Option<&'a Place<'a>>,
    field: &'static str,
}

impl<'a> Place<'a> {
    /// The beginning, which has no field yet.
    pub(crate) fn root(structure: &'static str) -> Self {
        Self { structure, around: None, field: "" }
    }

    pub(crate) fn field(&self, field: &'static str) -> Self {
        Self { field, ..*self }
    }

    /// A struct inside of this field.
    pub(crate) fn inside(&'a self, structure: &'static str) -> Self {
        Self { structure, around: Some(self), field: "" }
    }

    fn path(&self) -> String {
        match self.around {
            Some(around) => format!("{}.{}", around.path(), self.field),
            None => self.field.to_owned(),
        }
    }

    /// What is written is not what is wanted.
    pub(crate) fn refuse<R>(&self, json: &Json, wanted: &str) -> Result<R, Error> {
        let found = match json {
            Json::Null => "null",
            Json::Bool(_) => "bool",
            Json::Number(_) => "number",
            Json::String(_) => "string",
            Json::Array(_) => "array",
            Json::Object(_) => "object",
        };
        let into = if self.field.is_empty() {
            // A struct of the document itself, or of a list, has no field yet.
            match self.around {
                Some(around) => format!("Go struct field {}.{}", around.structure, around.path()),
                None => "Go value".to_owned(),
            }
        } else {
            format!("Go struct field {}.{}", self.structure, self.path())
        };
        Err(Error::new(format!("json: cannot unmarshal {found} into {into} of type {wanted}")))
    }
}

pub(crate) fn text(place: &Place<'_>, json: &Json, into: &mut String) -> Result<(), Error> {
    match json {
        Json::Null => Ok(()),
        Json::String(text) => {
            into.clone_from(text);
            Ok(())
        }
        other => place.refuse(other, "string"),
    }
}

pub(crate) fn boolean(place: &Place<'_>, json: &Json, into: &mut bool) -> Result<(), Error> {
    match json {
        Json::Null => Ok(()),
        Json::Bool(value) => {
            *into = *value;
            Ok(())
        }
        other => place.refuse(other, "bool"),
    }
}

/// A list. As in Go, an item that was there before is read into once more.
pub(crate) fn list<T: Default>(
    place: &Place<'_>,
    json: &Json,
    wanted: &str,
    into: &mut Option<Vec<T>>,
    mut item: impl FnMut(&Json, &mut T) -> Result<(), Error>,
) -> Result<(), Error> {
    match json {
        Json::Null => *into = None,
        Json::Array(items) => {
            let list = into.get_or_insert_default();
            list.resize_with(items.len(), T::default);
            for (json, place) in items.iter().zip(list) {
                item(json, place)?;
            }
        }
        other => return place.refuse(other, wanted),
    }
    Ok(())
}

pub(crate) fn texts(place: &Place<'_>, json: &Json, into: &mut Option<Vec<String>>) -> Result<(), Error> {
    list(place, json, "[]string", into, |json, into| text(place, json, into))
}

pub(crate) fn text_map(
    place: &Place<'_>,
    json: &Json,
    into: &mut Option<BTreeMap<String, String>>,
) -> Result<(), Error> {
    match json {
        Json::Null => *into = None,
        Json::Object(object) => {
            let map = into.get_or_insert_default();
            for (key, json) in object {
                let mut value = String::new();
                text(place, json, &mut value)?;
                map.insert(key.clone(), value);
            }
        }
        other => return place.refuse(other, "map[string]string"),
    }
    Ok(())
}

/// The fields of a struct, in the order in which Go's JSON has written them.
pub(crate) fn fields<'a>(
    place: &Place<'_>,
    json: &'a Json,
    wanted: &str,
) -> Result<Vec<(&'a String, &'a Json)>, Error> {
    match json {
        Json::Null => Ok(Vec::new()),
        Json::Object(object) => {
            let mut pairs: Vec<_> = object.iter().collect();
            pairs.sort_by_key(|(key, _)| *key);
            Ok(pairs)
        }
        other => place.refuse(other, wanted),
    }
}
