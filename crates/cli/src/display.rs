//! Where somebody who waits sees what is going on.

use std::cell::RefCell;
use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::{Format, as_value};
use crate::wait::Followed;

/// Where each state of an object is shown, once.
pub(crate) struct Display {
    form: Form,
    shown: RefCell<String>,
}

enum Form {
    /// A bar that is drawn over and over.
    Bar(ProgressBar),
    /// Lines that begin with a name.
    Lines(String),
    /// The object itself.
    Documents(Format),
}

impl Display {
    /// For people, on the standard error: a bar where that is a terminal, lines elsewhere.
    pub(crate) fn for_people(name: &str) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self { form: Form::Lines(name.to_owned()), shown: RefCell::default() };
        }
        let bar = ProgressBar::new_spinner().with_style(style(false)).with_prefix(name.to_owned());
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { form: Form::Bar(bar), shown: RefCell::default() }
    }

    /// For programs, on the standard output.
    pub(crate) fn for_programs(format: Format) -> Self {
        Self { form: Form::Documents(format), shown: RefCell::default() }
    }

    /// Shows what an object is like now, and says whether anybody still looks.
    pub(crate) fn show<K: Followed>(&self, object: &K) -> bool {
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
                self.say(&object.line());
                true
            }
            Form::Lines(_) => {
                self.say(&object.line());
                true
            }
        }
    }

    /// Says something to people.
    pub(crate) fn say(&self, line: &str) {
        match &self.form {
            Form::Bar(bar) => bar.set_message(line.to_owned()),
            Form::Lines(name) if self.is_new(line) => eprintln!("{name}: {line}"),
            Form::Lines(_) | Form::Documents(_) => {}
        }
    }

    /// Takes away what is of no use any more.
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
