//! Functions on patterns.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use fitout_go_regex::{Regex, quote_meta};
use fitout_go_template::{Error, List, Text, Type, Value, can_backquote, quote};

use crate::argument::{int, text};
use crate::declare::Declare;

const TEXT: Type = Type::String;
const STRINGS: Type = Type::STRINGS;
/// How many compiled patterns are kept: more than a chart has.
const KEPT: usize = 256;

pub(crate) fn add(declare: &mut Declare<'_>) {
    let patterns = Rc::new(Patterns::default());
    declare.plain(&["regexMatch"], &[TEXT, TEXT], Type::Bool, {
        let patterns = Rc::clone(&patterns);
        move |a| patterns.get(&a[0]).is_ok_and(|regex| regex.is_match(text(&a[1]))).into()
    });
    declare.plain(&["regexQuoteMeta"], &[TEXT], TEXT, |a| Value::string(quote_meta(text(&a[0]))));
    let pair: &[Type] = &[TEXT, TEXT];
    let (limited, triple): (&[Type], &[Type]) = (&[TEXT, TEXT, Type::INT], &[TEXT, TEXT, TEXT]);
    let function = Adding { declare, patterns };
    function
        .must("mustRegexMatch", pair, Type::Bool, |regex, a| regex.is_match(text(&a[1])).into())
        .both("regexFind", "mustRegexFind", pair, TEXT, |regex, a| {
            Value::string(regex.find(text(&a[1])).unwrap_or_default())
        })
        .both("regexFindAll", "mustRegexFindAll", limited, STRINGS, |regex, a| {
            let all = regex.find_all(text(&a[1]), int(&a[2]));
            if all.is_empty() { none() } else { Value::strings(all) }
        })
        .both("regexReplaceAll", "mustRegexReplaceAll", triple, TEXT, |regex, a| {
            Value::string(regex.replace_all(text(&a[1]), text(&a[2])))
        })
        .both("regexReplaceAllLiteral", "mustRegexReplaceAllLiteral", triple, TEXT, |regex, a| {
            Value::string(regex.replace_all_literal(text(&a[1]), text(&a[2])))
        })
        .both("regexSplit", "mustRegexSplit", limited, STRINGS, |regex, a| {
            regex.split(text(&a[1]), int(&a[2])).map_or_else(none, Value::strings)
        });
}

/// A nil `[]string`.
fn none() -> Value {
    Value::List(Rc::new(List::nil(STRINGS)))
}

/// Functions whose first argument is a pattern.
struct Adding<'d, 'f> {
    declare: &'d mut Declare<'f>,
    patterns: Rc<Patterns>,
}

type Body = fn(&Regex, &[Value]) -> Value;

impl Adding<'_, '_> {
    /// A function that fails where the pattern is none.
    fn must(self, name: &str, params: &[Type], result: Type, body: Body) -> Self {
        let patterns = Rc::clone(&self.patterns);
        self.declare.fallible(&[name], params, result, move |a| {
            let regex = patterns.get(&a[0]).map_err(Error::new)?;
            Ok(body(&regex, a))
        });
        self
    }

    /// The same, and one that panics.
    fn both(self, name: &str, must: &str, params: &[Type], result: Type, body: Body) -> Self {
        let patterns = Rc::clone(&self.patterns);
        self.declare.panicking(&[name], params, result, move |a| {
            let regex = patterns.get(&a[0]).map_err(|reason| {
                let pattern = text(&a[0]);
                let shown = String::from_utf8_lossy(pattern);
                let shown = if can_backquote(pattern) { format!("`{shown}`") } else { quote(pattern) };
                Error::new(format!("regexp: Compile({shown}): {reason}"))
            })?;
            Ok(body(&regex, a))
        });
        self.must(must, params, result, body)
    }
}

/// What became of patterns that were asked for before.
#[derive(Default)]
struct Patterns {
    compiled: RefCell<HashMap<Text, Result<Rc<Regex>, String>>>,
}

impl Patterns {
    /// The compiled pattern, or Go's words for why it is none.
    fn get(&self, pattern: &Value) -> Result<Rc<Regex>, String> {
        let pattern = text(pattern);
        if let Some(known) = self.compiled.borrow().get(pattern) {
            return known.clone();
        }
        let compiled = Regex::compile(pattern).map(Rc::new).map_err(|error| error.to_string());
        let mut known = self.compiled.borrow_mut();
        // Whoever makes up patterns without end pays for it, and nobody else.
        if known.len() >= KEPT {
            known.clear();
        }
        known.insert(pattern.into(), compiled.clone());
        compiled
    }
}
