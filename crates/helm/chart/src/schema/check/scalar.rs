//! What is said of strings and numbers.

use std::cmp::Ordering;

use fitout_go_template::Text;

use super::super::node::Node;
use super::super::number::{Decimal, count};
use super::super::problem::quoted;
use super::Check;

impl Check<'_> {
    pub(super) fn string(&mut self, node: &Node, text: &Text) {
        let shown = text.to_str();
        let length = i64::try_from(shown.chars().count()).unwrap_or(i64::MAX);
        if let Some(least) = node.min_length
            && length < least
        {
            self.add(|| format!("minLength: got {}, want {}", count(length), count(least)));
        }
        if let Some(most) = node.max_length
            && length > most
        {
            self.add(|| format!("maxLength: got {}, want {}", count(length), count(most)));
        }
        if let Some((pattern, written)) = &node.pattern
            && !pattern.is_match(text)
        {
            self.add(|| format!("{} does not match pattern {}", quoted(&shown), quoted(written)));
        }
    }

    pub(super) fn number(&mut self, node: &Node) {
        let Some(number) = Decimal::of(self.value) else { return };
        let bounds = [
            ("minimum", node.minimum, &[Ordering::Less][..]),
            ("maximum", node.maximum, &[Ordering::Greater]),
            ("exclusiveMinimum", node.exclusive_minimum, &[Ordering::Less, Ordering::Equal]),
            ("exclusiveMaximum", node.exclusive_maximum, &[Ordering::Greater, Ordering::Equal]),
        ];
        for (name, bound, wrong) in bounds {
            if let Some(bound) = bound
                && wrong.contains(&number.compare(bound))
            {
                self.add(|| format!("{name}: got {}, want {}", number.english(), bound.english()));
            }
        }
        if let Some(of) = node.multiple_of
            && !number.is_multiple_of(of)
        {
            self.add(|| format!("multipleOf: got {}, want {}", number.english(), of.english()));
        }
    }
}
