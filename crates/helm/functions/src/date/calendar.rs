//! The calendar, far into the past and the future.

/// A date and a time of day, in some zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Civil {
    pub(crate) year: i64,
    /// From 1.
    pub(crate) month: u8,
    pub(crate) day: u8,
    /// From 1.
    pub(crate) year_day: u16,
    /// Sunday is 0.
    pub(crate) weekday: u8,
    pub(crate) hour: u8,
    pub(crate) minute: u8,
    pub(crate) second: u8,
}

pub(crate) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
pub(crate) const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Days from 1 March of Go's first year, which is -292277022400, to 1970: from there on, Go counts without a sign.
const DAYS_BEFORE_1970: u64 = 106_751_990_354_238 + 719_162;
const SECONDS_BEFORE_1970: u64 = DAYS_BEFORE_1970 * 86_400;

impl Civil {
    /// What the calendar says at a number of seconds since 1970.
    pub(crate) fn at(seconds: i64) -> Self {
        // Beyond the ends of what Go can count, it begins at the other end.
        let absolute = seconds.cast_unsigned().wrapping_add(SECONDS_BEFORE_1970);
        let (days, rest) = (absolute / 86_400, absolute % 86_400);
        let days = days.cast_signed() - DAYS_BEFORE_1970.cast_signed();
        let (year, month, day) = date(days);
        let small = |number: u64| u8::try_from(number).unwrap_or_default();
        Self {
            year,
            month,
            day,
            year_day: u16::try_from(days - days_before(year, 1) + 1).unwrap_or_default(),
            // 1 January 1970 was a Thursday.
            weekday: u8::try_from((days + 4).rem_euclid(7)).unwrap_or_default(),
            hour: small(rest / 3600),
            minute: small(rest / 60 % 60),
            second: small(rest % 60),
        }
    }
}

pub(crate) fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

pub(crate) fn days_in(year: i64, month: u8) -> u8 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970 to the first of a month.
pub(crate) fn days_before(year: i64, month: u8) -> i64 {
    // Years begin in March here, so that a leap day is a year's last.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let months = (i64::from(month) + 9) % 12;
    let day_of_year = (153 * months + 2) / 5;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The year, the month and the day, that many days after 1970.
fn date(days: i64) -> (i64, u8, u8) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let months = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * months + 2) / 5 + 1;
    let month = if months < 10 { months + 3 } else { months - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, u8::try_from(month).unwrap_or_default(), u8::try_from(day).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_the_same() {
        for days in (-800_000..800_000).step_by(17) {
            let (year, month, day) = date(days);
            assert_eq!(days_before(year, month) + i64::from(day) - 1, days);
        }
    }
}
