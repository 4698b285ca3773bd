//! Waiting for a condition, with a limit.

use std::fmt::Display;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// Calls `look` until it succeeds, and returns its result. After the limit the error has `what` and the last error of
/// `look`.
///
/// It calls every 20 milliseconds: often enough not to slow a test, seldom enough not to slow the system under test.
pub fn until<T, S: Display>(what: &str, limit: Duration, mut look: impl FnMut() -> Result<T, S>) -> Result<T> {
    let deadline = Instant::now() + limit;
    loop {
        match look() {
            Ok(found) => return Ok(found),
            Err(seen) if Instant::now() >= deadline => {
                bail!("{what}: not within {} s; last seen: {seen:#}", limit.as_secs_f32())
            }
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_last_is_in_the_error() {
        let mut looks = 0;
        let error = until::<(), _>("three looks", Duration::from_millis(50), || {
            looks += 1;
            Err(format!("look {looks}"))
        })
        .unwrap_err();
        assert!(looks > 1, "{looks}");
        assert_eq!(error.to_string(), format!("three looks: not within 0.05 s; last seen: look {looks}"));
    }

    #[test]
    fn it_looks_once_even_without_time() {
        assert_eq!(until("now", Duration::ZERO, || Ok::<_, String>(1)).unwrap(), 1);
    }
}
