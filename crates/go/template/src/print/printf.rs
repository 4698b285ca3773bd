//! Format strings.

use super::format::Format;
use super::{Printer, TooDeep};
use crate::rune;
use crate::value::Value;

/// `fmt.Sprintf`.
pub(crate) fn printf(buffer: &mut Vec<u8>, format: &[u8], arguments: &[impl AsRef<Value>]) -> Result<(), TooDeep> {
    let mut printer = Printer::new(buffer);
    Reader { format, at: 0, arguments, argument: 0, reordered: false, good_index: true }.print(&mut printer);
    printer.finish()
}

/// A larger width or precision is no number.
const LARGEST: i64 = 1_000_000;

/// How far a format string and its arguments have been read.
struct Reader<'a, V> {
    format: &'a [u8],
    at: usize,
    arguments: &'a [V],
    argument: usize,
    /// Arguments were named by their number: none is missed when it was not printed.
    reordered: bool,
    /// The last such number was one.
    good_index: bool,
}

impl<V: AsRef<Value>> Reader<'_, V> {
    fn peek(&self) -> Option<u8> {
        self.format.get(self.at).copied()
    }

    fn print(mut self, printer: &mut Printer<'_>) {
        while self.at < self.format.len() {
            self.good_index = true;
            let rest = &self.format[self.at..];
            let plain = memchr::memchr(b'%', rest).unwrap_or(rest.len());
            printer.buffer.extend_from_slice(&rest[..plain]);
            self.at += plain + 1;
            if plain == rest.len() {
                break;
            }
            printer.format = Format::default();
            self.print_verb(printer);
        }
        if !self.reordered && self.argument < self.arguments.len() {
            self.print_extra(printer);
        }
    }

    fn print_verb(&mut self, printer: &mut Printer<'_>) {
        self.read_flags(printer);
        // Mostly there is nothing between the flags and the verb.
        if !self.peek().is_some_and(|byte| byte.is_ascii_alphabetic()) && !self.read_width_and_precision(printer) {
            self.read_index();
        }
        let (verb, width) = rune::first(self.format.get(self.at..).unwrap_or_default());
        if width == 0 {
            printer.buffer.extend_from_slice(b"%!(NOVERB)");
            return;
        }
        self.at += width;
        let problem: &[u8] = match verb {
            '%' => {
                printer.buffer.push(b'%');
                return;
            }
            _ if !self.good_index => b"(BADINDEX)",
            _ if self.argument >= self.arguments.len() => b"(MISSING)",
            _ => {
                if matches!(verb, 'v' | 'w') {
                    let Format { sharp, plus, .. } = printer.format;
                    printer.format =
                        Format { sharp_v: sharp, sharp: false, plus_v: plus, plus: false, ..printer.format };
                }
                self.argument += 1;
                return printer.print_argument(self.arguments[self.argument - 1].as_ref(), verb);
            }
        };
        printer.buffer.extend_from_slice(b"%!");
        rune::push(printer.buffer, verb);
        printer.buffer.extend_from_slice(problem);
    }

    fn read_flags(&mut self, printer: &mut Printer<'_>) {
        while let Some(byte) = self.peek() {
            match byte {
                b'#' => printer.format.sharp = true,
                b'0' => printer.format.zero = true,
                b'+' => printer.format.plus = true,
                b'-' => printer.format.minus = true,
                b' ' => printer.format.space = true,
                _ => return,
            }
            self.at += 1;
        }
    }

    /// Whether the last thing that was read is the number of an argument.
    fn read_width_and_precision(&mut self, printer: &mut Printer<'_>) -> bool {
        let mut after_index = self.read_index();
        if self.peek() == Some(b'*') {
            self.at += 1;
            match self.take_integer() {
                Some(width) => {
                    printer.format.width = usize::try_from(width.unsigned_abs()).ok();
                    if width < 0 {
                        printer.format.minus = true;
                        printer.format.zero = false;
                    }
                }
                None => printer.buffer.extend_from_slice(b"%!(BADWIDTH)"),
            }
            after_index = false;
        } else {
            printer.format.width = self.read_number();
            if after_index && printer.format.width.is_some() {
                self.good_index = false;
            }
        }
        if self.peek() != Some(b'.') || self.at + 1 >= self.format.len() {
            return after_index;
        }
        self.at += 1;
        if after_index {
            self.good_index = false;
        }
        after_index = self.read_index();
        if self.peek() == Some(b'*') {
            self.at += 1;
            printer.format.precision = self.take_integer().and_then(|precision| usize::try_from(precision).ok());
            if printer.format.precision.is_none() {
                printer.buffer.extend_from_slice(b"%!(BADPREC)");
            }
            return false;
        }
        printer.format.precision = Some(self.read_number().unwrap_or(0));
        after_index
    }

    /// A number; one that is too large takes the rest of the format with it.
    fn read_number(&mut self) -> Option<usize> {
        let (number, end) = number(self.format, self.at, self.format.len());
        self.at = end;
        number
    }

    fn take_integer(&mut self) -> Option<i64> {
        let value = self.arguments.get(self.argument)?;
        self.argument += 1;
        let number = match value.as_ref().underlying() {
            Value::Int(_, number) => number,
            Value::Uint(_, number) => i64::try_from(number).ok()?,
            _ => return None,
        };
        (-LARGEST..=LARGEST).contains(&number).then_some(number)
    }

    /// The number of an argument in brackets, if there is one.
    fn read_index(&mut self) -> bool {
        if self.peek() != Some(b'[') {
            return false;
        }
        self.reordered = true;
        let rest = &self.format[self.at..];
        let close = if rest.len() < 3 { None } else { rest.iter().position(|byte| *byte == b']') };
        let Some(close) = close else {
            self.at += 1;
            self.good_index = false;
            return false;
        };
        let (index, end) = number(rest, 1, close);
        self.at += close + 1;
        let index = if end == close { index } else { None };
        match index {
            Some(index @ 1..) if index <= self.arguments.len() => self.argument = index - 1,
            _ => self.good_index = false,
        }
        index.is_some()
    }

    fn print_extra(&self, printer: &mut Printer<'_>) {
        printer.format = Format::default();
        printer.buffer.extend_from_slice(b"%!(EXTRA ");
        for (place, value) in self.arguments[self.argument..].iter().map(AsRef::as_ref).enumerate() {
            if place > 0 {
                printer.buffer.extend_from_slice(b", ");
            }
            if !matches!(value, Value::Nil) {
                printer.buffer.extend_from_slice(value.type_name().as_bytes());
                printer.buffer.push(b'=');
            }
            printer.print_argument(value, 'v');
        }
        printer.buffer.push(b')');
    }
}

/// The digits of a text from one place up to another, and where they end.
fn number(text: &[u8], start: usize, end: usize) -> (Option<usize>, usize) {
    let mut number = None;
    for (at, byte) in text.iter().enumerate().take(end).skip(start) {
        if !byte.is_ascii_digit() {
            return (number, at);
        }
        let before = number.unwrap_or(0);
        if before > 1_000_000 {
            return (None, end);
        }
        number = Some(before * 10 + usize::from(byte - b'0'));
    }
    (number, end.max(start))
}
