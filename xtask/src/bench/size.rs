//! The size of the binary, for the profile that is shipped.

use anyhow::Result;

use super::{Figure, Subject};

pub(super) fn measure(subject: &Subject) -> Result<Vec<Figure>> {
    #[expect(clippy::cast_precision_loss, reason = "a size in megabytes needs no more than 52 bits")]
    let megabytes = subject.provider.metadata()?.len() as f64 / 1e6;
    Ok(vec![match subject.profile.as_str() {
        "dist" => Figure::at_most("binary", megabytes, "MB", 20.0),
        profile => Figure::plain(format!("binary, profile {profile}"), format!("{megabytes:.1} MB")),
    }])
}
