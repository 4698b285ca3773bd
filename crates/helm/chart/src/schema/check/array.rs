//! What is said of arrays.

use fitout_go_template::Value;

use super::super::draft::Draft;
use super::super::equal::duplicates;
use super::super::node::{Additional, Id, Items, Node};
use super::super::number::count;
use super::Check;

impl Check<'_> {
    pub(super) fn array(&mut self, node: &Node, items: &[Value]) {
        let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
        if let Some(least) = node.min_items
            && length < least
        {
            self.add(|| format!("minItems: got {}, want {}", count(length), count(least)));
        }
        if let Some(most) = node.max_items
            && length > most
        {
            self.add(|| format!("maxItems: got {}, want {}", count(length), count(most)));
        }
        if node.unique_items
            && let Some((one, other)) = duplicates(items)
        {
            self.add(|| format!("items at {} and {} are equal", shown(one), shown(other)));
        }
        if node.draft == Draft::V2020 {
            let first = self.first(&node.prefix_items, items);
            if let Some(schema) = node.rest_items {
                self.each(schema, items, first);
            }
        } else {
            self.items_before_2020(node, items);
        }
        if let Some(schema) = node.contains {
            self.contains(node, schema, items);
        }
    }

    fn items_before_2020(&mut self, node: &Node, items: &[Value]) {
        let evaluated = match &node.items {
            None => 0,
            Some(Items::Each(schema)) => {
                self.each(*schema, items, 0);
                items.len()
            }
            Some(Items::First(schemas)) => self.first(schemas, items),
        };
        match node.additional_items {
            None | Some(Additional::All(true)) => {}
            Some(Additional::All(false)) => {
                let more = items.len() - evaluated;
                if more > 0 {
                    self.add(|| format!("last {} additionalItem(s) not allowed", shown(more)));
                }
            }
            Some(Additional::Schema(schema)) => self.each(schema, items, evaluated),
        }
    }

    fn first(&mut self, schemas: &[Id], items: &[Value]) -> usize {
        for (place, (schema, item)) in schemas.iter().zip(items).enumerate() {
            self.problems.extend(self.inner(*schema, item, &place.to_string()));
        }
        schemas.len().min(items.len())
    }

    fn each(&mut self, schema: Id, items: &[Value], from: usize) {
        for (place, item) in items.iter().enumerate().skip(from) {
            self.problems.extend(self.inner(schema, item, &place.to_string()));
        }
    }

    fn contains(&mut self, node: &Node, schema: Id, items: &[Value]) {
        let mut causes = Vec::new();
        let mut matched = Vec::new();
        for (place, item) in items.iter().enumerate() {
            if let Some(problem) = self.inner(schema, item, &place.to_string()) {
                causes.push(problem);
            } else {
                matched.push(place);
                if node.draft == Draft::V2020 {
                    self.unevaluated.items.remove(&place);
                }
            }
        }
        let places = matched.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let found = i64::try_from(matched.len()).unwrap_or(i64::MAX);
        match node.min_contains {
            Some(least) if found < least => {
                let what = format!("min {} items required to match contains schema", count(least));
                let but = if matched.is_empty() {
                    "none matched".to_owned()
                } else {
                    format!("matched {} items at {places}", count(found))
                };
                self.add_with(|| format!("{what}, but {but}"), causes);
            }
            None if matched.is_empty() => self.add_with(|| "no items match contains schema".to_owned(), causes),
            _ => {}
        }
        if let Some(most) = node.max_contains
            && found > most
        {
            let what = format!("max {} items required to match contains schema", count(most));
            self.add(|| format!("{what}, but matched {} items at {places}", count(found)));
        }
    }
}

fn shown(place: usize) -> String {
    count(i64::try_from(place).unwrap_or(i64::MAX))
}
