//! What to do next with one object, from what is wanted, what was applied and what is there. Pure.

use std::collections::BTreeSet;

use crate::{
    AnyChanges, Difference, Document, Fault, FaultClass, Found, KindFacts, Owner, Ownership, Readiness,
    compare::{differences, field_of, is_fixed, removed_keys},
    driver::NO_MARK,
};

/// All that the decision depends on.
pub(crate) struct Case<'a> {
    pub(crate) facts: &'a KindFacts,
    /// The object in words.
    pub(crate) object: &'a str,
    pub(crate) owner: &'a Owner,
    /// What we last applied; none where we have no record of the object.
    pub(crate) applied: Option<&'a Document>,
    pub(crate) wanted: &'a Document,
    pub(crate) found: Option<&'a Found>,
    /// Another object of ours stands in the other slot.
    pub(crate) has_other: bool,
    /// Nothing needs it and it holds no data.
    pub(crate) is_disposable: bool,
    /// This run has written it, or has watched whether it stays broken.
    pub(crate) is_tried: bool,
    /// What the last update of this run was to change.
    pub(crate) tried: &'a BTreeSet<String>,
}

/// What to do next.
#[derive(Debug)]
pub(crate) enum Deed {
    /// Nothing but to wait until it can be used.
    Settle,
    /// See whether it stays broken: what broke it may have been put right outside of it, moments ago.
    Outlast,
    Create,
    Update(Update),
    /// Delete it and make it again in its place.
    Replace,
    /// Make a second one in the other slot.
    Roll,
}

/// An update, and what it is to cure.
#[derive(Debug)]
pub(crate) struct Update {
    pub(crate) changes: AnyChanges,
    pub(crate) cures: BTreeSet<String>,
}

/// Somebody else, as far as an object tells.
#[derive(Debug)]
pub(crate) struct Stranger {
    /// Continues a sentence that begins with the object.
    pub(crate) whose: String,
    /// How to take the object over; empty where that cannot be said.
    advice: &'static str,
}

pub(crate) fn decide(case: &Case<'_>) -> Result<Deed, Fault> {
    let Some(found) = case.found else { return Ok(Deed::Create) };
    refuse_foreign(case, found)?;
    let nothing = Document::new();
    let differences = differences(case.facts, case.applied.unwrap_or(&nothing), case.wanted, &found.document);
    let fixed = differences.iter().find(|difference| is_fixed(case.facts, field_of(difference)));
    let broken = matches!(found.readiness, Readiness::Broken { .. });
    if case.is_tried && broken {
        return Err(is_broken(case, &found.readiness));
    }
    if fixed.is_some() || (broken && !case.facts.mends) {
        if let Some(deed) = renewal(case, broken) {
            return Ok(deed);
        }
        if let Some(difference) = fixed {
            return Err(cannot_change(case, difference));
        }
    }
    Ok(match update(case, found, &differences) {
        Some(update) => Deed::Update(update),
        None if broken => Deed::Outlast,
        None => Deed::Settle,
    })
}

/// Whose an object is, if it is not ours. Without a record, an object that carries no mark is a stranger's.
pub(crate) fn stranger(owner: &Owner, is_recorded: bool, ownership: &Ownership) -> Option<Stranger> {
    let of = |whose: String, advice| Some(Stranger { whose, advice });
    match ownership {
        Ownership::Inherited | Ownership::Adoptable => None,
        Ownership::Marked(mark) if mark == owner => None,
        Ownership::Marked(mark) => of(format!("belongs to {mark}"), ""),
        Ownership::Unmarked | Ownership::Claimable { .. } if is_recorded => None,
        Ownership::Unmarked => of(NO_MARK.to_owned(), ""),
        Ownership::Claimable { .. } => ownership.claimable().and_then(|(whose, advice)| of(whose, advice)),
    }
}

/// The fault of finding a stranger's object.
pub(crate) fn foreign(object: &str, stranger: &Stranger) -> Fault {
    let advice = format!("Import the resource that it is part of, or choose another name. {}", stranger.advice);
    Fault::new(FaultClass::Foreign, object, format!("{object} is there already and {}", stranger.whose))
        .advise(advice.trim_end())
}

fn refuse_foreign(case: &Case<'_>, found: &Found) -> Result<(), Fault> {
    match stranger(case.owner, case.applied.is_some(), &found.ownership) {
        Some(whose) => Err(foreign(case.object, &whose)),
        None => Ok(()),
    }
}

// A broken object gives way where its other slot is taken: what stands there may still be in use.
fn renewal(case: &Case<'_>, is_broken: bool) -> Option<Deed> {
    match () {
        () if case.facts.slots && is_broken && case.has_other => Some(Deed::Replace),
        () if case.facts.slots => Some(Deed::Roll),
        () if case.is_disposable => Some(Deed::Replace),
        () => None,
    }
}

fn update(case: &Case<'_>, found: &Found, differences: &[Difference]) -> Option<Update> {
    let owner_missing = found.ownership.is_unmarked();
    let mut cures: BTreeSet<_> = differences.iter().map(|difference| difference.field.clone()).collect();
    if owner_missing {
        cures.insert(String::new());
    }
    // The same difference again right after it was written is a server that spells it differently, or an
    // observation that lags behind. The next plan tells; writing again would not end.
    if cures.is_empty() || cures == *case.tried {
        return None;
    }
    let nothing = Document::new();
    let applied = case.applied.unwrap_or(&nothing);
    let changes = AnyChanges {
        owner: case.owner.clone(),
        fields: differences.iter().map(|difference| field_of(difference).to_owned()).collect(),
        removed_keys: removed_keys(case.facts, applied, case.wanted, &found.document),
        owner_missing,
        applied: case.applied.cloned(),
    };
    Some(Update { changes, cures })
}

fn cannot_change(case: &Case<'_>, difference: &Difference) -> Fault {
    let object = case.object;
    let why = if case.facts.holds_data { "it holds data" } else { "other objects need it" };
    let message = format!("{difference}, which cannot be changed in place, and {object} is not replaced because {why}");
    let fault = Fault::new(FaultClass::Invalid, object, message)
        .advise("Set the field back to what was found, or replace the resource with terraform apply -replace.");
    Fault { at: Some(field_of(difference).to_owned().into()), ..fault }
}

fn is_broken(case: &Case<'_>, readiness: &Readiness) -> Fault {
    let (reasons, advice) = match readiness {
        Readiness::Broken { reasons, advice } => (reasons.as_str(), advice.as_deref()),
        Readiness::Ready | Readiness::Waiting(_) => ("", None),
    };
    let fault = Fault::new(FaultClass::Broken, case.object, reasons);
    match advice {
        Some(advice) => fault.advise(format!("{advice} Then run terraform apply again.")),
        None if case.facts.mends => fault.advise("Correct the cause named above, then run terraform apply again."),
        None => fault,
    }
}
