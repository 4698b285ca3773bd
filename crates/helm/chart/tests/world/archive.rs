//! Archives, from what a question says is in them.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value as Json;
use tar::{Builder, EntryType, Header};

/// The archive that a question describes: entries of a name, a kind and a text; or bytes as they are, one a character.
pub(crate) fn packed(question: &Json) -> Option<Vec<u8>> {
    if let Some(bytes) = question["bytes"].as_str() {
        return Some(bytes.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect());
    }
    let entries = question["entries"].as_array()?;
    let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for entry in entries {
        let (name, kind, text): (String, String, String) = serde_json::from_value(entry.clone()).unwrap();
        append(&mut builder, &name, &kind, &text);
    }
    let mut packed = builder.into_inner().unwrap();
    packed.flush().unwrap();
    Some(packed.finish().unwrap())
}

fn append(builder: &mut Builder<GzEncoder<Vec<u8>>>, name: &str, kind: &str, text: &str) {
    let mut header = Header::new_gnu();
    header.set_mode(0o644);
    header.set_entry_type(match kind {
        "dir" => EntryType::Directory,
        "symlink" => EntryType::Symlink,
        "link" => EntryType::Link,
        "fifo" => EntryType::Fifo,
        "char" => EntryType::Char,
        "global" => EntryType::XGlobalHeader,
        "old" => EntryType::new(0),
        _ => EntryType::Regular,
    });
    if kind == "dirmode" {
        header.set_mode(0o040_755);
    }
    // Where a name is one that the library would not write.
    let place = &mut header.as_mut_bytes()[..100];
    place[..name.len()].copy_from_slice(name.as_bytes());
    if kind == "symlink" || kind == "link" {
        header.as_mut_bytes()[157..157 + text.len()].copy_from_slice(text.as_bytes());
        header.set_size(0);
        header.set_cksum();
        builder.append(&header, &b""[..]).unwrap();
        return;
    }
    header.set_size(text.len() as u64);
    header.set_cksum();
    builder.append(&header, text.as_bytes()).unwrap();
}

/// Bytes as letters.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let letter = LETTERS[(group >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= chunk.len() { letter.into() } else { '=' });
        }
    }
    text
}
