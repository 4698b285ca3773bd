//! Floats as Go writes them.

/// A float in as few digits as possible; with an exponent where that is below -4 or above 5.
pub fn shortest(float: f64) -> String {
    if is_halfway(float) {
        return shape(float, &format!("{float:.16e}"), String::new());
    }
    shape(float, &format!("{float:e}"), float.to_string())
}

/// The same after rounding to 32 bits, as the library does it for keys.
#[expect(clippy::cast_possible_truncation, reason = "rounding is what is asked for")]
pub fn shortest_single(float: f64) -> String {
    let single = float as f32;
    if is_halfway_single(single) {
        return shape(single.into(), &format!("{single:.7e}"), String::new());
    }
    shape(single.into(), &format!("{single:e}"), single.to_string())
}

/// Whether two numbers of as few digits as possible are as near to a float. Then Go takes the even one, and so does Rust
/// when it is asked for one digit after the point; otherwise it takes the higher one.
///
/// That is so where floats are a quarter apart: a tenth is near enough to each, and two tenths are as near to some.
pub fn is_halfway(float: f64) -> bool {
    const FROM: f64 = 1_125_899_906_842_624.0;
    (FROM..2.0 * FROM).contains(&float.abs()) && matches!(float.fract().abs(), 0.25 | 0.75)
}

/// The same of floats of 32 bits.
pub fn is_halfway_single(float: f32) -> bool {
    const FROM: f32 = 2_097_152.0;
    (FROM..2.0 * FROM).contains(&float.abs()) && matches!(float.fract().abs(), 0.25 | 0.75)
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
    fn of_two_that_are_as_near_the_even_one_is_taken() {
        let whole = 1_125_899_906_842_624.0;
        assert_eq!(shortest(whole + 0.25), "1.1258999068426242e+15");
        assert_eq!(shortest(whole + 0.75), "1.1258999068426248e+15");
        assert_eq!(shortest_single(-2_570_223.25), "-2.5702232e+06");
    }

    #[test]
    fn a_key_is_rounded() {
        assert_eq!(shortest_single(0.1), "0.1");
        assert_eq!(shortest_single(16_777_217.0), "1.6777216e+07");
    }
}
