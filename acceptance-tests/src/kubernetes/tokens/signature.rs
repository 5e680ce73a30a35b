//! The presigned request inside an EKS token: its form, its age, and AWS's signature version 4 over it.
//!
//! Written from AWS's description, apart from the provider's own signing, so that the two check each other.

use crate::http::{decode, encode};
use sha2::{Digest, Sha256};
use std::{collections::BTreeMap, fmt::Write, time::Duration};

/// The header that carries the cluster's name; it is signed and not sent.
const CLUSTER_HEADER: &str = "x-k8s-aws-id";
/// The longest that AWS lets a presigned STS request say it is good for.
const MOST_EXPIRES: u64 = 900;
/// How far ahead a client's clock may be.
const SKEW: Duration = Duration::from_mins(5);

/// A secret access key.
pub(super) struct Secret<'s>(pub(super) &'s str);

/// A presigned URL taken apart.
#[derive(Debug)]
pub(super) struct Presigned {
    scheme: String,
    host: String,
    path: String,
    query: BTreeMap<String, String>,
}

impl Presigned {
    pub(super) fn parse(url: &str) -> Result<Self, String> {
        let (scheme, rest) = url.split_once("://").ok_or("not a URL")?;
        let (place, query) = rest.split_once('?').ok_or("a URL without a query")?;
        let (host, path) = place.split_once('/').unwrap_or((place, ""));
        let mut pairs = BTreeMap::new();
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if pairs.insert(decode(name), decode(value)).is_some() {
                return Err(format!("{name} comes twice"));
            }
        }
        Ok(Self { scheme: scheme.to_owned(), host: host.to_owned(), path: format!("/{path}"), query: pairs })
    }

    fn value(&self, name: &str) -> Result<&str, String> {
        self.query.get(name).map(String::as_str).ok_or_else(|| format!("{name} is missing"))
    }

    /// Only `GetCallerIdentity` of STS, or of the emulator on loopback, with the two signed headers.
    pub(super) fn check_form(&self) -> Result<(), String> {
        let sts = self.scheme == "https" && self.host.starts_with("sts.") && self.host.contains(".amazonaws.com");
        if !sts && !self.host.starts_with("127.0.0.1:") {
            return Err(format!("{} is not STS", self.host));
        }
        let known = |name: &str| matches!(name, "Action" | "Version") || name.starts_with("X-Amz-");
        if let Some(name) = self.query.keys().find(|name| !known(name)) {
            return Err(format!("{name} does not belong into a token"));
        }
        for (name, wanted) in [("Action", "GetCallerIdentity"), ("X-Amz-Algorithm", "AWS4-HMAC-SHA256")] {
            if self.value(name)? != wanted {
                return Err(format!("{name} is not {wanted}"));
            }
        }
        let signed: Vec<_> = self.value("X-Amz-SignedHeaders")?.split(';').collect();
        match signed.as_slice() {
            ["host", CLUSTER_HEADER] if self.path == "/" => Ok(()),
            ["host", CLUSTER_HEADER] => Err(format!("{} is no path of STS", self.path)),
            _ => Err(format!("the signed headers are {signed:?}, not host and {CLUSTER_HEADER}")),
        }
    }

    /// Signed not longer ago than `lifetime`; what the token says of itself must be a span that AWS allows.
    pub(super) fn check_age(&self, now: Duration, lifetime: Duration) -> Result<(), String> {
        let expires = self.value("X-Amz-Expires")?;
        if !expires.parse().is_ok_and(|seconds: u64| (1..=MOST_EXPIRES).contains(&seconds)) {
            return Err(format!("X-Amz-Expires is {expires}"));
        }
        let date = self.value("X-Amz-Date")?;
        let signed = epoch(date).ok_or_else(|| format!("X-Amz-Date is {date}"))?;
        if signed > now + SKEW {
            return Err("signed in the future".to_owned());
        }
        let age = now.saturating_sub(signed);
        if age > lifetime { Err(format!("signed {} s ago", age.as_secs())) } else { Ok(()) }
    }

    pub(super) fn access_key(&self) -> Result<String, String> {
        Ok(self.scope()?.0)
    }

    /// Access key, and the scope that the key was derived for.
    fn scope(&self) -> Result<(String, [String; 3]), String> {
        let credential = self.value("X-Amz-Credential")?;
        let parts: Vec<_> = credential.split('/').collect();
        match parts.as_slice() {
            [key, date, region, service, "aws4_request"] => {
                Ok(((*key).to_owned(), [date, region, service].map(|&part| part.to_owned())))
            }
            _ => Err(format!("X-Amz-Credential is {credential}")),
        }
    }

    /// Whether the signature is that of this secret over the request with this cluster's name as header.
    pub(super) fn check_signature(&self, secret: &Secret<'_>, cluster: &str) -> Result<(), String> {
        let signature = self.sign(secret, cluster)?;
        if self.value("X-Amz-Signature")? == signature {
            return Ok(());
        }
        Err(format!("the signature is not that of the key for cluster \"{cluster}\""))
    }

    fn sign(&self, Secret(secret): &Secret<'_>, cluster: &str) -> Result<String, String> {
        let (_, scope) = self.scope()?;
        let canonical = hex(&Sha256::digest(self.canonical(cluster)));
        let text =
            format!("AWS4-HMAC-SHA256\n{}\n{}/aws4_request\n{canonical}", self.value("X-Amz-Date")?, scope.join("/"));
        let start = format!("AWS4{secret}").into_bytes();
        let steps = scope.iter().map(String::as_str).chain(["aws4_request"]);
        let key = steps.fold(start, |key, step| hmac(&key, step.as_bytes()));
        Ok(hex(&hmac(&key, text.as_bytes())))
    }

    /// Method, path, sorted query, headers, their names, hash of the empty body.
    fn canonical(&self, cluster: &str) -> String {
        let signed = self.query.iter().filter(|(name, _)| *name != "X-Amz-Signature");
        let mut pairs: Vec<_> = signed.map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
        pairs.sort();
        let headers = format!("host:{}\n{CLUSTER_HEADER}:{cluster}\n", self.host);
        let names = format!("host;{CLUSTER_HEADER}");
        format!("GET\n{}\n{}\n{headers}\n{names}\n{}", self.path, pairs.join("&"), hex(&Sha256::digest(b"")))
    }
}

fn hmac(key: &[u8], text: &[u8]) -> Vec<u8> {
    const BLOCK: usize = 64;
    let mut padded = if key.len() > BLOCK { Sha256::digest(key).to_vec() } else { key.to_vec() };
    padded.resize(BLOCK, 0);
    let with = |mask: u8| padded.iter().map(|byte| byte ^ mask).collect::<Vec<_>>();
    let inner = Sha256::new().chain_update(with(0x36)).chain_update(text).finalize();
    Sha256::new().chain_update(with(0x5c)).chain_update(inner).finalize().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Seconds since 1970 of "20260131T235959Z".
fn epoch(date: &str) -> Option<Duration> {
    let (day, time) = date.strip_suffix('Z')?.split_once('T')?;
    let number = |text: &str, from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let (year, month, dom) = (number(day, 0, 4)?, number(day, 4, 6)?, number(day, 6, 8)?);
    let (hour, minute, second) = (number(time, 0, 2)?, number(time, 2, 4)?, number(time, 4, 6)?);
    if day.len() != 8 || time.len() != 6 || year < 1970 || !(1..=12).contains(&month) || dom == 0 {
        return None;
    }
    // Years begin in March here, so that the leap day is their last.
    let (shifted, years) = if month > 2 { (month - 3, year) } else { (month + 9, year - 1) };
    let leap_days = years / 4 - years / 100 + years / 400;
    let days = years * 365 + leap_days + (153 * shifted + 2) / 5 + dom - 1;
    // The first of March of the year 0 lies 719,468 days before 1970.
    Some(Duration::from_secs(((days - 719_468) * 24 + hour) * 3600 + minute * 60 + second))
}

/// "20260131T235959Z" of seconds since 1970.
fn date(time: Duration) -> String {
    let (days, rest) = (time.as_secs() / 86_400 + 719_468, time.as_secs() % 86_400);
    // Cycles of 400 years have 146,097 days; within one, take out the leap days, then split into years and months.
    let (cycle, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let shifted = (5 * day + 2) / 153;
    let (dom, month) = (day - (153 * shifted + 2) / 5 + 1, if shifted < 10 { shifted + 3 } else { shifted - 9 });
    let year = cycle * 400 + year + u64::from(month <= 2);
    format!("{year:04}{month:02}{dom:02}T{:02}{:02}{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// The URL of a token as a good client signs it.
pub(super) fn presign(cluster: &str, signed: Duration, secret: &Secret<'_>) -> Result<String, String> {
    let date = date(signed);
    let day = date.split('T').next().unwrap_or_default();
    let url = format!(
        "https://sts.us-east-1.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15\
         &X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=test%2F{day}%2Fus-east-1%2Fsts%2Faws4_request\
         &X-Amz-Date={date}&X-Amz-Expires=60&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id"
    );
    let signature = Presigned::parse(&url)?.sign(secret, cluster)?;
    Ok(format!("{url}&X-Amz-Signature={signature}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signing_key_is_the_one_that_aws_documents() {
        let start = b"AWS4wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".to_vec();
        let steps = ["20150830", "us-east-1", "iam", "aws4_request"];
        let key = steps.iter().fold(start, |key, step| hmac(&key, step.as_bytes()));
        assert_eq!(hex(&key), "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9");
    }

    #[test]
    fn a_url_that_botocore_signed_is_good_for_its_cluster_alone() {
        let url = "https://sts.us-east-1.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15\
                   &X-Amz-Algorithm=AWS4-HMAC-SHA256\
                   &X-Amz-Credential=test%2F20261130%2Fus-east-1%2Fsts%2Faws4_request\
                   &X-Amz-Date=20261130T081456Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id\
                   &X-Amz-Signature=3ae559a8771f62c0eb0e72dfbc4d2bc17b54e7aa5c6cffe70de38491ed94e906";
        let request = Presigned::parse(url).unwrap();
        assert_eq!(request.check_form(), Ok(()));
        assert_eq!(request.check_signature(&Secret("test"), "ml-prod"), Ok(()));
        assert!(request.check_signature(&Secret("test"), "ml-test").is_err());
        assert!(request.check_signature(&Secret("other"), "ml-prod").is_err());
    }

    #[test]
    fn dates_are_seconds_and_back() {
        for (text, seconds) in
            [("19700101T000000Z", 0), ("20000229T120000Z", 951_825_600), ("20261130T075501Z", 1_796_025_301)]
        {
            assert_eq!(epoch(text), Some(Duration::from_secs(seconds)));
            assert_eq!(date(Duration::from_secs(seconds)), text);
        }
        assert_eq!(epoch("2026-11-30T07:55:01Z"), None);
    }
}
