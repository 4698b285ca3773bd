//! A time from its text.

use std::rc::Rc;

use fitout_go_template::{Error, Text};

use super::calendar::{MONTHS, WEEKDAYS, days_in, is_leap};
use super::duration::{leading, sign};
use super::layout::{Element, Fraction, Pad, Zone, first};
use super::quote::quote;
use super::time::Time;
use super::zone::Location;

/// What was read so far.
#[derive(Default)]
struct Read {
    year: i64,
    month: Option<i64>,
    day: Option<i64>,
    year_day: Option<i64>,
    clock: (i64, i64, i64),
    nanoseconds: u32,
    afternoon: Option<bool>,
    utc: bool,
    offset: Option<i64>,
    zone: Option<Text>,
}

/// Why an element could not be read.
enum Bad {
    Value,
    /// What is out of its range.
    Range(&'static str),
}

type Rest<'v, T> = Result<(T, &'v [u8]), Bad>;

/// `time.ParseInLocation`.
pub(crate) fn parse(layout: &[u8], value: &[u8], location: &Rc<Location>) -> Result<Time, Error> {
    let mut read = Read::default();
    let (mut ahead, mut rest) = (layout, value);
    loop {
        let piece = first(ahead);
        let unread = |rest: &[u8], element: &[u8]| {
            let (value, layout, rest, element) = (quote(value), quote(layout), quote(rest), quote(element));
            Error::new(format!("parsing time {value} as {layout}: cannot parse {rest} as {element}"))
        };
        rest = skip(rest, piece.before).map_err(|rest| unread(rest, piece.before))?;
        let Some(element) = piece.element else { break };
        ahead = piece.after;
        rest = read.element(element, rest, ahead).map_err(|bad| match bad {
            Bad::Value => unread(rest, piece.written),
            Bad::Range(what) => refused(value, &format!("{what} out of range")),
        })?;
    }
    if !rest.is_empty() {
        return Err(refused(value, &format!("extra text: {}", quote(rest))));
    }
    read.finish(location).map_err(|reason| refused(value, reason))
}

fn refused(value: &[u8], reason: &str) -> Error {
    Error::new(format!("parsing time {}: {reason}", quote(value)))
}

/// What comes after a part of the layout that stands for itself; any number of spaces is as good as another.
fn skip<'v>(mut value: &'v [u8], mut prefix: &[u8]) -> Result<&'v [u8], &'v [u8]> {
    while let Some((byte, after)) = prefix.split_first() {
        if *byte == b' ' {
            if value.first().is_some_and(|first| *first != b' ') {
                return Err(value);
            }
            prefix = without_spaces(prefix);
            value = without_spaces(value);
        } else {
            value = value.strip_prefix(&[*byte]).ok_or(value)?;
            prefix = after;
        }
    }
    Ok(value)
}

fn without_spaces(text: &[u8]) -> &[u8] {
    &text[text.iter().take_while(|byte| **byte == b' ').count()..]
}

impl Read {
    /// Reads an element, and answers what comes after it. `ahead` is the rest of the layout.
    fn element<'v>(&mut self, element: Element, value: &'v [u8], ahead: &[u8]) -> Result<&'v [u8], Bad> {
        let rest;
        match element {
            Element::Year => {
                let (digits, after) = value.split_at_checked(2).ok_or(Bad::Value)?;
                let year = signed(digits).ok_or(Bad::Value)?;
                self.year = year + if year >= 69 { 1900 } else { 2000 };
                rest = after;
            }
            Element::LongYear => {
                let (digits, after) = value.split_at_checked(4).ok_or(Bad::Value)?;
                self.year = signed(digits).filter(|_| digits[0].is_ascii_digit()).ok_or(Bad::Value)?;
                rest = after;
            }
            Element::Month => {
                let (month, after) = name(value, MONTHS.iter().map(|name| &name[..3]))?;
                (self.month, rest) = (Some(month + 1), after);
            }
            Element::LongMonth => {
                let (month, after) = name(value, MONTHS.iter().copied())?;
                (self.month, rest) = (Some(month + 1), after);
            }
            Element::MonthNumber(fixed) => {
                let (month, after) = within(two(value, fixed)?, 1..=12, "month")?;
                (self.month, rest) = (Some(month), after);
            }
            // Which day of the week it is does not matter.
            Element::Weekday => rest = name(value, WEEKDAYS.iter().map(|name| &name[..3]))?.1,
            Element::LongWeekday => rest = name(value, WEEKDAYS.iter().copied())?.1,
            Element::Day(pad) => {
                let value = if pad == Pad::Space { value.strip_prefix(b" ").unwrap_or(value) } else { value };
                let (day, after) = two(value, pad == Pad::Zero)?;
                (self.day, rest) = (Some(day), after);
            }
            Element::YearDay(pad) => {
                let spaces =
                    if pad == Pad::Space { value.iter().take(2).take_while(|b| **b == b' ').count() } else { 0 };
                let (day, after) = three(&value[spaces..], pad == Pad::Zero)?;
                (self.year_day, rest) = (Some(day), after);
            }
            Element::Hour => (self.clock.0, rest) = within(two(value, false)?, 0..=23, "hour")?,
            Element::Hour12(fixed) => (self.clock.0, rest) = within(two(value, fixed)?, 0..=12, "hour")?,
            Element::Minute(fixed) => (self.clock.1, rest) = within(two(value, fixed)?, 0..=59, "minute")?,
            Element::Second(fixed) => {
                let (second, after) = within(two(value, fixed)?, 0..=59, "second")?;
                self.clock.2 = second;
                rest = self.unannounced(after, ahead)?;
            }
            Element::Noon(upper) => {
                let (noon, after) = value.split_at_checked(2).ok_or(Bad::Value)?;
                self.afternoon = Some(match (noon, upper) {
                    (b"PM", true) | (b"pm", false) => true,
                    (b"AM", true) | (b"am", false) => false,
                    _ => return Err(Bad::Value),
                });
                rest = after;
            }
            Element::Zone(zone) => match value {
                [b'Z', after @ ..] if zone.letter => (self.utc, rest) = (true, after),
                _ => {
                    let (offset, after) = offset(value, zone)?;
                    (self.offset, rest) = (Some(offset), after);
                }
            },
            Element::ZoneName => {
                if let Some(after) = value.strip_prefix(b"UTC") {
                    (self.utc, rest) = (true, after);
                } else {
                    let (name, after) = value.split_at(zone_length(value).ok_or(Bad::Value)?);
                    (self.zone, rest) = (Some(Text::from(name)), after);
                }
            }
            Element::Fraction(fraction) => rest = self.fraction(value, fraction)?,
        }
        Ok(rest)
    }

    /// A fraction after seconds, of which the layout says nothing.
    fn unannounced<'v>(&mut self, value: &'v [u8], ahead: &[u8]) -> Result<&'v [u8], Bad> {
        let announced = matches!(first(ahead).element, Some(Element::Fraction(_)));
        match value {
            [b'.' | b',', digit, ..] if digit.is_ascii_digit() && !announced => self.nanoseconds(value, digits(value)),
            _ => Ok(value),
        }
    }

    fn fraction<'v>(&mut self, value: &'v [u8], fraction: Fraction) -> Result<&'v [u8], Bad> {
        match value {
            _ if !fraction.trimmed => self.nanoseconds(value, fraction.digits),
            [b'.' | b',', digit, ..] if digit.is_ascii_digit() => self.nanoseconds(value, digits(value)),
            _ => Ok(value),
        }
    }

    /// A separator and so many digits, of which nine count.
    fn nanoseconds<'v>(&mut self, value: &'v [u8], count: usize) -> Result<&'v [u8], Bad> {
        let (fraction, rest) = value.split_at_checked(count + 1).ok_or(Bad::Value)?;
        if !matches!(fraction[0], b'.' | b',') {
            return Err(Bad::Value);
        }
        let counted = &fraction[1..fraction.len().min(10)];
        let number = signed(counted).ok_or(Bad::Value)?;
        let scale = 10_i64.pow(u32::try_from(9 - counted.len()).unwrap_or_default());
        self.nanoseconds = u32::try_from(number * scale).map_err(|_| Bad::Range("fractional second"))?;
        Ok(rest)
    }

    fn finish(mut self, location: &Rc<Location>) -> Result<Time, &'static str> {
        match self.afternoon {
            Some(true) if self.clock.0 < 12 => self.clock.0 += 12,
            Some(false) if self.clock.0 == 12 => self.clock.0 = 0,
            _ => {}
        }
        let (month, day) = self.month_and_day()?;
        let short = u8::try_from(month).unwrap_or_default();
        if day < 1 || day > days_in(self.year, short).into() {
            return Err("day out of range");
        }
        let at = |location: &Rc<Location>| Time::of((self.year, month, day), self.clock, self.nanoseconds, location);
        if self.utc {
            return Ok(at(&Location::utc()));
        }
        // To Go, an offset of one second to the west is none.
        if let Some(offset) = self.offset.filter(|offset| *offset != -1) {
            let time = at(&Location::utc()).add_seconds(-offset);
            let local = location.at(time.seconds);
            let named = self.zone.as_ref().is_none_or(|name| *name == local.name);
            if i64::from(local.seconds) == offset && named {
                return Ok(time.within(location));
            }
            return Ok(time.within(&made_up(self.zone, offset)));
        }
        if let Some(name) = self.zone {
            let time = at(&Location::utc());
            if let Some(offset) = location.by_name(&name, time.seconds) {
                return Ok(time.add_seconds(-i64::from(offset)).within(location));
            }
            let hours = name.strip_prefix(b"GMT").and_then(signed).unwrap_or_default();
            return Ok(time.within(&made_up(Some(name), hours * 3600)));
        }
        Ok(at(location))
    }

    fn month_and_day(&self) -> Result<(i64, i64), &'static str> {
        let Some(mut days) = self.year_day else { return Ok((self.month.unwrap_or(1), self.day.unwrap_or(1))) };
        let leap_day = is_leap(self.year) && days == 31 + 29;
        if is_leap(self.year) && days > 31 + 29 {
            days -= 1;
        }
        if !(1..=365).contains(&days) {
            return Err("day-of-year out of range");
        }
        let mut found = (2, 29);
        if !leap_day {
            let mut month = 1;
            // A year that is no leap year: its leap day has been dealt with.
            while days > i64::from(days_in(1, month)) {
                days -= i64::from(days_in(1, month));
                month += 1;
            }
            found = (i64::from(month), days);
        }
        if self.month.is_some_and(|month| month != found.0) {
            return Err("day-of-year does not match month");
        }
        if self.day.is_some_and(|day| day != found.1) {
            return Err("day-of-year does not match day");
        }
        Ok(found)
    }
}

fn made_up(name: Option<Text>, offset: i64) -> Rc<Location> {
    let name = name.unwrap_or_else(|| Text::from(""));
    Location::fixed(&name.to_str(), name.clone(), i32::try_from(offset).unwrap_or_default())
}

/// Digits with a sign or without.
fn signed(text: &[u8]) -> Option<i64> {
    let (negative, digits) = sign(text);
    let (number, rest) = leading(digits)?;
    let number = i64::try_from(number).ok().filter(|_| rest.is_empty())?;
    Some(if negative { -number } else { number })
}

fn name<'v, 'n>(value: &'v [u8], names: impl Iterator<Item = &'n str>) -> Rest<'v, i64> {
    for (at, name) in (0..).zip(names) {
        if let Some((begin, rest)) = value.split_at_checked(name.len())
            && begin.eq_ignore_ascii_case(name.as_bytes())
        {
            return Ok((at, rest));
        }
    }
    Err(Bad::Value)
}

/// One digit or two, or exactly two.
fn two(value: &[u8], fixed: bool) -> Rest<'_, i64> {
    number(value, 2, if fixed { 2 } else { 1 })
}

fn three(value: &[u8], fixed: bool) -> Rest<'_, i64> {
    number(value, 3, if fixed { 3 } else { 1 })
}

fn number(value: &[u8], most: usize, least: usize) -> Rest<'_, i64> {
    let count = value.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
    if count < least {
        return Err(Bad::Value);
    }
    let (digits, rest) = value.split_at(count);
    Ok((digits.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')), rest))
}

fn within<'v>(
    (number, rest): (i64, &'v [u8]),
    range: std::ops::RangeInclusive<i64>,
    what: &'static str,
) -> Rest<'v, i64> {
    if range.contains(&number) { Ok((number, rest)) } else { Err(Bad::Range(what)) }
}

/// How many digits come after the first character.
fn digits(value: &[u8]) -> usize {
    value[1..].iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// An offset in seconds.
fn offset(value: &[u8], zone: Zone) -> Rest<'_, i64> {
    let step = if zone.colon { 3 } else { 2 };
    let length = 1 + zone.numbers * step - usize::from(zone.colon);
    let (written, rest) = value.split_at_checked(length).ok_or(Bad::Value)?;
    let colon = |at: usize| written.get(at).is_none_or(|byte| *byte == b':');
    if zone.colon && !(colon(3) && colon(6)) {
        return Err(Bad::Value);
    }
    // What is out of range is refused before what cannot be read.
    let numbers = (0..zone.numbers).map(|at| two(&written[1 + at * step..], true).ok().map(|(number, _)| number));
    let read: Vec<i64> = numbers.map_while(|number| number).collect();
    let of = |at: usize| read.get(at).copied().unwrap_or_default();
    let (hours, minutes, seconds) = (of(0), of(1), of(2));
    let limits = [
        (seconds > 60, "time zone offset second"),
        (minutes > 60, "time zone offset minute"),
        (hours > 24, "time zone offset hour"),
    ];
    if let Some((_, what)) = limits.into_iter().find(|(beyond, _)| *beyond) {
        return Err(Bad::Range(what));
    }
    let offset = (hours * 60 + minutes) * 60 + seconds;
    match written[0] {
        b'+' if read.len() == zone.numbers => Ok((offset, rest)),
        b'-' if read.len() == zone.numbers => Ok((-offset, rest)),
        _ => Err(Bad::Value),
    }
}

/// How long the name of a zone is that a text begins with.
fn zone_length(value: &[u8]) -> Option<usize> {
    if value.len() < 3 {
        return None;
    }
    // The only ones with lower case.
    if value.starts_with(b"ChST") || value.starts_with(b"MeST") {
        return Some(4);
    }
    if value.starts_with(b"GMT") {
        return Some(3 + signed_length(&value[3..]));
    }
    if matches!(value[0], b'+' | b'-') {
        return Some(signed_length(value)).filter(|length| *length > 0);
    }
    match value.iter().take(6).take_while(|byte| byte.is_ascii_uppercase()).count() {
        3 => Some(3),
        4 if value[3] == b'T' || value.starts_with(b"WITA") => Some(4),
        5 if value[4] == b'T' => Some(5),
        _ => None,
    }
}

/// How long an offset of at most 23 hours is, with its sign.
fn signed_length(value: &[u8]) -> usize {
    match value {
        [b'+' | b'-', digits @ ..] => match leading(digits) {
            Some((0..=23, rest)) if rest.len() < digits.len() => value.len() - rest.len(),
            _ => 0,
        },
        _ => 0,
    }
}
