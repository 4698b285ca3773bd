//! A chart of an OCI registry.
//!
//! Three requests make a pull: for the manifest, for the archive, and before them for a token if the registry wants one.

use fitout_helm_ranges::Version;
use fitout_model::Digest;
use reqwest::Url;
use reqwest::header::{ACCEPT, HeaderName, LINK, WWW_AUTHENTICATE};
use serde::Deserialize;

use crate::access::Credential;
use crate::address::{Address, Place, host, redirect, same_server, sha256, shown};
use crate::challenge::Challenge;
use crate::choice::choose;
use crate::expected::Expected;
use crate::manifest::{ACCEPTED, Manifest, Part};
use crate::web::{Answer, Ask, Web};
use crate::{Access, Cause, Fetched, Wanted};

/// What registries have to accept as a manifest, by the specification; a hundred thousand tags are smaller, and so are tokens.
const SMALL: u64 = 4 << 20;

/// So many pages of tags are read; most registries have a thousand on one.
const PAGES: usize = 100;

/// The chart that is wanted.
pub(crate) async fn fetch(web: &Web, place: &Place, wanted: &Wanted<'_>, access: &Access) -> Result<Fetched, Cause> {
    let (name, pinned) = place.chart(wanted.chart)?;
    let mut pull = Pull::new(web, &place.base, name, access)?;
    let asked = wanted.version.filter(|version| !version.is_empty());
    if let Some(digest) = pinned {
        let manifest = pull.manifest(&digest).await?;
        let version = pull.version(&manifest, asked).await?;
        return pull.archive(&manifest, &Expected::new(&version, None, wanted.digest)?).await;
    }
    let version = match asked {
        // As Helm does: what is a version is taken for the tag, and only a range is looked for.
        Some(version) if Version::parse(version).is_ok() => version.to_owned(),
        _ => choose(pull.versions().await?, asked)?,
    };
    let manifest = pull.manifest(&tag(&version)).await?;
    pull.archive(&manifest, &Expected::new(&version, None, wanted.digest)?).await
}

/// The archive at an address `oci://host/path:tag`, as indexes have them.
pub(crate) async fn follow(
    web: &Web,
    reference: &str,
    expected: &Expected<'_>,
    access: &Access,
) -> Result<Fetched, Cause> {
    let malformed = || Cause::Malformed {
        what: "the index".to_owned(),
        why: format!("it has the address {reference:?} without a version"),
    };
    let (address, version) = reference.rsplit_once(':').ok_or_else(malformed)?;
    let Address::Registry(place) = Address::parse(address)? else { return Err(malformed()) };
    if Version::parse(version).is_err() {
        return Err(malformed());
    }
    let (name, _) = place.chart("")?;
    let mut pull = Pull::new(web, &place.base, name, access)?;
    let manifest = pull.manifest(&tag(version)).await?;
    pull.archive(&manifest, expected).await
}

/// A version as a tag, which cannot have a plus.
fn tag(version: &str) -> String {
    version.replace('+', "_")
}

/// One visit to a chart in a registry.
struct Pull<'a> {
    web: &'a Web,
    base: &'a Url,
    name: String,
    access: &'a Access,
    /// What we could show.
    own: Credential,
    /// What the registry has asked to see.
    shown: Credential,
}

impl<'a> Pull<'a> {
    fn new(web: &'a Web, base: &'a Url, name: String, access: &'a Access) -> Result<Self, Cause> {
        let own = access.for_registry(&host(base), &name)?;
        Ok(Self { web, base, name, access, own, shown: Credential::None })
    }

    /// All versions that are tags.
    async fn versions(&mut self) -> Result<Vec<(Version, String)>, Cause> {
        #[derive(Deserialize)]
        struct Page {
            tags: Option<Vec<String>>,
        }
        let (mut versions, mut left) = (Vec::new(), SMALL);
        let mut url = self.url("tags/list");
        let what = shown(url.as_str());
        for _ in 0..PAGES {
            let answer = self.ask(url.clone(), &[]).await?;
            let next = answer.header(&LINK).find_map(after).and_then(|link| redirect(&url, link));
            let text = answer.bytes(left).await?;
            left -= text.len() as u64;
            let tags = json::<Page>(&what, &text)?.tags.unwrap_or_default();
            let tags = tags.into_iter().map(|tag| tag.replace('_', "+"));
            versions.extend(tags.filter_map(|tag| Some((Version::parse_strict(&tag).ok()?, tag))));
            // Nobody else has more of them.
            match next.filter(|next| same_server(next, self.base)) {
                Some(next) => url = next,
                None => return Ok(versions),
            }
        }
        Err(Cause::Malformed { what, why: format!("it has more than {PAGES} pages") })
    }

    /// The manifest of a tag or a digest.
    async fn manifest(&mut self, reference: &str) -> Result<Manifest, Cause> {
        let url = self.url(&format!("manifests/{reference}"));
        let answer = self.ask(url, &[(ACCEPT, ACCEPTED.to_owned())]).await?;
        let what = answer.what().to_owned();
        let says = answer.header(&HeaderName::from_static("docker-content-digest")).next().and_then(sha256);
        let text = answer.bytes(SMALL).await?;
        let said = if reference.contains(':') { Some(reference.to_owned()) } else { says };
        verify(&what, &text, said.as_deref())?;
        Manifest::read(&text).map_err(|why| Cause::NotAChart { what, why })
    }

    /// The version of a chart whose manifest is known by its digest, if it is one that is asked for.
    async fn version(&mut self, manifest: &Manifest, asked: Option<&str>) -> Result<String, Cause> {
        #[derive(Deserialize)]
        struct Metadata {
            version: String,
        }
        let (what, text) = self.part(&manifest.config, SMALL).await?;
        let metadata: Metadata = json(&what, &text)?;
        match Version::parse(&metadata.version) {
            Ok(version) if asked.is_some() => choose(vec![(version, metadata.version)], asked),
            Ok(_) => Ok(metadata.version),
            Err(error) => Err(Cause::Malformed { what, why: format!("version {:?}: {error}", metadata.version) }),
        }
    }

    async fn archive(&mut self, manifest: &Manifest, expected: &Expected<'_>) -> Result<Fetched, Cause> {
        expected.agree(sha256(&manifest.archive.digest).map(Digest::from).as_ref())?;
        let (what, archive) = self.part(&manifest.archive, self.web.limits.archive).await?;
        expected.check(&what, archive)
    }

    /// What a manifest names, with the digest that it says.
    async fn part(&mut self, part: &Part, limit: u64) -> Result<(String, Vec<u8>), Cause> {
        let no_digest = || Cause::NotAChart {
            what: self.name.clone(),
            why: format!("its manifest has the digest {:?}, which is no SHA-256", part.digest),
        };
        let digest = sha256(&part.digest).filter(|digest| *digest == part.digest).ok_or_else(no_digest)?;
        let url = self.url(&format!("blobs/{digest}"));
        let what = shown(url.as_str());
        if part.size > limit {
            return Err(Cause::TooLarge { what, limit });
        }
        let bytes = self.ask(url, &[]).await?.bytes(limit).await?;
        if (bytes.len() as u64) < part.size {
            return Err(Cause::Truncated { what });
        }
        verify(&what, &bytes, Some(&digest))?;
        Ok((what, bytes))
    }

    fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("/v2/{}/{path}", self.name));
        url
    }

    /// Asks the registry, and once more when it says what it wants to see.
    async fn ask(&mut self, url: Url, headers: &[(HeaderName, String)]) -> Result<Answer, Cause> {
        let answer = self.get(url.clone(), headers).await?;
        // Where a redirect led, others may ask for what they like.
        if answer.status() != 401 || !answer.from_home || !matches!(self.shown, Credential::None) {
            return answer.accepted();
        }
        self.shown = match (Challenge::read(answer.header(&WWW_AUTHENTICATE)), &self.own) {
            (Some(Challenge::Bearer { realm, service, scope }), Credential::None | Credential::Basic(..)) => {
                self.token(&realm, service, scope).await?
            }
            (None, _) | (_, Credential::None) => return answer.accepted(),
            (Some(_), own) => own.clone(),
        };
        self.get(url, headers).await?.accepted()
    }

    async fn get(&self, url: Url, headers: &[(HeaderName, String)]) -> Result<Answer, Cause> {
        let ask = Ask { url, home: self.base, access: self.access, credential: &self.shown, headers };
        self.web.get(ask).await
    }

    /// A token from the server that the registry names. It sees our credentials, as the registry could have; but not in
    /// the clear if the registry itself speaks TLS, and only the registry sees the client certificate.
    async fn token(&self, realm: &str, service: Option<String>, scope: Option<String>) -> Result<Credential, Cause> {
        #[derive(Deserialize)]
        struct Given {
            token: Option<String>,
            access_token: Option<String>,
        }
        let what = format!("the registry {}", host(self.base));
        let wrong = |why: &str| Cause::Malformed { what: what.clone(), why: why.to_owned() };
        let mut url = Url::parse(realm).map_err(|_| wrong("it names no server for tokens"))?;
        if url.scheme() != "https" && (url.scheme() != "http" || self.base.scheme() != "http") {
            return Err(wrong("it wants tokens from a server without TLS"));
        }
        let scope = scope.unwrap_or_else(|| format!("repository:{}:pull", self.name));
        url.query_pairs_mut().extend_pairs(service.map(|service| ("service", service))).append_pair("scope", &scope);
        let access = if same_server(&url, self.base) { self.access.clone() } else { self.access.elsewhere() };
        let home = url.clone();
        let ask = Ask { url, home: &home, access: &access, credential: &self.own, headers: &[] };
        let answer = self.web.get(ask).await?.accepted()?;
        let what = answer.what().to_owned();
        let given: Given = json(&what, &answer.bytes(SMALL).await?)?;
        let token = given.token.or(given.access_token).filter(|token| !token.is_empty());
        token.map(Credential::Bearer).ok_or(Cause::Malformed { what, why: "it has no token".to_owned() })
    }
}

/// Whether bytes have the digest that they are said to have.
fn verify(what: &str, bytes: &[u8], said: Option<&str>) -> Result<(), Cause> {
    let found = Digest::of(bytes);
    match said.filter(|said| *said != found.as_str()) {
        Some(said) => Err(Cause::Lying { what: what.to_owned(), said: said.to_owned(), found }),
        None => Ok(()),
    }
}

/// Reads JSON. What is wrong is said without the text, in which there may be a token.
fn json<T: for<'t> Deserialize<'t>>(what: &str, text: &[u8]) -> Result<T, Cause> {
    let why = |error: serde_json::Error| format!("it is not the JSON it should be, at line {}", error.line());
    serde_json::from_slice(text).map_err(|error| Cause::Malformed { what: what.to_owned(), why: why(error) })
}

/// The next page, of a header such as `</v2/x/tags/list?last=y>; rel="next"`.
fn after(link: &str) -> Option<&str> {
    let (target, relation) = link.strip_prefix('<')?.split_once('>')?;
    relation.contains("next").then_some(target)
}
