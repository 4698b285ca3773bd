//! One value with one verb.

use std::borrow::Cow;
use std::rc::Rc;

use super::float::Size;
use super::format::{LOWER, UPPER};
use super::{MAX_DEPTH, Printer};
use crate::host::{Host, Shape};
use crate::kind::{Floating, Type, Unsigned};
use crate::list::List;
use crate::map::Map;
use crate::rune;
use crate::stack;
use crate::value::Value;

impl Printer<'_> {
    /// An argument of `Printf`, or of a relative of it.
    pub(super) fn print_argument(&mut self, value: &Value, verb: char) {
        match (value, verb) {
            (Value::Nil, 'T' | 'v') => self.format.pad(self.buffer, b"<nil>"),
            (Value::Nil, _) => self.bad_verb(value, verb),
            (_, 'T') => {
                let name = value.type_name();
                self.format.pad(self.buffer, self.format.truncate(name.as_bytes()));
            }
            (_, 'p') => self.print_address(value, verb),
            (Value::Bytes(bytes), _) => self.print_bytes(bytes, verb, "[]byte"),
            (Value::List(list), _) if list.kind() == Type::BYTES => self.print_no_bytes(verb, "[]byte"),
            _ => self.print_value(value, verb, 0),
        }
    }

    /// A value at some depth.
    fn print_value(&mut self, value: &Value, verb: char, depth: usize) {
        match value {
            Value::Nil => self.bad_verb(value, verb),
            _ if verb == 'w' && matches!(value, Value::List(_) | Value::Map(_) | Value::Func(_) | Value::Host(_)) => {
                self.bad_verb(value, verb);
            }
            Value::Bool(truth) if matches!(verb, 't' | 'v') => {
                self.format.pad(self.buffer, if *truth { b"true" } else { b"false" });
            }
            Value::Bool(_) => self.bad_verb(value, verb),
            Value::Int(_, number) => {
                self.or_bad_verb(value, verb, |printer| printer.format.integer(printer.buffer, (*number).into(), verb));
            }
            Value::Uint(_, number) => {
                self.or_bad_verb(value, verb, |printer| printer.format.integer(printer.buffer, (*number).into(), verb));
            }
            Value::Float(kind, number) => {
                let size = if *kind == Floating::Float32 { Size::Single } else { Size::Double };
                self.or_bad_verb(value, verb, |printer| printer.format.float(printer.buffer, *number, size, verb));
            }
            Value::Complex(real, imaginary) => self.print_complex(value, *real, *imaginary, verb),
            Value::String(text) => self.print_string(value, text, verb),
            Value::Bytes(bytes) => self.print_bytes(bytes, verb, "[]uint8"),
            Value::List(list) if list.kind() == Type::BYTES => self.print_no_bytes(verb, "[]uint8"),
            Value::List(list) => self.deeper(depth, |printer| printer.print_list(list, verb, depth)),
            Value::Map(map) => self.deeper(depth, |printer| printer.print_map(map, verb, depth)),
            Value::Func(_) => self.print_address(value, verb),
            Value::Host(host) => self.print_host(value, &**host, verb, depth),
        }
    }

    fn deeper(&mut self, depth: usize, print: impl FnOnce(&mut Self)) {
        if depth > MAX_DEPTH || self.too_deep {
            self.too_deep = true;
        } else {
            stack::enough(|| print(self));
        }
    }

    fn or_bad_verb(&mut self, value: &Value, verb: char, print: impl FnOnce(&mut Self) -> bool) {
        if !print(self) {
            self.bad_verb(value, verb);
        }
    }

    /// `%!verb(type=value)`
    fn bad_verb(&mut self, value: &Value, verb: char) {
        let erroring = std::mem::replace(&mut self.erroring, true);
        self.buffer.extend_from_slice(b"%!");
        rune::push(self.buffer, verb);
        self.buffer.push(b'(');
        if let Value::Nil = value {
            self.buffer.extend_from_slice(b"<nil>");
        } else {
            let name = self.named.take().map_or_else(|| value.type_name(), Cow::Borrowed);
            self.buffer.extend_from_slice(name.as_bytes());
            self.buffer.push(b'=');
            self.print_argument(value, 'v');
        }
        self.buffer.push(b')');
        self.erroring = erroring;
    }

    fn print_string(&mut self, value: &Value, text: &[u8], verb: char) {
        let format = self.format;
        match verb {
            'v' if format.sharp_v => format.quote(self.buffer, text),
            'v' | 's' => format.pad(self.buffer, format.truncate(text)),
            'x' => format.hex(self.buffer, text, LOWER),
            'X' => format.hex(self.buffer, text, UPPER),
            'q' => format.quote(self.buffer, text),
            _ => self.bad_verb(value, verb),
        }
    }

    fn print_bytes(&mut self, bytes: &[u8], verb: char, type_name: &'static str) {
        let (format, type_name) = (self.format, self.named.take().unwrap_or(type_name));
        match verb {
            's' => format.pad(self.buffer, format.truncate(bytes)),
            'x' => format.hex(self.buffer, bytes, LOWER),
            'X' => format.hex(self.buffer, bytes, UPPER),
            'q' => format.quote(self.buffer, bytes),
            'v' if format.sharp_v => {
                self.buffer.extend_from_slice(type_name.as_bytes());
                self.print_items(b"{", b", ", b"}", bytes, |printer, byte| {
                    printer.format.hexadecimal(printer.buffer, u64::from(*byte));
                });
            }
            _ => self.print_items(b"[", b" ", b"]", bytes, |printer, byte| {
                printer.print_value(&Value::Uint(Unsigned::Uint8, u64::from(*byte)), verb, 1);
            }),
        }
    }

    /// The nil of bytes, which is a list without items.
    fn print_no_bytes(&mut self, verb: char, type_name: &'static str) {
        if verb == 'v' && self.format.sharp_v {
            let type_name = self.named.take().unwrap_or(type_name);
            self.buffer.extend_from_slice(type_name.as_bytes());
            self.buffer.extend_from_slice(b"(nil)");
        } else {
            self.print_bytes(&[], verb, type_name);
        }
    }

    fn print_complex(&mut self, value: &Value, real: f64, imaginary: f64, verb: char) {
        if !matches!(verb, 'v' | 'b' | 'g' | 'G' | 'x' | 'X' | 'f' | 'F' | 'e' | 'E') {
            return self.bad_verb(value, verb);
        }
        let format = self.format;
        self.buffer.push(b'(');
        format.float(self.buffer, real, Size::Double, verb);
        // The imaginary part always has a sign.
        self.format.plus = true;
        self.format.float(self.buffer, imaginary, Size::Double, verb);
        self.format = format;
        self.buffer.extend_from_slice(b"i)");
    }

    fn print_items<T>(
        &mut self,
        open: &[u8],
        between: &[u8],
        close: &[u8],
        items: &[T],
        mut print: impl FnMut(&mut Self, &T),
    ) {
        self.buffer.extend_from_slice(open);
        for (place, item) in items.iter().enumerate() {
            if place > 0 {
                self.buffer.extend_from_slice(between);
            }
            print(self, item);
        }
        self.buffer.extend_from_slice(close);
    }

    fn print_list(&mut self, list: &List, verb: char, depth: usize) {
        let (kind, named) = (list.item_kind(), self.named.take());
        let mut item = |printer: &mut Self, value: &Value| printer.print_element(kind, value, verb, depth);
        if !self.format.sharp_v {
            return self.print_items(b"[", b" ", b"]", list.items(), item);
        }
        self.push_type(list.kind(), named);
        if list.is_nil() {
            self.buffer.extend_from_slice(b"(nil)");
        } else {
            self.print_items(b"{", b", ", b"}", list.items(), &mut item);
        }
    }

    fn print_map(&mut self, map: &Map, verb: char, depth: usize) {
        let (keys, values, named) = (map.key_kind(), map.value_kind(), self.named.take());
        let mut entry = |printer: &mut Self, (key, value): &(Value, Value)| {
            printer.print_element(keys, key, verb, depth);
            printer.buffer.push(b':');
            printer.print_element(values, value, verb, depth);
        };
        if !self.format.sharp_v {
            return self.print_items(b"map[", b" ", b"]", &map.entries(), entry);
        }
        self.push_type(map.kind(), named.or(map.named().map(|named| named.name)));
        if map.is_nil() {
            self.buffer.extend_from_slice(b"(nil)");
        } else {
            self.print_items(b"{", b", ", b"}", &map.entries(), &mut entry);
        }
    }

    /// Something inside of something else. There nil has the type of its place.
    fn print_element(&mut self, kind: Type, value: &Value, verb: char, depth: usize) {
        match value {
            Value::Nil if verb == 'w' => self.bad_verb(value, verb),
            Value::Nil if self.format.sharp_v => {
                self.buffer.extend_from_slice(kind.to_string().as_bytes());
                self.buffer.extend_from_slice(b"(nil)");
            }
            Value::Nil => self.buffer.extend_from_slice(b"<nil>"),
            _ if verb == 'w' && !self.erroring => self.bad_verb(value, verb),
            _ => self.print_value(value, verb, depth + 1),
        }
    }

    fn print_host(&mut self, value: &Value, host: &dyn Host, verb: char, depth: usize) {
        let textual = matches!(verb, 'v' | 's' | 'x' | 'X' | 'q') && !self.format.sharp_v && !self.erroring;
        if textual && let Some(text) = host.text() {
            return self.print_string(&Value::String(text.clone()), &text, verb);
        }
        match host.shape() {
            Shape::Struct(fields) => self.print_struct(host, &fields, verb, depth),
            Shape::Pointer(fields) if depth == 0 => {
                self.buffer.push(b'&');
                self.print_struct(host, &fields, verb, depth);
            }
            Shape::Pointer(_) => self.print_address(value, verb),
            Shape::Like(like) => {
                self.named = Some(host.type_name());
                self.print_value(&like, verb, depth);
                self.named = None;
            }
        }
    }

    pub(super) fn print_struct(&mut self, host: &dyn Host, fields: &[(&'static str, Value)], verb: char, depth: usize) {
        let sharp = self.format.sharp_v;
        if sharp {
            self.buffer.extend_from_slice(host.type_name().trim_start_matches('*').as_bytes());
        }
        let named = sharp || self.format.plus_v;
        let between: &[u8] = if sharp { b", " } else { b" " };
        self.deeper(depth, |printer| {
            printer.print_items(b"{", between, b"}", fields, |printer, (name, value)| {
                if named {
                    printer.buffer.extend_from_slice(name.as_bytes());
                    printer.buffer.push(b':');
                }
                printer.print_element(Type::Any, value, verb, depth);
            });
        });
    }

    fn push_type(&mut self, kind: Type, named: Option<&'static str>) {
        let name = named.map_or_else(|| kind.to_string().into(), Cow::Borrowed);
        self.buffer.extend_from_slice(name.as_bytes());
    }

    /// Where a value lies in memory.
    fn print_address(&mut self, value: &Value, verb: char) {
        let address = match value {
            Value::List(list) => Rc::as_ptr(list).addr(),
            Value::Map(map) => Rc::as_ptr(map).addr(),
            Value::Func(function) => Rc::as_ptr(function).addr(),
            Value::Bytes(bytes) => bytes.as_ptr().addr(),
            Value::Host(host) => Rc::as_ptr(host).addr(),
            _ => return self.bad_verb(value, verb),
        };
        let address = u64::try_from(address).unwrap_or(0);
        let mut format = self.format;
        match verb {
            'v' if format.sharp_v => {
                self.buffer.extend_from_slice(format!("({})(", value.type_name()).as_bytes());
                format.hexadecimal(self.buffer, address);
                self.buffer.push(b')');
            }
            'v' | 'p' => {
                format.sharp = !format.sharp;
                format.digits(self.buffer, address.into(), 16, 'v', LOWER);
            }
            'b' | 'o' | 'd' | 'x' | 'X' => {
                format.integer(self.buffer, address.into(), verb);
            }
            _ => self.bad_verb(value, verb),
        }
    }
}
