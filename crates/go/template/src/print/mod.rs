//! Values as Go's `fmt` prints them.

mod float;
mod format;
mod integer;
mod printf;
mod verb;

use crate::host::{Fields, Host, Shape};
use crate::text::Text;
use crate::value::Value;
use format::Format;

pub(crate) use float::{Size, shortest};
pub(crate) use printf::printf;

/// How deeply a value may be nested that is printed; one that holds itself has no end. Go stops at the end of its
/// stack, and so of the program.
const MAX_DEPTH: usize = 100_000;

/// What prints: the flags of the verb at hand, and where it goes.
pub(crate) struct Printer<'b> {
    buffer: &'b mut Vec<u8>,
    format: Format,
    /// A bad verb is being reported: methods are not asked.
    erroring: bool,
    /// The name of the type whose underlying value is being printed.
    named: Option<&'static str>,
    /// The value was nested too deeply.
    too_deep: bool,
}

/// A value is nested too deeply to be printed.
#[derive(Debug)]
pub(crate) struct TooDeep;

impl<'b> Printer<'b> {
    fn new(buffer: &'b mut Vec<u8>) -> Self {
        Self { buffer, format: Format::default(), erroring: false, named: None, too_deep: false }
    }

    fn finish(self) -> Result<(), TooDeep> {
        if self.too_deep { Err(TooDeep) } else { Ok(()) }
    }
}

impl From<TooDeep> for crate::error::Error {
    fn from(_: TooDeep) -> Self {
        Self::new("the value is nested too deeply to be printed: does it hold itself?")
    }
}

/// `fmt.Sprint`: with spaces between values of which neither is a string.
pub(crate) fn print(buffer: &mut Vec<u8>, values: &[impl AsRef<Value>]) -> Result<(), TooDeep> {
    let mut printer = Printer::new(buffer);
    let mut after_string = true;
    for value in values {
        let value = value.as_ref();
        let is_string = match value {
            Value::Host(_) => matches!(value.underlying(), Value::String(_)),
            value => matches!(value, Value::String(_)),
        };
        if !after_string && !is_string {
            printer.buffer.push(b' ');
        }
        printer.print_argument(value, 'v');
        after_string = is_string;
    }
    printer.finish()
}

/// `fmt.Sprintln`: with spaces between all values, and a newline.
pub(crate) fn println(buffer: &mut Vec<u8>, values: &[impl AsRef<Value>]) -> Result<(), TooDeep> {
    let mut printer = Printer::new(buffer);
    for (place, value) in values.iter().enumerate() {
        if place > 0 {
            printer.buffer.push(b' ');
        }
        printer.print_argument(value.as_ref(), 'v');
    }
    printer.buffer.push(b'\n');
    printer.finish()
}

/// One value as an action prints it: a pointer as what it points to.
pub(crate) fn print_one(buffer: &mut Vec<u8>, value: &Value) -> Result<(), TooDeep> {
    match value {
        Value::String(text) => buffer.extend_from_slice(text),
        Value::Int(_, number) => integer::decimal(buffer, (*number).into()),
        value => return print_other(buffer, value),
    }
    Ok(())
}

fn print_other(buffer: &mut Vec<u8>, value: &Value) -> Result<(), TooDeep> {
    let mut printer = Printer::new(buffer);
    match pointed_to(value) {
        Some((host, fields)) if host.text().is_none() => printer.print_struct(host, &fields, 'v', 0),
        _ => printer.print_argument(value, 'v'),
    }
    printer.finish()
}

/// The struct that a pointer points to.
fn pointed_to(value: &Value) -> Option<(&dyn Host, Fields)> {
    let Value::Host(host) = value else { return None };
    match host.shape() {
        Shape::Pointer(fields) => Some((&**host, fields)),
        Shape::Struct(_) | Shape::Like(_) => None,
    }
}

/// What Go has at the end of a pointer, in a message.
pub(crate) fn dereferenced(value: &Value) -> String {
    let mut buffer = Vec::new();
    match pointed_to(value) {
        Some((host, fields)) => Printer::new(&mut buffer).print_struct(host, &fields, 'v', 0),
        None => return reflected(value, 'v'),
    }
    String::from_utf8_lossy(&buffer).into_owned()
}

/// A value that Go holds as a `reflect.Value`, in a message: with `%v` or `%s`.
pub(crate) fn reflected(value: &Value, verb: char) -> String {
    let mut buffer = Vec::new();
    let mut printer = Printer::new(&mut buffer);
    if matches!(value, Value::Nil) {
        return "<invalid reflect.Value>".to_owned();
    }
    printer.print_argument(value, verb);
    String::from_utf8_lossy(&buffer).into_owned()
}

/// What is printed, as a value.
pub(crate) fn printed(print: impl FnOnce(&mut Vec<u8>) -> Result<(), TooDeep>) -> Result<Text, TooDeep> {
    let mut buffer = Vec::with_capacity(64);
    print(&mut buffer)?;
    Ok(buffer.into())
}
