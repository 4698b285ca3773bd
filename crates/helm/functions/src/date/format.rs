//! The text of a time.

use std::io::Write;

use super::calendar::{MONTHS, WEEKDAYS};
use super::layout::{Element, Fraction, Pad, Zone, first};
use super::time::Time;

impl Time {
    /// `Time.Format`.
    pub(crate) fn format(&self, mut layout: &[u8]) -> Vec<u8> {
        let mut output = Vec::with_capacity(layout.len() + 10);
        let civil = self.civil();
        let offset = self.location.at(self.seconds);
        loop {
            let piece = first(layout);
            output.extend_from_slice(piece.before);
            let Some(element) = piece.element else { return output };
            layout = piece.after;
            let month = MONTHS[usize::from(civil.month) - 1];
            let weekday = WEEKDAYS[usize::from(civil.weekday)];
            let hour12 = if civil.hour.is_multiple_of(12) { 12 } else { civil.hour % 12 };
            let afternoon = civil.hour >= 12;
            match element {
                Element::Year => number(&mut output, civil.year.abs() % 100, 2),
                Element::LongYear => number(&mut output, civil.year, 4),
                Element::Month => output.extend_from_slice(&month.as_bytes()[..3]),
                Element::LongMonth => output.extend_from_slice(month.as_bytes()),
                Element::MonthNumber(padded) => number(&mut output, civil.month.into(), width(padded)),
                Element::Weekday => output.extend_from_slice(&weekday.as_bytes()[..3]),
                Element::LongWeekday => output.extend_from_slice(weekday.as_bytes()),
                Element::Day(pad) => padded(&mut output, civil.day.into(), 2, pad),
                Element::YearDay(pad) => padded(&mut output, civil.year_day.into(), 3, pad),
                Element::Hour => number(&mut output, civil.hour.into(), 2),
                Element::Hour12(padded) => number(&mut output, hour12.into(), width(padded)),
                Element::Minute(padded) => number(&mut output, civil.minute.into(), width(padded)),
                Element::Second(padded) => number(&mut output, civil.second.into(), width(padded)),
                Element::Noon(true) => output.extend_from_slice(if afternoon { b"PM" } else { b"AM" }),
                Element::Noon(false) => output.extend_from_slice(if afternoon { b"pm" } else { b"am" }),
                Element::Zone(zone) => zone_offset(&mut output, offset.seconds, zone),
                Element::ZoneName if offset.name.is_empty() => {
                    zone_offset(&mut output, offset.seconds, Zone { letter: false, colon: false, numbers: 2 });
                }
                Element::ZoneName => output.extend_from_slice(&offset.name),
                Element::Fraction(fraction) => part_of_second(&mut output, self.nanoseconds, fraction),
            }
        }
    }
}

fn width(padded: bool) -> usize {
    if padded { 2 } else { 0 }
}

/// A number with zeros before it; its sign is not counted.
fn number(output: &mut Vec<u8>, number: i64, width: usize) {
    if number < 0 {
        output.push(b'-');
    }
    // Bytes have room for everything.
    drop(write!(output, "{:0width$}", number.unsigned_abs()));
}

fn padded(output: &mut Vec<u8>, value: i64, width: usize, pad: Pad) {
    match pad {
        Pad::None => number(output, value, 0),
        Pad::Zero => number(output, value, width),
        Pad::Space => drop(write!(output, "{value:width$}")),
    }
}

fn zone_offset(output: &mut Vec<u8>, seconds: i32, zone: Zone) {
    if seconds == 0 && zone.letter {
        output.push(b'Z');
        return;
    }
    // Less than a minute west is still a plus.
    let minutes = i64::from(seconds) / 60;
    output.push(if minutes < 0 { b'-' } else { b'+' });
    let rest = if minutes < 0 { -seconds } else { seconds } % 60;
    let numbers = [minutes.abs() / 60, minutes.abs() % 60, rest.into()];
    for (at, value) in numbers.into_iter().take(zone.numbers).enumerate() {
        if zone.colon && at > 0 {
            output.push(b':');
        }
        number(output, value, 2);
    }
}

fn part_of_second(output: &mut Vec<u8>, nanoseconds: u32, fraction: Fraction) {
    if fraction.trimmed && (fraction.digits == 0 || nanoseconds == 0) {
        return;
    }
    let begin = output.len();
    output.push(fraction.separator);
    number(output, nanoseconds.into(), 9);
    output.truncate(begin + 1 + fraction.digits.min(9));
    if fraction.trimmed {
        while output.last() == Some(&b'0') {
            output.pop();
        }
        if output.last() == Some(&fraction.separator) {
            output.pop();
        }
    }
}
