//! Texts that are encrypted with a password.

use std::rc::Rc;

use aes::Aes256;
use aes::cipher::block_padding::{NoPadding, Pkcs7};
use aes::cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyIvInit};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use fitout_go_template::{Error, Type, Value};

use crate::Environment;
use crate::argument::text;
use crate::declare::Declare;
use crate::text::{Corrupt, decode_base64};

const BLOCK: usize = 16;

pub(super) fn add(declare: &mut Declare<'_>, world: &Rc<dyn Environment>) {
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
    let bytes =
        decode_base64(encoded).map_err(|Corrupt(at)| Error::new(format!("illegal base64 data at input byte {at}")))?;
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
