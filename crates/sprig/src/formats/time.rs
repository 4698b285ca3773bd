//! Dates and times in TOML, as the values that templates have for them.

use fitout_gotmpl::Value;
use fitout_gotoml::{Datetime, Zone};

/// The value of a date or time.
pub(crate) fn datetime(datetime: &Datetime) -> Value {
    let Datetime { year, month, day, hour, minute, second, nanosecond, zone } = datetime;
    let offset = match zone {
        Zone::Utc => "Z".to_owned(),
        Zone::Offset(seconds) => format!("{seconds:+}"),
        Zone::LocalDatetime | Zone::LocalDate | Zone::LocalTime => String::new(),
    };
    Value::string(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{nanosecond:09}{offset}"))
}
