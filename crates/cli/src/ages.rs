//! Spans of time, as people write and read them.

use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;

/// How long ago something was, in one or two units, as kubectl says it; `-` where that is not known.
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

/// Reads a span of time: a number and `s`, `m` or `h`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("a time is a whole number and one of s, m, h, such as 90s or 10m, not '{text}'");
    let (number, seconds) = match text.as_bytes().last() {
        Some(b's') => (&text[..text.len() - 1], 1),
        Some(b'm') => (&text[..text.len() - 1], 60),
        Some(b'h') => (&text[..text.len() - 1], 3600),
        _ => return Err(wrong()),
    };
    let number: u32 = number.parse().map_err(|_| wrong())?;
    Ok(Duration::from_secs(u64::from(number) * seconds))
}

/// A span of time as [`duration`] reads it.
pub(crate) fn span(duration: Duration) -> String {
    match duration.as_secs() {
        seconds if seconds > 0 && seconds % 3600 == 0 => format!("{}h", seconds / 3600),
        seconds if seconds > 0 && seconds % 60 == 0 => format!("{}m", seconds / 60),
        seconds => format!("{seconds}s"),
    }
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
    fn what_is_written_is_read_again() {
        for text in ["0s", "90s", "10m", "2h"] {
            assert_eq!(span(duration(text).unwrap()), text);
        }
    }

    #[test]
    fn a_time_without_a_unit_is_refused() {
        for text in ["", "10", "m", "1.5h", "-1s", "10 m"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
