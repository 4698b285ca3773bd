//! Texts and numbers by chance.

use std::rc::Rc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use fitout_go_template::{Error, Type, Value};

use super::sum::hex;
use crate::Environment;
use crate::argument::{int, text};
use crate::declare::Declare;

pub(super) fn add(declare: &mut Declare<'_>, world: &Rc<dyn Environment>) {
    add_texts(declare, world);
    let here = Rc::clone(world);
    declare.fallible(&["randBytes"], &[Type::INT], Type::String, move |arguments| {
        let count = int(&arguments[0]);
        // What Go says of a slice that is no slice, or far too long for memory.
        let count = usize::try_from(count).ok().filter(|count| *count < 1 << 47);
        let count = count.ok_or_else(|| Error::new("runtime error: makeslice: len out of range"))?;
        let mut bytes = vec![0; count];
        here.fill(&mut bytes);
        Ok(Value::string(BASE64_STANDARD.encode(bytes)))
    });
    let here = Rc::clone(world);
    declare.panicking(&["randInt"], &[Type::INT, Type::INT], Type::INT, move |arguments| {
        let (least, end) = (int(&arguments[0]), int(&arguments[1]));
        let count = u64::try_from(end.wrapping_sub(least)).ok().filter(|count| *count > 0);
        let count = count.ok_or_else(|| Error::new("invalid argument to Intn"))?;
        Ok(Value::int(least.wrapping_add_unsigned(below(&*here, count))))
    });
    let here = Rc::clone(world);
    declare.plain(&["shuffle"], &[Type::String], Type::String, move |arguments| {
        let mut chars: Vec<char> = runes(text(&arguments[0])).collect();
        for at in (1..chars.len()).rev() {
            let other = below(&*here, at as u64 + 1);
            chars.swap(at, usize::try_from(other).unwrap_or(at));
        }
        Value::string(chars.into_iter().collect::<String>())
    });
    let here = Rc::clone(world);
    declare.plain(&["uuidv4"], &[], Type::String, move |_| {
        let mut bytes = [0; 16];
        here.fill(&mut bytes);
        // Version 4, variant 10.
        bytes[6] = bytes[6] & 0x0F | 0x40;
        bytes[8] = bytes[8] & 0x3F | 0x80;
        let parts = [&bytes[..4], &bytes[4..6], &bytes[6..8], &bytes[8..10], &bytes[10..]];
        Value::string(parts.map(hex).join("-"))
    });
}

fn add_texts(declare: &mut Declare<'_>, world: &Rc<dyn Environment>) {
    let mut random = |name: &str, first: u8, last: u8, wanted: fn(&u8) -> bool| {
        let here = Rc::clone(world);
        declare.plain(&[name], &[Type::INT], Type::String, move |arguments| {
            Value::string(pick(&*here, int(&arguments[0]), first, last, wanted))
        });
    };
    random("randAlphaNum", b' ', b'z', u8::is_ascii_alphanumeric);
    random("randAlpha", b' ', b'z', u8::is_ascii_alphabetic);
    random("randNumeric", b' ', b'z', u8::is_ascii_digit);
    random("randAscii", b' ', b'~', |_| true);
}

/// So many characters of a range, of which only some are wanted. The first that is drawn comes last.
fn pick(world: &dyn Environment, count: i64, first: u8, last: u8, wanted: fn(&u8) -> bool) -> Vec<u8> {
    let mut text = vec![0; usize::try_from(count).unwrap_or(0)];
    for place in text.iter_mut().rev() {
        *place = loop {
            let drawn = below(world, u64::from(last - first) + 1);
            let drawn = first + u8::try_from(drawn).unwrap_or_default();
            if wanted(&drawn) {
                break drawn;
            }
        };
    }
    text
}

/// A number below another, which is not zero, by as many bytes as Go's `crypto/rand` takes for it.
fn below(world: &dyn Environment, end: u64) -> u64 {
    let bits = u64::BITS - (end - 1).leading_zeros();
    if bits == 0 {
        return 0;
    }
    let count = bits.div_ceil(8) as usize;
    let mask = u64::MAX >> (u64::BITS - bits);
    loop {
        let mut bytes = [0; 8];
        world.fill(&mut bytes[8 - count..]);
        let drawn = u64::from_be_bytes(bytes) & mask;
        if drawn < end {
            return drawn;
        }
    }
}

/// The characters of a text: each byte that is no UTF-8 is U+FFFD.
fn runes(text: &[u8]) -> impl Iterator<Item = char> {
    text.utf8_chunks()
        .flat_map(|chunk| chunk.valid().chars().chain(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER)))
}
