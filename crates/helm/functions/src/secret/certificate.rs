//! Keys and certificates.

use std::any::Any;
use std::net::IpAddr;
use std::rc::Rc;

use fitout_go_template::{Error, Function, Host, List, Shape, Type, Value, sprint};

use crate::Environment;
use crate::argument::{int, text};
use crate::declare::Declare;
use crate::text::decode_base64;
use crate::world::{Certificate, Issuer, Request};

/// The type, as parameters and results name it.
const CERTIFICATE: Type = Type::Named("sprig.certificate");

pub(super) fn add(declare: &mut Declare<'_>, world: &Rc<dyn Environment>) {
    let here = Rc::clone(world);
    declare.plain(&["genPrivateKey"], &[Type::String], Type::String, move |arguments| {
        let bytes = text(&arguments[0]);
        let known = ["", "rsa", "dsa", "ecdsa", "ed25519"].into_iter().find(|kind| kind.as_bytes() == bytes);
        let Some(kind) = known else {
            return Value::string([b"Unknown type ", bytes].concat());
        };
        let key = here.private_key(kind);
        Value::string(key.unwrap_or_else(|reason| format!("failed to generate private key: {reason}")))
    });
    let here = Rc::clone(world);
    declare.fallible(&["buildCustomCert"], &[Type::String; 2], CERTIFICATE, move |arguments| {
        custom(&*here, text(&arguments[0]), text(&arguments[1]))
    });
    // Whether it is vouched for by itself as an authority, by itself, or by another.
    let (authority, own, other) = ([Type::String, Type::INT], HOLDER, [&HOLDER[..], &[CERTIFICATE]].concat());
    for (name, params, sort) in [
        ("genCA", &authority[..], Sort::Authority),
        ("genSelfSignedCert", &own, Sort::Own),
        ("genSignedCert", &other, Sort::Other),
    ] {
        let here = Rc::clone(world);
        declare.fallible(&[name], params, CERTIFICATE, move |arguments| issued(&*here, sort, arguments, None));
        let here = Rc::clone(world);
        let (name, params) = (format!("{name}WithKey"), [params, &[Type::String]].concat());
        declare.fallible(&[&name], &params, CERTIFICATE, move |arguments| {
            let (key, arguments) = arguments.split_last().ok_or_else(|| Error::new("there is no key"))?;
            issued(&*here, sort, arguments, Some(&String::from_utf8_lossy(text(key))))
        });
    }
}

/// Its name, its addresses, its hosts, its days.
const HOLDER: [Type; 4] = [Type::String, Type::LIST, Type::LIST, Type::INT];

#[derive(Clone, Copy)]
enum Sort {
    Authority,
    Own,
    Other,
}

fn issued(world: &dyn Environment, sort: Sort, arguments: &[Value], key: Option<&str>) -> Result<Value, Error> {
    if let Some(key) = key {
        world.check_key(key.as_bytes()).map_err(|reason| Error::new(format!("parsing private key: {reason}")))?;
    }
    let (addresses, hosts, days) = match sort {
        Sort::Authority => (Vec::new(), Vec::new(), &arguments[1]),
        Sort::Own | Sort::Other => (addresses(&arguments[1])?, hosts(&arguments[2])?, &arguments[3]),
    };
    let authority = arguments.get(4).map(given).transpose()?;
    let issuer = match (sort, &authority) {
        (Sort::Authority, _) => Issuer::Authority,
        (Sort::Other, Some(authority)) => Issuer::Other(authority),
        _ => Issuer::Own,
    };
    let name = String::from_utf8_lossy(text(&arguments[0]));
    let request = Request { name: &name, addresses: &addresses, hosts: &hosts, days: int(days), issuer, key };
    world.certificate(&request).map(to_value).map_err(Error::new)
}

/// A certificate that a template gives back.
fn given(value: &Value) -> Result<Certificate, Error> {
    let host = if let Value::Host(host) = value { host.as_any() } else { None };
    let found = host.and_then(|host| host.downcast_ref::<CertificateHost>());
    found.map(|host| host.0.clone()).ok_or_else(|| Error::new("this is no certificate"))
}

/// A certificate and its key that were made elsewhere, in base64.
fn custom(world: &dyn Environment, certificate: &[u8], key: &[u8]) -> Result<Value, Error> {
    let certificate = decode_base64(certificate).map_err(|_| Error::new("unable to decode base64 certificate"))?;
    let key = decode_base64(key).map_err(|_| Error::new("unable to decode base64 private key"))?;
    world.check_certificate(&certificate).map_err(Error::new)?;
    world.check_key(&key).map_err(|reason| Error::new(format!("error parsing private key: {reason}")))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(to_value(Certificate { certificate: text(&certificate), key: text(&key) }))
}

fn addresses(value: &Value) -> Result<Vec<String>, Error> {
    let all = texts(value, "error parsing ip")?;
    match all.iter().find(|address| address.parse::<IpAddr>().is_err()) {
        Some(wrong) => Err(Error::new(format!("error parsing ip: {wrong}"))),
        None => Ok(all),
    }
}

fn hosts(value: &Value) -> Result<Vec<String>, Error> {
    texts(value, "error processing alternate dns name")
}

/// The texts of a list that has nothing else.
fn texts(value: &Value, doing: &str) -> Result<Vec<String>, Error> {
    let empty = Rc::new(List::nil(Type::LIST));
    let list = if let Value::List(list) = value { list } else { &empty };
    let one = |item: &Value| match item {
        Value::String(text) => Ok(text.to_str().into_owned()),
        other => {
            let shown = sprint(std::slice::from_ref(other))?;
            Err(Error::new(format!("{doing}: {} is not a string", shown.to_str())))
        }
    };
    list.items().iter().map(one).collect()
}

/// `sprig.certificate`.
#[derive(Debug)]
struct CertificateHost(Certificate);

fn to_value(certificate: Certificate) -> Value {
    Value::Host(Rc::new(CertificateHost(certificate)))
}

impl Host for CertificateHost {
    fn type_name(&self) -> &'static str {
        "sprig.certificate"
    }

    fn shape(&self) -> Shape {
        let Certificate { certificate, key } = &self.0;
        Shape::Struct(vec![("Cert", Value::string(certificate.as_str())), ("Key", Value::string(key.as_str()))])
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn method(&self, _name: &[u8]) -> Option<Rc<Function>> {
        None
    }
}
