//! Where a model's weights come from, as users write it.
//!
//! | Form | Meaning |
//! |---|---|
//! | `hf://organisation/name[@revision]` | a repository on the Hugging Face Hub; the revision is a branch, tag or commit |
//! | `s3://bucket[/prefix]` | the objects under a prefix |
//! | `pvc://claim[/path]` | a folder on a volume |
//!
//! Not a check that it exists. Complaints never repeat what stands before a foreign address's
//! path, since people paste addresses with tokens in them.

use std::fmt;

/// What kind of place it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scheme {
    /// A repository on the Hugging Face Hub.
    HuggingFace,
    /// An S3 bucket.
    S3,
    /// A PersistentVolumeClaim in the workload's namespace.
    VolumeClaim,
}

/// A parsed model address. Displays as the address it was read from, without trailing slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelUri {
    /// The kind of place.
    pub scheme: Scheme,
    /// The repository (`organisation/name`), the bucket or the claim.
    pub location: String,
    /// The prefix or folder inside it, without slashes at its ends; empty: all of it.
    pub path: String,
    /// Branch, tag or commit of a repository.
    pub revision: Option<String>,
}

/// Reads a model address. The error is a sentence for users.
pub fn parse_model_uri(uri: &str) -> Result<ModelUri, String> {
    if uri.is_empty() {
        return Err(format!("A model address is empty. {FORMS}"));
    }
    let Some((scheme, rest)) = uri.split_once("://") else {
        return Err(format!("A model address must begin with its scheme. {FORMS}"));
    };
    if let Some(letter) = rest.chars().find(|letter| letter.is_whitespace() || letter.is_control()) {
        return Err(format!("A model address cannot contain {letter:?}."));
    }
    match scheme {
        "hf" => parse_repository(rest),
        "s3" => parse_bucket(rest),
        "pvc" => parse_claim(rest),
        "http" | "https" => Err(format!(
            "A model address cannot begin with \"{scheme}://\". A page of the Hugging Face Hub is \
             written hf://organisation/name, an object in S3 s3://bucket/prefix."
        )),
        _ => Err(format!("Scheme {scheme:?} of a model address is not known. {FORMS}")),
    }
}

const FORMS: &str = "Write hf://organisation/name[@revision], s3://bucket/prefix or pvc://claim/path.";

// === impl Scheme ===

impl Scheme {
    /// The word before `://`.
    pub fn name(self) -> &'static str {
        match self {
            Self::HuggingFace => "hf",
            Self::S3 => "s3",
            Self::VolumeClaim => "pvc",
        }
    }
}

// === impl ModelUri ===

impl fmt::Display for ModelUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.name(), self.location)?;
        if !self.path.is_empty() {
            write!(f, "/{}", self.path)?;
        }
        match &self.revision {
            Some(revision) => write!(f, "@{revision}"),
            None => Ok(()),
        }
    }
}

fn parse_repository(rest: &str) -> Result<ModelUri, String> {
    let (repository, revision) = match rest.split_once('@') {
        Some((repository, revision)) => (repository, Some(check_revision(revision)?)),
        None => (rest, None),
    };
    let repository = repository.strip_suffix('/').unwrap_or(repository);
    let Some((organisation, name)) = repository.split_once('/') else {
        return Err(format!("Repository {repository:?} has no organisation. Write hf://organisation/name."));
    };
    if name.contains('/') {
        return Err(format!(
            "Repository {repository:?} has more than organisation and name. A file or folder in a \
             repository cannot be chosen, and a revision is written after \"@\"."
        ));
    }
    check_hub_name("Organisation", organisation)?;
    check_hub_name("Repository name", name)?;
    Ok(ModelUri {
        scheme: Scheme::HuggingFace,
        location: repository.to_owned(),
        path: String::new(),
        revision: revision.map(str::to_owned),
    })
}

/// The Hub's rule for names: letters, digits and `-`, `_`, `.`, these neither outside nor doubled.
fn check_hub_name(what: &str, name: &str) -> Result<(), String> {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let fault = if name.is_empty() {
        "is empty"
    } else if name.len() > 96 {
        "is longer than 96 characters"
    } else if !name.chars().all(allowed) {
        "may have only letters, digits, \"-\", \"_\" and \".\""
    } else if name.starts_with(['-', '.']) || name.ends_with(['-', '.']) {
        "cannot begin or end with \"-\" or \".\""
    } else if name.contains("--") || name.contains("..") {
        "cannot contain \"--\" or \"..\""
    } else {
        return Ok(());
    };
    Err(format!("{what} {name:?} in a model address {fault}."))
}

/// Git's rule for names, as far as a slip would break it.
fn check_revision(revision: &str) -> Result<&str, String> {
    let fault = if revision.is_empty() {
        "is empty: leave out the \"@\" for the default branch"
    } else if revision.contains('@') {
        "cannot contain \"@\""
    } else if revision.contains("..") || revision.contains("//") {
        "cannot contain \"..\" or \"//\""
    } else if revision.starts_with(['/', '-', '.']) || revision.ends_with(['/', '.']) {
        "cannot begin with \"/\", \"-\" or \".\", nor end with \"/\" or \".\""
    } else if revision.contains(['~', '^', ':', '?', '*', '[', '\\', '#']) {
        "has a character that no branch, tag or commit has"
    } else {
        return Ok(revision);
    };
    Err(format!("Revision {revision:?} of a model address {fault}."))
}

fn parse_bucket(rest: &str) -> Result<ModelUri, String> {
    let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    check_bucket(bucket)?;
    Ok(ModelUri {
        scheme: Scheme::S3,
        location: bucket.to_owned(),
        path: check_path("Prefix", prefix)?.to_owned(),
        revision: None,
    })
}

fn check_bucket(bucket: &str) -> Result<(), String> {
    let allowed = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let fault = if bucket.is_empty() {
        "is empty"
    } else if !(3..=63).contains(&bucket.len()) {
        "must have 3 to 63 characters"
    } else if !bucket.chars().all(|letter| allowed(letter) || ".-".contains(letter)) {
        "may have only lower-case letters, digits, \"-\" and \".\""
    } else if !bucket.starts_with(allowed) || !bucket.ends_with(allowed) || bucket.contains("..") {
        "must begin and end with a letter or digit and cannot contain \"..\""
    } else if bucket.parse::<std::net::Ipv4Addr>().is_ok() {
        "cannot be an IP address"
    } else {
        return Ok(());
    };
    Err(format!("Bucket {bucket:?} in a model address {fault}."))
}

fn parse_claim(rest: &str) -> Result<ModelUri, String> {
    let (claim, path) = rest.split_once('/').unwrap_or((rest, ""));
    check_claim(claim)?;
    Ok(ModelUri {
        scheme: Scheme::VolumeClaim,
        location: claim.to_owned(),
        path: check_path("Path", path)?.to_owned(),
        revision: None,
    })
}

/// Kubernetes' rule for object names: a DNS subdomain.
fn check_claim(claim: &str) -> Result<(), String> {
    let allowed = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let is_label = |label: &str| {
        label.starts_with(allowed)
            && label.ends_with(allowed)
            && label.chars().all(|letter| allowed(letter) || letter == '-')
    };
    let fault = if claim.is_empty() {
        "is empty"
    } else if claim.len() > 253 {
        "is longer than 253 characters"
    } else if !claim.split('.').all(is_label) {
        "may have only lower-case letters, digits, \"-\" and \".\", and must begin and end with a \
         letter or digit"
    } else {
        return Ok(());
    };
    Err(format!("Claim {claim:?} in a model address {fault}."))
}

/// A path without slashes at its ends, refused where a part is empty or leads upwards.
fn check_path<'a>(what: &str, path: &'a str) -> Result<&'a str, String> {
    let path = path.strip_suffix('/').unwrap_or(path);
    if path.is_empty() {
        return Ok(path);
    }
    match path.split('/').find(|part| matches!(*part, "" | "." | "..")) {
        Some("") => Err(format!("{what} {path:?} of a model address cannot contain \"//\" or begin with \"/\".")),
        Some(part) => Err(format!("{what} {path:?} of a model address cannot contain {part:?}.")),
        None => Ok(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(uri: &str, location: &str, path: &str, revision: Option<&str>) {
        let parsed = parse_model_uri(uri).expect(uri);
        assert_eq!(parsed.location, location, "{uri}");
        assert_eq!(parsed.path, path, "{uri}");
        assert_eq!(parsed.revision.as_deref(), revision, "{uri}");
        assert_eq!(parse_model_uri(&parsed.to_string()), Ok(parsed), "{uri}");
    }

    fn refused(uri: &str) -> String {
        parse_model_uri(uri).expect_err(uri)
    }

    #[test]
    fn a_repository_may_have_a_revision() {
        check("hf://Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-7B-Instruct", "", None);
        check("hf://org/name@main", "org/name", "", Some("main"));
        check("hf://org/name@refs/pr/1", "org/name", "", Some("refs/pr/1"));
        check("hf://org/name/", "org/name", "", None);
        let parsed = parse_model_uri("hf://org/name@v1").expect("valid");
        assert_eq!(parsed.scheme, Scheme::HuggingFace);
        assert_eq!(parsed.to_string(), "hf://org/name@v1");
    }

    #[test]
    fn a_bucket_may_have_a_prefix() {
        check("s3://acme-ml-models/models/qwen/", "acme-ml-models", "models/qwen", None);
        check("s3://acme-ml-models", "acme-ml-models", "", None);
        check("s3://acme-ml-models/", "acme-ml-models", "", None);
        check("s3://acme.ml/a@b", "acme.ml", "a@b", None);
    }

    #[test]
    fn a_claim_may_have_a_path() {
        check("pvc://weights/models/qwen", "weights", "models/qwen", None);
        check("pvc://weights", "weights", "", None);
        let parsed = parse_model_uri("pvc://weights/a/").expect("valid");
        assert_eq!(parsed.scheme, Scheme::VolumeClaim);
        assert_eq!(parsed.to_string(), "pvc://weights/a");
    }

    #[test]
    fn a_missing_or_foreign_scheme_is_answered_with_the_forms() {
        for uri in ["", "Qwen/Qwen2.5-7B", "gs://bucket/x", "HF://org/name", "/models"] {
            assert!(refused(uri).contains("hf://organisation/name"), "{uri}");
        }
    }

    #[test]
    fn a_pasted_address_with_a_token_is_not_repeated() {
        for uri in ["https://user:hf_secret@huggingface.co/org/name", "git://hf_secret@host/x"] {
            assert!(!refused(uri).contains("hf_secret"), "{uri}");
        }
    }

    #[test]
    fn a_repository_is_refused_with_its_fault() {
        assert!(refused("hf://gpt2").contains("no organisation"));
        assert!(refused("hf://org/name/file.bin").contains("more than organisation and name"));
        assert!(refused("hf:///name").contains("Organisation \"\""));
        assert!(refused("hf://org/").contains("no organisation"));
        assert!(refused("hf://org/na me").contains("' '"));
        assert!(refused("hf://org/a--b").contains("\"--\""));
        assert!(refused("hf://org/-a").contains("begin or end"));
        assert!(refused("hf://org/näme").contains("only letters"));
        assert!(refused(&format!("hf://org/{}", "a".repeat(97))).contains("96"));
        assert!(refused("hf://org/name@").contains("leave out"));
        assert!(refused("hf://org/name@a..b").contains("\"..\""));
        assert!(refused("hf://org/name@a^b").contains("no branch, tag or commit"));
    }

    #[test]
    fn a_bucket_is_refused_with_its_fault() {
        assert!(refused("s3://").contains("is empty"));
        assert!(refused("s3://ab/x").contains("3 to 63"));
        assert!(refused("s3://Acme/x").contains("lower-case"));
        assert!(refused("s3://-acme/x").contains("begin and end"));
        assert!(refused("s3://10.0.0.1/x").contains("IP address"));
        assert!(refused("s3://acme//x").contains("//"));
        assert!(refused("s3://acme/a//b").contains("//"));
    }

    #[test]
    fn a_claim_is_refused_with_its_fault() {
        assert!(refused("pvc:///path").contains("is empty"));
        assert!(refused("pvc://Weights/x").contains("lower-case"));
        assert!(refused("pvc://weights/../secret").contains("\"..\""));
        assert!(refused("pvc://weights/./a").contains("\".\""));
        assert!(refused(&format!("pvc://{}", "a".repeat(254))).contains("253"));
    }
}
