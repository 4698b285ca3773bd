//! What is in lists.

use std::collections::HashSet;

use fitout_go_template::{Error, Text, Type, Value};

use super::{LIST, both, items};
use crate::declare::Declare;
use crate::value::equal::deep_equal;
use crate::value::is_empty;

pub(super) fn add(declare: &mut Declare<'_>) {
    both(declare, [&["compact"], &["mustCompact"]], &[Type::Any], LIST, |a| {
        let items = items(&a[0], "Cannot compact on type")?;
        Ok(Value::list(items.iter().filter(|item| !is_empty(item)).cloned()))
    });
    both(declare, [&["uniq"], &["mustUniq"]], &[Type::Any], LIST, |a| {
        Ok(Value::list(unique(&items(&a[0], "Cannot find uniq on type")?)))
    });
    both(declare, [&["has"], &["mustHas"]], &[Type::Any, Type::Any], Type::Bool, |a| {
        if let Value::Nil = a[1] {
            return Ok(false.into());
        }
        let items = items(&a[1], "Cannot find has on type")?;
        Ok(items.iter().any(|item| deep_equal(&a[0], item)).into())
    });
    declare.variadic(&["without"], &[Type::Any, Type::Any], LIST, without);
    declare.variadic_fallible(&["mustWithout"], &[Type::Any, Type::Any], LIST, without);
}

/// The first of each that are equal.
fn unique(items: &[Value]) -> Vec<Value> {
    // Texts are most of what is made unique.
    let texts = items.iter().map(|item| if let Value::String(text) = item { Some(text) } else { None });
    if let Some(texts) = texts.collect::<Option<Vec<&Text>>>() {
        let mut seen = HashSet::with_capacity(texts.len());
        return texts.into_iter().filter(|text| seen.insert(*text)).cloned().map(Value::String).collect();
    }
    let mut kept: Vec<Value> = Vec::new();
    for item in items {
        if !kept.iter().any(|other| deep_equal(item, other)) {
            kept.push(item.clone());
        }
    }
    kept
}

fn without(arguments: &[Value]) -> Result<Value, Error> {
    let (list, omitted) = (&arguments[0], &arguments[1..]);
    let items = items(list, "Cannot find without on type")?;
    let kept = items.iter().filter(|item| !omitted.iter().any(|other| deep_equal(item, other)));
    Ok(Value::list(kept.cloned()))
}
