//! What a machine has and a function has not.

/// Where random bytes, the time and keys come from.
pub trait World {
    /// Fills a buffer with random bytes.
    fn fill(&self, bytes: &mut [u8]);

    /// The time: seconds since 1970 and nanoseconds beyond them.
    fn now(&self) -> (i64, u32);

    /// The name of the local zone in the tz database, such as `Europe/Berlin`.
    fn zone(&self) -> String;
}
