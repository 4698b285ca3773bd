//! Passwords: hashed, and derived from a master password.

use std::rc::Rc;

use fitout_go_template::{Type, Unsigned, Value};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::Environment;
use crate::argument::text;
use crate::declare::Declare;

pub(super) fn add(declare: &mut Declare<'_>, world: &Rc<dyn Environment>) {
    let here = Rc::clone(world);
    declare.plain(&["bcrypt"], &[Type::String], Type::String, move |arguments| {
        Value::string(hashed(&*here, text(&arguments[0])))
    });
    let here = Rc::clone(world);
    declare.plain(&["htpasswd"], &[Type::String, Type::String], Type::String, move |arguments| {
        let (user, password) = (text(&arguments[0]), text(&arguments[1]));
        if user.contains(&b':') {
            return Value::string([b"invalid username: ".as_slice(), user].concat());
        }
        Value::string([user, b":".as_slice(), hashed(&*here, password).as_bytes()].concat())
    });
    let params = [Type::Uint(Unsigned::Uint32), Type::String, Type::String, Type::String, Type::String];
    declare.plain(&["derivePassword"], &params, Type::String, |arguments| {
        let counter = if let Value::Uint(_, counter) = &arguments[0] { *counter } else { 0 };
        let [kind, password, user, site] = [1, 2, 3, 4].map(|at| text(&arguments[at]));
        let Some(templates) = templates(kind) else {
            return Value::string([b"cannot find password template ".as_slice(), kind].concat());
        };
        let seed = seed(u32::try_from(counter).unwrap_or_default(), password, user, site);
        Value::string(seed.map_or_else(
            |reason| format!("failed to derive password: {reason}").into_bytes(),
            |seed| fill_in(templates[usize::from(seed[0]) % templates.len()], &seed[1..]),
        ))
    });
}

fn hashed(world: &dyn Environment, password: &[u8]) -> String {
    world.bcrypt(password).unwrap_or_else(|reason| format!("failed to encrypt string with bcrypt: {reason}"))
}

/// What the algorithm calls itself in all that it hashes.
const SALT: &[u8] = b"com.lyndir.masterpassword";

/// How the passwords of a kind look: each letter stands for a set of characters.
fn templates(kind: &[u8]) -> Option<&'static [&'static str]> {
    Some(match kind {
        b"maximum" => &["anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno"],
        b"long" => &[
            "CvcvnoCvcvCvcv",
            "CvcvCvcvnoCvcv",
            "CvcvCvcvCvcvno",
            "CvccnoCvcvCvcv",
            "CvccCvcvnoCvcv",
            "CvccCvcvCvcvno",
            "CvcvnoCvccCvcv",
            "CvcvCvccnoCvcv",
            "CvcvCvccCvcvno",
            "CvcvnoCvcvCvcc",
            "CvcvCvcvnoCvcc",
            "CvcvCvcvCvccno",
            "CvccnoCvccCvcv",
            "CvccCvccnoCvcv",
            "CvccCvccCvcvno",
            "CvcvnoCvccCvcc",
            "CvcvCvccnoCvcc",
            "CvcvCvccCvccno",
            "CvccnoCvcvCvcc",
            "CvccCvcvnoCvcc",
            "CvccCvcvCvccno",
        ],
        b"medium" => &["CvcnoCvc", "CvcCvcno"],
        b"short" => &["Cvcn"],
        b"basic" => &["aaanaaan", "aannaaan", "aaannaaa"],
        b"pin" => &["nnnn"],
        _ => return None,
    })
}

fn characters(letter: u8) -> &'static [u8] {
    match letter {
        b'C' => b"BCDFGHJKLMNPQRSTVWXYZ",
        b'v' => b"aeiou",
        b'c' => b"bcdfghjklmnpqrstvwxyz",
        b'a' => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz",
        b'n' => b"0123456789",
        b'o' => b"@&%?,=[]_:-+*$#!'^~;()/.",
        _ => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()",
    }
}

fn fill_in(template: &str, seed: &[u8]) -> Vec<u8> {
    let choose = |(letter, seed): (u8, &u8)| {
        let from = characters(letter);
        from[usize::from(*seed) % from.len()]
    };
    template.bytes().zip(seed).map(choose).collect()
}

fn seed(counter: u32, password: &[u8], user: &[u8], site: &[u8]) -> Result<[u8; 32], String> {
    // A length that does not fit is cut, as in Go.
    #[expect(clippy::cast_possible_truncation, reason = "as Go's conversion")]
    let length = |text: &[u8]| (text.len() as u32).to_be_bytes();
    let salt = [SALT, &length(user), user].concat();
    // 2^15 rounds over blocks of 8, twice.
    let params = scrypt::Params::new(15, 8, 2).map_err(|error| error.to_string())?;
    let mut key = [0; 64];
    scrypt::scrypt(password, &salt, &params, &mut key).map_err(|error| error.to_string())?;
    let mut sum = Hmac::<Sha256>::new_from_slice(&key).map_err(|error| error.to_string())?;
    for part in [SALT, &length(site), site, &counter.to_be_bytes()] {
        sum.update(part);
    }
    Ok(sum.finalize().into_bytes().into())
}
