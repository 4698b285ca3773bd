//! Questions on a terminal.

use std::io::{BufRead, Write};

use crate::failure::Failure;

/// Asks for a text until it is accepted. An empty answer is the default, if there is one.
pub(crate) fn ask<T>(
    input: &mut impl BufRead,
    output: &mut impl Write,
    question: &str,
    default: &str,
    accept: impl Fn(&str) -> Result<T, String>,
) -> Result<T, Failure> {
    let failed = |error: std::io::Error| Failure::new(format!("cannot ask: {error}"));
    loop {
        let shown = if default.is_empty() { String::new() } else { format!(" [{default}]") };
        write!(output, "{question}{shown}: ").and_then(|()| output.flush()).map_err(failed)?;
        let mut line = String::new();
        if input.read_line(&mut line).map_err(failed)? == 0 {
            return Err(Failure::new("the input ended before all questions were answered"));
        }
        let answer = Some(line.trim()).filter(|answer| !answer.is_empty()).unwrap_or(default);
        match accept(answer) {
            Ok(accepted) => return Ok(accepted),
            Err(reason) => writeln!(output, "  {reason}").map_err(failed)?,
        }
    }
}

/// Accepts every text that is not empty.
pub(crate) fn any_text(text: &str) -> Result<String, String> {
    if text.is_empty() { Err("an answer is needed".to_owned()) } else { Ok(text.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_answer_is_asked_for_again_and_an_empty_one_is_the_default() {
        let number = |text: &str| text.parse::<u32>().map_err(|_| format!("{text:?} is not a number"));
        let (mut input, mut output) = (&b"one\n\n"[..], Vec::new());
        assert_eq!(ask(&mut input, &mut output, "How many", "2", number).unwrap(), 2);
        assert_eq!(String::from_utf8(output).unwrap(), "How many [2]:   \"one\" is not a number\nHow many [2]: ");
        let mut ended = &b""[..];
        assert!(ask(&mut ended, &mut Vec::new(), "How many", "", number).is_err());
    }
}
