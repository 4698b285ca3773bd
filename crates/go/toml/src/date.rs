//! Dates and times.

/// How a date or time is placed in the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    /// It says so: `Z`.
    Utc,
    /// It says so: seconds east of Greenwich.
    Offset(i32),
    /// A date with a time, wherever one is.
    LocalDatetime,
    /// A date alone.
    LocalDate,
    /// A time alone: of the first day of the year 0.
    LocalTime,
}

/// A date, a time, or both. Where there is no time, it is midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datetime {
    /// The year, from 0.
    pub year: i32,
    /// The month, from 1.
    pub month: u32,
    /// The day, from 1.
    pub day: u32,
    /// The hour.
    pub hour: u32,
    /// The minute.
    pub minute: u32,
    /// The second.
    pub second: u32,
    /// Nanoseconds beyond the second.
    pub nanosecond: u32,
    /// Where that is.
    pub zone: Zone,
}

/// Reads a date or a time, in which `T` and `Z` are capital.
pub(crate) fn datetime(text: &str) -> Option<Datetime> {
    let mut reader = Reader { rest: text.as_bytes() };
    let mut found =
        Datetime { year: 0, month: 1, day: 1, hour: 0, minute: 0, second: 0, nanosecond: 0, zone: Zone::LocalTime };
    if text.as_bytes().get(4) == Some(&b'-') {
        reader.date(&mut found)?;
        found.zone = Zone::LocalDate;
        if reader.rest.is_empty() {
            return Some(found);
        }
        reader.skip(b'T')?;
        reader.time(&mut found)?;
        found.zone = Zone::LocalDatetime;
        if !reader.rest.is_empty() {
            found.zone = reader.zone()?;
        }
    } else {
        reader.time(&mut found)?;
    }
    reader.rest.is_empty().then_some(found)
}

struct Reader<'t> {
    rest: &'t [u8],
}

impl Reader<'_> {
    fn skip(&mut self, byte: u8) -> Option<()> {
        self.rest = self.rest.strip_prefix(&[byte])?;
        Some(())
    }

    fn digits(&mut self, count: usize) -> Option<u32> {
        let (digits, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        digits.iter().try_fold(0, |number, byte| Some(number * 10 + char::from(*byte).to_digit(10)?))
    }

    fn date(&mut self, found: &mut Datetime) -> Option<()> {
        found.year = i32::try_from(self.digits(4)?).ok()?;
        self.skip(b'-')?;
        found.month = self.digits(2).filter(|month| (1..=12).contains(month))?;
        self.skip(b'-')?;
        let last = days_in(found.month, found.year);
        found.day = self.digits(2).filter(|day| (1..=last).contains(day))?;
        Some(())
    }

    fn time(&mut self, found: &mut Datetime) -> Option<()> {
        found.hour = self.digits(2).filter(|hour| *hour < 24)?;
        self.skip(b':')?;
        found.minute = self.digits(2).filter(|minute| *minute < 60)?;
        if self.skip(b':').is_none() {
            return Some(());
        }
        found.second = self.digits(2).filter(|second| *second < 60)?;
        if let Some(fraction) = self.rest.strip_prefix(b".") {
            let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 {
                return None;
            }
            self.rest = &fraction[digits..];
            // More digits than nine are left out.
            let nine = fraction[..digits].iter().chain(std::iter::repeat(&b'0')).take(9);
            found.nanosecond = nine.fold(0, |number, byte| number * 10 + u32::from(byte - b'0'));
        }
        Some(())
    }

    /// Go takes hours up to 24 and minutes up to 60 here.
    fn zone(&mut self) -> Option<Zone> {
        if self.skip(b'Z').is_some() {
            return Some(Zone::Utc);
        }
        let sign = match self.rest.first()? {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        self.rest = &self.rest[1..];
        let hours = self.digits(2).filter(|hours| *hours <= 24)?;
        self.skip(b':')?;
        let minutes = self.digits(2).filter(|minutes| *minutes <= 60)?;
        Some(Zone::Offset(sign * i32::try_from(hours * 3600 + minutes * 60).ok()?))
    }
}

fn days_in(month: u32, year: i32) -> u32 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_says_where_it_is() {
        let zone = |text| datetime(text).map(|found| found.zone);
        assert_eq!(zone("1979-05-27T07:32:00Z"), Some(Zone::Utc));
        assert_eq!(zone("1979-05-27T07:32-01:30"), Some(Zone::Offset(-5400)));
        assert_eq!(zone("1979-05-27T07:32:00.5"), Some(Zone::LocalDatetime));
        assert_eq!(zone("1979-05-27"), Some(Zone::LocalDate));
        assert_eq!(zone("07:32"), Some(Zone::LocalTime));
    }

    #[test]
    fn a_day_has_to_exist() {
        assert!(datetime("2000-02-29").is_some());
        for text in ["1900-02-29", "2001-13-01", "2001-04-31", "24:00:00", "1:00:00", "07:32:00.", "2001-01-01T"] {
            assert_eq!(datetime(text), None, "{text}");
        }
    }
}
