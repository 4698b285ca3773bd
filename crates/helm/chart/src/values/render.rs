//! What templates see.

use std::rc::Rc;

use fitout_go_template::{Map, Value};

use super::coalesce_values;
use crate::Warnings;
use crate::chart::Chart;
use crate::error::Error;
use crate::schema;

/// The release that is rendered.
#[derive(Clone, Debug, Default)]
pub struct Release {
    /// Its name.
    pub name: String,
    /// The namespace it goes to.
    pub namespace: String,
    /// Its revision, from 1.
    pub revision: i64,
    /// Whether it replaces another revision; else it is the first.
    pub is_upgrade: bool,
}

/// Whether values are checked against the schemas of charts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schemas {
    /// They are.
    #[default]
    Check,
    /// They are not: `--skip-schema-validation`.
    Skip,
}

/// What templates of a chart see, but for what belongs to a template: `.Chart`, `.Capabilities`, `.Release`, `.Values`.
pub fn render_values(
    chart: &Chart,
    values: &Map,
    release: &Release,
    capabilities: Value,
    schemas: Schemas,
    warnings: &mut Warnings,
) -> Result<Rc<Map>, Error> {
    let values = coalesce_values(chart, values, warnings)?;
    if schemas == Schemas::Check {
        schema::validate(chart, &values, warnings)?;
    }
    let top = Value::map([
        ("Capabilities", capabilities),
        ("Chart", chart.metadata.to_value()),
        ("Release", release.to_value()),
        ("Values", Value::Map(values)),
    ]);
    let Value::Map(top) = top else { return Ok(super::empty()) };
    Ok(top)
}

impl Release {
    fn to_value(&self) -> Value {
        Value::map([
            ("IsInstall", Value::Bool(!self.is_upgrade)),
            ("IsUpgrade", Value::Bool(self.is_upgrade)),
            ("Name", Value::string(self.name.as_str())),
            ("Namespace", Value::string(self.namespace.as_str())),
            ("Revision", Value::int(self.revision)),
            ("Service", "Helm".into()),
        ])
    }
}
