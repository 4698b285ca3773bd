//! Durations and ages, parsed and printed.

use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;

/// The age of something in the largest unit that is still precise, as kubectl prints it; `-` if unknown.
pub(crate) fn age(then: Option<&Time>, now: Timestamp) -> String {
    let Some(then) = then else { return "-".to_owned() };
    let seconds = now.as_second().saturating_sub(then.0.as_second()).max(0);
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7_200 => format!("{minutes}m"),
        7_200..172_800 => format!("{hours}h"),
        _ => format!("{days}d"),
    }
}

/// Text that is not a duration.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DurationError {
    #[error("'{0}' has no unit: expected s, m or h, as in 90s or 10m")]
    MissingUnit(String),
    #[error("'{0}' has no whole number before its unit, as in 90s or 10m")]
    InvalidNumber(String),
}

/// Parses a duration: a whole number and `s`, `m` or `h`.
pub(crate) fn parse(text: &str) -> Result<Duration, DurationError> {
    let (number, seconds) = match text.as_bytes().last() {
        Some(b's') => (&text[..text.len() - 1], 1),
        Some(b'm') => (&text[..text.len() - 1], 60),
        Some(b'h') => (&text[..text.len() - 1], 3600),
        _ => return Err(DurationError::MissingUnit(text.to_owned())),
    };
    let number: u32 = number.parse().map_err(|_| DurationError::InvalidNumber(text.to_owned()))?;
    Ok(Duration::from_secs(u64::from(number) * seconds))
}

/// Prints a duration in the form that [`parse`] reads.
pub(crate) fn print(duration: Duration) -> String {
    match duration.as_secs() {
        seconds if seconds > 0 && seconds % 3600 == 0 => format!("{}h", seconds / 3600),
        seconds if seconds > 0 && seconds % 60 == 0 => format!("{}m", seconds / 60),
        seconds => format!("{seconds}s"),
    }
}

/// The seconds of a duration, as the API has them.
pub(crate) fn seconds(duration: Duration) -> u32 {
    u32::try_from(duration.as_secs()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_grow_coarser() {
        let now = Timestamp::from_second(1_000_000).unwrap();
        let ago = |seconds: i64| age(Some(&Time(Timestamp::from_second(1_000_000 - seconds).unwrap())), now);
        let ages: Vec<_> = [0, 119, 120, 7_199, 7_200, 172_799, 172_800].into_iter().map(ago).collect();
        assert_eq!(ages, ["0s", "119s", "2m", "119m", "2h", "47h", "2d"]);
        assert_eq!(age(None, now), "-");
    }

    #[test]
    fn printed_durations_parse() {
        for text in ["0s", "90s", "10m", "2h"] {
            assert_eq!(print(parse(text).unwrap()), text);
        }
    }

    #[test]
    fn invalid_durations_are_refused() {
        for text in ["", "10", "10 "] {
            assert_eq!(parse(text), Err(DurationError::MissingUnit(text.to_owned())));
        }
        for text in ["m", "1.5h", "-1s", "10 m"] {
            assert_eq!(parse(text), Err(DurationError::InvalidNumber(text.to_owned())));
        }
    }
}
