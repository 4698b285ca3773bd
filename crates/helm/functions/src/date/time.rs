//! `time.Time`: a moment, and the place whose time is shown.

use std::cmp::Ordering;
use std::rc::Rc;

use super::calendar::{Civil, days_before};
use super::duration::{Duration, SECOND};
use super::zone::Location;

/// A moment, as seen in a place.
#[derive(Clone, Debug)]
pub(crate) struct Time {
    /// Since 1970.
    pub(crate) seconds: i64,
    pub(crate) nanoseconds: u32,
    pub(crate) location: Rc<Location>,
}

/// Seconds from the year 1, where Go begins to count, to 1970.
const SINCE_YEAR_1: i64 = 62_135_596_800;

impl Time {
    /// The zero value: the beginning of the year 1.
    pub(crate) fn zero() -> Self {
        Self { seconds: -SINCE_YEAR_1, nanoseconds: 0, location: Location::utc() }
    }

    /// The moment of a date in a place. Months and days may lie outside of their year or month.
    pub(crate) fn of(date: (i64, i64, i64), clock: (i64, i64, i64), nanoseconds: u32, location: &Rc<Location>) -> Self {
        let ((year, month, day), (hour, minute, second)) = (date, clock);
        let year = year.wrapping_add((month - 1).div_euclid(12));
        let month = u8::try_from((month - 1).rem_euclid(12) + 1).unwrap_or(1);
        // No template counts years so far that the range of 64 bits is left, but for what it makes up.
        let days = days_before(year % i64::from(u32::MAX), month).wrapping_add(day - 1);
        let mut seconds = days.wrapping_mul(86_400).wrapping_add(hour * 3600 + minute * 60 + second);
        let guess = i64::from(location.at(seconds).seconds);
        if guess != 0 {
            seconds = seconds.wrapping_sub(location.at(seconds.wrapping_sub(guess)).seconds.into());
        }
        Self { seconds, nanoseconds, location: Rc::clone(location) }
    }

    pub(crate) fn within(&self, location: &Rc<Location>) -> Self {
        Self { location: Rc::clone(location), ..*self }
    }

    /// What calendar and clock say in its place.
    pub(crate) fn civil(&self) -> Civil {
        Civil::at(self.seconds.wrapping_add(self.location.at(self.seconds).seconds.into()))
    }

    fn since_year_1(&self) -> i64 {
        self.seconds.wrapping_add(SINCE_YEAR_1)
    }

    /// Nanoseconds since the year 1.
    fn total(&self) -> i128 {
        i128::from(self.since_year_1()) * i128::from(SECOND) + i128::from(self.nanoseconds)
    }

    pub(crate) fn add(&self, duration: Duration) -> Self {
        let nanoseconds = i64::from(self.nanoseconds) + duration.0 % SECOND;
        let seconds = duration.0 / SECOND + nanoseconds.div_euclid(SECOND);
        Self {
            nanoseconds: u32::try_from(nanoseconds.rem_euclid(SECOND)).unwrap_or_default(),
            ..self.add_seconds(seconds)
        }
    }

    /// Where Go could not count any further, it stays at the end.
    pub(crate) fn add_seconds(&self, seconds: i64) -> Self {
        let since = match self.since_year_1().checked_add(seconds) {
            Some(since) => since,
            None if seconds > 0 => i64::MAX,
            None => -i64::MAX,
        };
        Self { seconds: since.wrapping_sub(SINCE_YEAR_1), ..self.clone() }
    }

    pub(crate) fn add_date(&self, years: i64, months: i64, days: i64) -> Self {
        let civil = self.civil();
        let date = (
            civil.year.wrapping_add(years),
            i64::from(civil.month).wrapping_add(months),
            i64::from(civil.day).wrapping_add(days),
        );
        let clock = (civil.hour.into(), civil.minute.into(), civil.second.into());
        Self::of(date, clock, self.nanoseconds, &self.location)
    }

    /// How long it is since another, or as long as a duration can be.
    pub(crate) fn sub(&self, other: &Self) -> Duration {
        let difference = self.total() - other.total();
        Duration(i64::try_from(difference).unwrap_or(if difference < 0 { i64::MIN } else { i64::MAX }))
    }

    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        self.total().cmp(&other.total())
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.total() == 0
    }

    pub(crate) fn truncate(&self, to: Duration) -> Self {
        if to.0 <= 0 { self.clone() } else { self.add(Duration(-self.rest(to))) }
    }

    pub(crate) fn round(&self, to: Duration) -> Self {
        if to.0 <= 0 {
            return self.clone();
        }
        let rest = self.rest(to);
        let up = rest.unsigned_abs() * 2 >= to.0.unsigned_abs();
        self.add(Duration(if up { to.0 - rest } else { -rest }))
    }

    fn rest(&self, of: Duration) -> i64 {
        i64::try_from(self.total().rem_euclid(of.0.into())).unwrap_or_default()
    }

    /// Since 1970, in some unit of which a second has so many; what does not fit is lost.
    pub(crate) fn unix(&self, units: i64) -> i64 {
        self.seconds.wrapping_mul(units).wrapping_add(i64::from(self.nanoseconds) / (SECOND / units))
    }
}
