//! Dates, times and durations.

use fitout_go_template::quote;

use super::{Checked, digits, refuse, shown};

/// As Go reads `2006-01-02`.
pub(super) fn date(text: &str) -> Checked {
    const LAYOUT: [(&str, usize); 3] = [("2006", 4), ("01", 2), ("02", 2)];
    let whole = quote(text.as_bytes());
    let mut numbers = [0u32; 3];
    let mut rest = text;
    let fail = |rest: &str, part: &str| {
        let rest = quote(rest.as_bytes());
        refuse(format!("parsing time {whole} as \"2006-01-02\": cannot parse {rest} as \"{part}\""))
    };
    for (place, (part, length)) in LAYOUT.into_iter().enumerate() {
        if place > 0 {
            match rest.strip_prefix('-') {
                Some(after) => rest = after,
                None => return fail(rest, "-"),
            }
        }
        let Some(number) = rest.get(..length).filter(|number| digits(number) == length) else {
            return fail(rest, part);
        };
        numbers[place] = number.parse().unwrap_or_default();
        rest = &rest[length..];
        if place == 1 && !(1..=12).contains(&numbers[1]) {
            return refuse(format!("parsing time {whole}: month out of range"));
        }
    }
    if !rest.is_empty() {
        return refuse(format!("parsing time {whole}: extra text: {}", quote(rest.as_bytes())));
    }
    let [year, month, day] = numbers;
    if day == 0 || day > days(year, month) {
        return refuse(format!("parsing time {whole}: day out of range"));
    }
    Ok(())
}

fn days(year: u32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 31,
    }
}

pub(super) fn time(text: &str) -> Checked {
    let bytes = text.as_bytes();
    if bytes.len() < 9 {
        return refuse("less than 9 characters long");
    }
    if bytes[2] != b':' || bytes[5] != b':' {
        return refuse("missing colon in correct place");
    }
    let number = |from: usize| text.get(from..from + 2).and_then(|part| part.parse::<i32>().ok());
    let (Some(hour), Some(minute), Some(second)) = (number(0), number(3), number(6)) else {
        return refuse("invalid hour/min/sec");
    };
    if hour < 0 || minute < 0 || second < 0 {
        return refuse("non-positive hour/min/sec");
    }
    if hour > 23 || minute > 59 || second > 60 {
        return refuse("hour/min/sec out of range");
    }
    let mut rest = &text[8..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let count = digits(fraction);
        if count == 0 {
            return refuse("no digits in second fraction");
        }
        rest = &fraction[count..];
    }
    let shift = if matches!(rest, "z" | "Z") { 0 } else { offset(rest)? };
    let minutes = hour * 60 + minute + shift;
    let minutes = if minutes < 0 { minutes + 24 * 60 } else { minutes };
    if second >= 60 && (minutes / 60 != 23 || minutes % 60 != 59) {
        return refuse("invalid leap second");
    }
    Ok(())
}

/// By how many minutes the time is to be moved.
fn offset(text: &str) -> Result<i32, String> {
    if text.len() != 6 {
        return Err("offset must be 6 characters long".to_owned());
    }
    let sign = match text.as_bytes()[0] {
        b'+' => -1,
        b'-' => 1,
        _ => return Err("offset must begin with plus/minus".to_owned()),
    };
    if text.as_bytes()[3] != b':' {
        return Err("missing colon in offset in correct place".to_owned());
    }
    let number = |from: usize| text.get(from..from + 2).and_then(|part| part.parse::<i32>().ok());
    let (Some(hour), Some(minute)) = (number(1), number(4)) else {
        return Err("invalid hour/min in offset".to_owned());
    };
    if hour < 0 || minute < 0 {
        return Err("non-positive hour/min in offset".to_owned());
    }
    if hour > 23 || minute > 59 {
        return Err("hour/min in offset out of range".to_owned());
    }
    Ok(sign * (hour * 60 + minute))
}

pub(super) fn date_time(text: &str) -> Checked {
    if text.len() < 20 {
        return refuse("less than 20 characters long");
    }
    if !matches!(text.as_bytes()[10], b't' | b'T') {
        return refuse("11th character must be t or T");
    }
    let (Some(day), Some(clock)) = (text.get(..10), text.get(11..)) else {
        return refuse("11th character must be t or T");
    };
    date(day).map_err(|why| format!("invalid date element: {why}"))?;
    time(clock).map_err(|why| format!("invalid time element: {why}"))
}

pub(super) fn duration(text: &str) -> Checked {
    let Some(rest) = text.strip_prefix('P') else { return refuse("must start with P") };
    if rest.is_empty() {
        return refuse("nothing after P");
    }
    if let Some(weeks) = rest.strip_suffix('W') {
        return match (weeks.is_empty(), digits(weeks) == weeks.len()) {
            (true, _) => refuse("no number in week"),
            (false, true) => Ok(()),
            (false, false) => refuse("invalid week"),
        };
    }
    for (place, part) in rest.split('T').enumerate() {
        if place != 0 && part.is_empty() {
            return refuse("no time elements");
        }
        let Some(all) = ["YMD", "HMS"].get(place) else { return refuse("more than one T") };
        units(part, all)?;
    }
    Ok(())
}

fn units(part: &str, all: &str) -> Checked {
    let (mut part, mut left) = (part, all);
    while !part.is_empty() {
        let count = digits(part);
        if count == 0 {
            return refuse("missing number");
        }
        part = &part[count..];
        let Some(byte) = part.bytes().next() else { return refuse("missing unit") };
        // Go looks at a byte, and shows it as a character.
        let unit = char::from(byte);
        let Some(place) = left.find(unit) else {
            let problem = if all.contains(unit) { ("unit", " out of order") } else { ("invalid unit", "") };
            return refuse(format!("{} {}{}", problem.0, shown(unit), problem.1));
        };
        left = &left[place + 1..];
        part = &part[1..];
    }
    Ok(())
}

pub(super) fn period(text: &str) -> Checked {
    let Some((start, end)) = text.split_once('/') else { return refuse("missing slash") };
    if start.starts_with('P') {
        duration(start).map_err(|why| format!("invalid start duration: {why}"))?;
        return date_time(end).map_err(|why| format!("invalid end date-time: {why}"));
    }
    date_time(start).map_err(|why| format!("invalid start date-time: {why}"))?;
    if end.starts_with('P') {
        return duration(end).map_err(|why| format!("invalid end duration: {why}"));
    }
    date_time(end).map_err(|why| format!("invalid end date-time: {why}"))
}
