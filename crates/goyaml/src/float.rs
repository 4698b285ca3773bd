//! Floats as Go writes them.

/// A float in as few digits as possible; with an exponent where that is below -4 or above 5.
pub fn shortest(float: f64) -> String {
    shape(float, &format!("{float:e}"), float.to_string())
}

/// The same after rounding to 32 bits, as the library does it for keys.
#[expect(clippy::cast_possible_truncation, reason = "rounding is what is asked for")]
pub fn shortest_single(float: f64) -> String {
    let single = float as f32;
    shape(single.into(), &format!("{single:e}"), single.to_string())
}

fn shape(float: f64, scientific: &str, positional: String) -> String {
    if float.is_nan() {
        return ".nan".to_owned();
    }
    if float.is_infinite() {
        return if float > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let Some((digits, exponent)) = scientific.split_once('e') else { return positional };
    match exponent.parse::<i32>() {
        Ok(exponent) if float != 0.0 && !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs())
        }
        _ => positional,
    }
}

/// The whole number that Go's JSON writes for a float, if it writes one.
#[expect(clippy::cast_possible_truncation, reason = "it is within the range")]
pub(crate) fn whole(float: f64) -> Option<serde_json::Number> {
    // Up to here a float has all digits of the number that it is; beyond it Go writes zeros for those it does not need.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    // From here on Go writes an exponent.
    const EXPONENT: f64 = 1e21;
    if float.fract() != 0.0 || (float == 0.0 && float.is_sign_negative()) {
        return None;
    }
    if float.abs() <= EXACT {
        return Some((float as i64).into());
    }
    if float.abs() >= EXPONENT {
        return None;
    }
    let text = float.to_string();
    text.parse::<i64>().map(Into::into).or_else(|_| text.parse::<u64>().map(Into::into)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exponent_has_two_digits() {
        assert_eq!(shortest(1e6), "1e+06");
        assert_eq!(shortest(123_456.5), "123456.5");
        assert_eq!(shortest(1.5e-5), "1.5e-05");
        assert_eq!(shortest(0.0001), "0.0001");
        assert_eq!(shortest(-0.0), "-0");
        assert_eq!(shortest(1e300), "1e+300");
    }

    #[test]
    fn a_key_is_rounded() {
        assert_eq!(shortest_single(0.1), "0.1");
        assert_eq!(shortest_single(16_777_217.0), "1.6777216e+07");
    }
}
