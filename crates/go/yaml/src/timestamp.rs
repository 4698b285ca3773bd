//! Which texts Go takes for a time.

/// Whether a text is a date, or a date and a time, in one of the forms that Go's YAML knows.
pub(crate) fn is_timestamp(text: &str) -> bool {
    let year_ends = text.bytes().take_while(u8::is_ascii_digit).count();
    year_ends == 4 && parse(text).is_some()
}

fn parse(text: &str) -> Option<()> {
    let mut rest = Rest(text.as_bytes());
    let year = rest.two_digits()? * 100 + rest.two_digits()?;
    rest.literal(b'-')?;
    let month = rest.within(1, 12)?;
    rest.literal(b'-')?;
    let day = rest.short_number()?;
    if day < 1 || day > days(year, month) {
        return None;
    }
    match rest.0 {
        [] => Some(()),
        [b'T' | b't', ..] => {
            rest.0 = &rest.0[1..];
            rest.clock()?;
            rest.zone()
        }
        [b' ', ..] => {
            while rest.literal(b' ').is_some() {}
            rest.clock()
        }
        _ => None,
    }?;
    rest.0.is_empty().then_some(())
}

fn days(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// What is left to read.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn literal(&mut self, wanted: u8) -> Option<()> {
        self.0 = self.0.strip_prefix(&[wanted])?;
        Some(())
    }

    fn digit(&mut self) -> Option<u32> {
        let (first, rest) = self.0.split_first().filter(|(first, _)| first.is_ascii_digit())?;
        self.0 = rest;
        Some(u32::from(first - b'0'))
    }

    fn two_digits(&mut self) -> Option<u32> {
        Some(self.digit()? * 10 + self.digit()?)
    }

    /// One digit or two.
    fn short_number(&mut self) -> Option<u32> {
        let first = self.digit()?;
        Some(self.digit().map_or(first, |second| first * 10 + second))
    }

    fn within(&mut self, least: u32, most: u32) -> Option<u32> {
        self.short_number().filter(|number| (least..=most).contains(number))
    }

    /// Hours, minutes, seconds, and perhaps a fraction of any length.
    fn clock(&mut self) -> Option<()> {
        self.within(0, 23)?;
        self.literal(b':')?;
        self.within(0, 59)?;
        self.literal(b':')?;
        self.within(0, 59)?;
        if let [b'.' | b',', b'0'..=b'9', ..] = self.0 {
            self.0 = &self.0[1..];
            while self.digit().is_some() {}
        }
        Some(())
    }

    /// `Z`, or hours and minutes with a sign. Go allows 24 of the one and 60 of the other.
    fn zone(&mut self) -> Option<()> {
        if self.literal(b'Z').is_some() {
            return Some(());
        }
        self.literal(b'+').or_else(|| self.literal(b'-'))?;
        let hours = self.two_digits()?;
        self.literal(b':')?;
        let minutes = self.two_digits()?;
        (hours <= 24 && minutes <= 60).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_to_exist() {
        assert!(is_timestamp("2024-02-29"));
        assert!(!is_timestamp("2023-02-29"));
        assert!(!is_timestamp("2023-13-01"));
    }

    #[test]
    fn a_time_needs_a_zone_only_after_a_t() {
        assert!(is_timestamp("2001-12-14T21:59:43.10-05:00"));
        assert!(is_timestamp("2001-12-14 21:59:43.1"));
        assert!(!is_timestamp("2001-12-14T21:59:43.1"));
        assert!(!is_timestamp("2001-12-14 21:59:43.1Z"));
    }
}
