//! Progress output while a command waits.

use std::cell::RefCell;
use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::{Format, as_value};
use crate::wait::WaitTarget;

/// Shows each new state of an object once.
pub(crate) struct Display {
    form: Form,
    shown: RefCell<String>,
}

enum Form {
    /// A progress bar, redrawn in place.
    Bar(ProgressBar),
    /// Lines that begin with the name of the object.
    Lines(String),
    /// The serialized object.
    Documents(Format),
}

impl Display {
    /// Shows progress on the standard error: a bar on a terminal, else lines.
    pub(crate) fn for_people(name: &str) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self { form: Form::Lines(name.to_owned()), shown: RefCell::default() };
        }
        let bar = ProgressBar::new_spinner().with_style(style(false)).with_prefix(name.to_owned());
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { form: Form::Bar(bar), shown: RefCell::default() }
    }

    /// Prints each state as a document on the standard output.
    pub(crate) fn for_programs(format: Format) -> Self {
        Self { form: Form::Documents(format), shown: RefCell::default() }
    }

    /// Shows the state of an object. Returns false once the reader of the standard output has closed it.
    pub(crate) fn show<K: WaitTarget>(&self, object: &K) -> bool {
        match &self.form {
            Form::Documents(format) => {
                let Ok(value) = as_value(object) else { return true };
                let text = format.document(&value);
                !self.is_new(&text) || std::io::stdout().write_all(text.as_bytes()).is_ok()
            }
            Form::Bar(bar) => {
                let objects = object.objects();
                bar.set_style(style(objects.is_some()));
                if let Some(objects) = objects {
                    bar.set_position(objects.ready.into());
                    bar.set_length(objects.total.into());
                }
                self.message(&object.line());
                true
            }
            Form::Lines(_) => {
                self.message(&object.line());
                true
            }
        }
    }

    /// Shows a message to people.
    pub(crate) fn message(&self, line: &str) {
        match &self.form {
            Form::Bar(bar) => bar.set_message(line.to_owned()),
            Form::Lines(name) if self.is_new(line) => eprintln!("{name}: {line}"),
            Form::Lines(_) | Form::Documents(_) => {}
        }
    }

    /// Removes the progress bar.
    pub(crate) fn end(&self) {
        if let Form::Bar(bar) = &self.form {
            bar.finish_and_clear();
        }
    }

    fn is_new(&self, text: &str) -> bool {
        self.shown.replace(text.to_owned()) != text
    }
}

fn style(counted: bool) -> ProgressStyle {
    let template = if counted {
        "{spinner} {prefix} [{bar:20}] {pos} of {len} objects ready, {elapsed}\n  {wide_msg}"
    } else {
        "{spinner} {prefix} {elapsed}\n  {wide_msg}"
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner()).progress_chars("##-")
}
