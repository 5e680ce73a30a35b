//! A look at one wanted object: what counts as the object, and, for kinds that roll, what stands in the other slot.

use crate::{
    Document, Found, KindFacts, Owner, Readiness,
    compare::{differences, field_of, is_fixed},
    decide::stranger,
    object::{Object, Stop, in_slot, other_slot, slot_of},
};

/// What a look gave.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sight {
    /// The slot that counts; always the first for kinds without slots.
    pub(crate) slot: Option<String>,
    /// What is there.
    pub(crate) found: Option<Found>,
    /// What of ours is in the other slot.
    pub(crate) other: Option<Found>,
}

/// Both slots of a kind that rolls.
pub(crate) struct Slots {
    /// The slot of the record, and what is there.
    pub(crate) here: (Option<String>, Option<Found>),
    /// What is in the other one.
    pub(crate) there: Option<Found>,
    /// Whether there is a record.
    pub(crate) is_recorded: bool,
}

/// Looks at the object. The second slot is looked at only where the first leaves doubt.
pub(crate) async fn look(object: &Object<'_>, wanted: &Document) -> Result<Sight, Stop> {
    let entry = object.entry();
    let slot = entry.as_ref().and_then(|entry| slot_of(&entry.document));
    let found = object.observe(&in_slot(wanted, slot.as_deref())).await?;
    if !object.facts.slots {
        return Ok(Sight { slot: None, found, other: None });
    }
    let is_retiring = object.work.ledger().retired.contains_key(&object.key);
    let is_fit = found.as_ref().is_some_and(|found| fits(&object.facts, wanted, found));
    if entry.is_some() && is_fit && !is_retiring {
        return Ok(Sight { slot, found, other: None });
    }
    let there = object.observe(&in_slot(wanted, other_slot(slot.as_deref()).as_deref())).await?;
    let slots = Slots { here: (slot, found), there, is_recorded: entry.is_some() };
    Ok(choose(&object.facts, object.work.run.owner, wanted, slots))
}

/// Which of the two counts: the one that is as wanted, first the one of the record; else that of the record, else
/// the one that is there.
pub(crate) fn choose(facts: &KindFacts, owner: &Owner, wanted: &Document, slots: Slots) -> Sight {
    let Slots { here: (slot, here), there, is_recorded } = slots;
    let is_ours = |found: &Found, is_recorded| stranger(owner, is_recorded, &found.ownership).is_none();
    let fit = |found: &Option<Found>| found.as_ref().is_some_and(|found| fits(facts, wanted, found));
    let there = there.filter(|found| is_ours(found, false));
    let stays = fit(&here) || (!fit(&there) && (here.is_some() || there.is_none() || is_recorded));
    if stays {
        return Sight { slot, found: here, other: there };
    }
    let here = here.filter(|found| is_ours(found, is_recorded));
    Sight { slot: other_slot(slot.as_deref()), found: there, other: here }
}

// Whether an object can become what is wanted without being made again. Fields not known yet are not asked about.
fn fits(facts: &KindFacts, wanted: &Document, found: &Found) -> bool {
    let known: Document =
        wanted.iter().filter(|(_, value)| !value::is_pending(value)).map(|(k, v)| (k.clone(), v.clone())).collect();
    let nothing = Document::new();
    !matches!(found.readiness, Readiness::Broken { .. })
        && !differences(facts, &nothing, &known, &found.document).iter().any(|d| is_fixed(facts, field_of(d)))
}
