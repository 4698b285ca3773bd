//! Texts that are encrypted with a password.

use std::rc::Rc;

use aes::Aes256;
use aes::cipher::block_padding::{NoPadding, Pkcs7};
use aes::cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyIvInit};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use fitout_gotmpl::{Error, Type, Value};

use crate::World;
use crate::argument::text;
use crate::declare::Declare;

const BLOCK: usize = 16;

pub(super) fn add(declare: &mut Declare<'_>, world: &Rc<dyn World>) {
    let here = Rc::clone(world);
    let params = [Type::String, Type::String];
    declare.fallible(&["encryptAES"], &params, Type::String, move |arguments| {
        let (password, plain) = (text(&arguments[0]), text(&arguments[1]));
        if plain.is_empty() {
            return Ok(Value::string(""));
        }
        let mut output = vec![0; BLOCK];
        here.fill(&mut output);
        let cipher = cbc::Encryptor::<Aes256>::new_from_slices(&key(password), &output)
            .map_err(|error| Error::new(error.to_string()))?;
        output.extend(cipher.encrypt_padded_vec::<Pkcs7>(plain));
        Ok(Value::string(BASE64_STANDARD.encode(output)))
    });
    declare.fallible(&["decryptAES"], &params, Type::String, |arguments| {
        decrypt(text(&arguments[0]), text(&arguments[1])).map(Value::string)
    });
}

/// A password is cut or filled up with zeros.
fn key(password: &[u8]) -> [u8; 32] {
    let mut key = [0; 32];
    let length = password.len().min(key.len());
    key[..length].copy_from_slice(&password[..length]);
    key
}

/// What was encrypted. Go does not look at it first: what is too short or too long for it panics, in these words.
fn decrypt(password: &[u8], encoded: &[u8]) -> Result<Vec<u8>, Error> {
    if encoded.is_empty() {
        return Ok(Vec::new());
    }
    let bytes = decode(encoded).map_err(|at| Error::new(format!("illegal base64 data at input byte {at}")))?;
    let panic = |words: String| Error::new(format!("runtime error: {words}"));
    let capacity = encoded.len() / 4 * 3;
    if capacity < BLOCK {
        return Err(panic(format!("slice bounds out of range [:{BLOCK}] with capacity {capacity}")));
    }
    let Some((vector, content)) = bytes.split_at_checked(BLOCK) else {
        return Err(panic(format!("slice bounds out of range [{BLOCK}:{}]", bytes.len())));
    };
    if content.len() % BLOCK != 0 {
        return Err(Error::new("crypto/cipher: input not full blocks"));
    }
    let cipher = cbc::Decryptor::<Aes256>::new_from_slices(&key(password), vector)
        .map_err(|error| Error::new(error.to_string()))?;
    let mut plain = cipher.decrypt_padded_vec::<NoPadding>(content).map_err(|error| Error::new(error.to_string()))?;
    let Some(padding) = plain.last().map(|last| usize::from(*last)) else {
        return Err(panic("index out of range [-1]".to_owned()));
    };
    let Some(length) = plain.len().checked_sub(padding) else {
        return Err(panic(format!("slice bounds out of range [:-{}]", padding - plain.len())));
    };
    plain.truncate(length);
    Ok(plain)
}

/// `base64.StdEncoding.DecodeString`: ends of lines do not count. What is wrong, is wrong at a byte.
pub(super) fn decode(text: &[u8]) -> Result<Vec<u8>, usize> {
    let mut output = Vec::with_capacity(text.len() / 4 * 3);
    let mut quantum = Vec::with_capacity(4);
    let mut at = 0;
    let breaks = |mut at: usize| {
        while matches!(text.get(at), Some(b'\n' | b'\r')) {
            at += 1;
        }
        at
    };
    loop {
        at = breaks(at);
        let Some(byte) = text.get(at) else { break };
        if let Some(value) = value(*byte) {
            quantum.push(value);
            at += 1;
            if quantum.len() == 4 {
                output.extend_from_slice(&joined(&quantum));
                quantum.clear();
            }
            continue;
        }
        if *byte != b'=' || quantum.len() < 2 {
            return Err(at);
        }
        if quantum.len() == 2 {
            let second = breaks(at + 1);
            match text.get(second) {
                None => return Err(text.len()),
                Some(b'=') => at = second,
                Some(_) => return Err(second - 1),
            }
        }
        let end = breaks(at + 1);
        if end < text.len() {
            return Err(end);
        }
        output.extend_from_slice(&joined(&quantum)[..quantum.len() - 1]);
        return Ok(output);
    }
    if quantum.is_empty() { Ok(output) } else { Err(at - quantum.len()) }
}

fn value(byte: u8) -> Option<u32> {
    let value = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(value.into())
}

/// The bytes of up to four digits.
fn joined(digits: &[u32]) -> [u8; 3] {
    let all = (0..4).fold(0, |all, at| all << 6 | digits.get(at).copied().unwrap_or(0));
    let [_, one, two, three] = all.to_be_bytes();
    [one, two, three]
}
