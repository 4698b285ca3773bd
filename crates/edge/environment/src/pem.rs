//! PEM encoding, as in Go.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// A PEM block.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) label: String,
    pub(crate) content: Vec<u8>,
}

/// Encodes a block.
pub(crate) fn encode(label: &str, content: &[u8]) -> String {
    let digits = BASE64_STANDARD.encode(content);
    let mut text = format!("-----BEGIN {label}-----\n");
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && at % 64 == 0 {
            text.push('\n');
        }
        text.push(digit);
    }
    text + &format!("\n-----END {label}-----\n")
}

/// Decodes the first block of a text, if it has one.
pub(crate) fn decode(text: &[u8]) -> Option<Block> {
    let text = str::from_utf8(text).ok()?;
    let mut rest = text;
    loop {
        let begin = rest.find("-----BEGIN ")?;
        let starts_line = begin == 0 || rest[..begin].ends_with('\n');
        rest = &rest[begin + "-----BEGIN ".len()..];
        if let Some(block) = starts_line.then(|| block(rest)).flatten() {
            return Some(block);
        }
    }
}

fn block(text: &str) -> Option<Block> {
    let (label, rest) = text.split_once("-----")?;
    let (body, _) = rest.split_once(&format!("\n-----END {label}-----"))?;
    // Lines with a colon are headers.
    let lines = body.lines().filter(|line| !line.contains(':')).flat_map(str::chars);
    let digits: String = lines.filter(|char| !char.is_ascii_whitespace()).collect();
    Some(Block { label: label.to_owned(), content: BASE64_STANDARD.decode(digits).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_block_is_decoded() {
        for length in [0_u8, 1, 47, 48, 49, 200] {
            let content: Vec<u8> = (0..length).collect();
            let text = format!("before\n{}after", encode("A B", &content));
            let block = decode(text.as_bytes()).unwrap();
            assert_eq!((block.label.as_str(), block.content), ("A B", content));
        }
        assert!(decode(b"x -----BEGIN A-----\n\n-----END A-----\n").is_none());
        assert!(decode(b"-----BEGIN A-----\n!\n-----END A-----\n").is_none());
    }
}
