//! Read: observe every child object in parallel, write back what the attributes, the components and the record say.

use std::collections::{BTreeMap, BTreeSet};

use converge::{Cx, Document, Inspection, Key, Ledger, Owner, inspect};
use tf_provider::{Block, Cty, Diagnostics, ReadRequest, StateResponse};
use value::AttributePath;

use super::{
    Ground, decode, expand, identity_of, import_id, object, owner,
    private::Private,
    report,
    schema::{self, COMPONENTS, ID},
};
use crate::composite::Composite;

/// An import finds attributes, which may tell of objects, which tell of attributes and of further objects: so many
/// times at most.
const ROUNDS: usize = 5;

pub(super) async fn read<C: Composite>(ground: &Ground, cx: &Cx, request: ReadRequest) -> StateResponse {
    let unchanged = |request: ReadRequest, diagnostics| StateResponse {
        state: request.state,
        private: request.private,
        identity: request.identity,
        diagnostics,
    };
    if ground.unknown_for::<C>(&request.state).is_some() {
        return unchanged(request, Diagnostics::new());
    }
    let reading = Reading::new::<C>(ground, cx, &request).await;
    ground.existing.note(&owner::<C>(&request.state), !matches!(reading, Ok(None)));
    match reading {
        Ok(Some(reading)) => reading.response::<C>(ground),
        Ok(None) => StateResponse {
            state: Cty::Null,
            private: Vec::new(),
            identity: request.identity,
            diagnostics: Diagnostics::new(),
        },
        Err(diagnostics) => unchanged(request, diagnostics),
    }
}

struct Reading {
    block: Block,
    written: Cty,
    defaulted: BTreeSet<AttributePath>,
    inspection: Inspection,
}

// === impl Reading ===

impl Reading {
    // None where nothing is there.
    async fn new<C: Composite>(ground: &Ground, cx: &Cx, request: &ReadRequest) -> Result<Option<Self>, Diagnostics> {
        let block = schema::schema::<C>().block;
        let private = Private::decode(&request.private, C::NOUN)?;
        let owner = owner::<C>(&request.state);
        let look = Look { ground, cx, owner: &owner };
        let reading = if let Some(ledger) = private.ledger {
            let defaulted = private.defaulted;
            let written = object::as_written(&block, &request.state, &defaulted);
            let (written, inspection) = look.with_record::<C>(&block, &written, &defaulted, &ledger).await?;
            Self { block, written, defaulted, inspection }
        } else {
            let (written, inspection) = look.without_record::<C>(&block, &request.state).await?;
            let defaulted = object::left_out(&block.attributes, &written);
            Self { block, written, defaulted, inspection }
        };
        Ok(if reading.inspection.gone { None } else { Some(reading) })
    }

    fn response<C: Composite>(self, ground: &Ground) -> StateResponse {
        let ledger = self.inspection.ledger;
        let (mut composite, _) = decode::<C>(&self.written, false);
        composite.recall(&ledger);
        let (expanded, _) = expand(&composite, &ground.settings, outputs(&ledger));
        let mut state = object::overlay(&self.block, &self.written, &expanded.encode_object());
        object::write_back(&self.block, &mut state, &self.inspection.write_backs);
        state = object::settle(&Cty::unknown(), &state);
        state.set(ID, import_id::<C>(&state).map_or(Cty::Null, Cty::from));
        state.set(COMPONENTS, schema::recorded(&ledger));
        let private = Private { ledger: Some(ledger), defaulted: self.defaulted };
        StateResponse {
            identity: identity_of::<C>(&state),
            state,
            private: private.encode(),
            diagnostics: Diagnostics::new(),
        }
    }
}

/// The record of a resource whose record is lost, from its state. The state does not tell what the user wrote from
/// what we filled in, and either may decide which objects there are: what is there under either reading counts.
pub(super) async fn found_again<C: Composite>(
    ground: &Ground,
    cx: &Cx,
    owner: &Owner,
    state: &Cty,
) -> Result<Ledger, Diagnostics> {
    let block = schema::schema::<C>().block;
    let ours = block.attributes.iter().filter(|attribute| attribute.optional && attribute.computed);
    let left_out: BTreeSet<_> = ours.map(|attribute| AttributePath::new(attribute.name.clone())).collect();
    let look = Look { ground, cx, owner };
    let mut record = Ledger::default();
    for left_out in [left_out, BTreeSet::new()] {
        let written = object::as_written(&block, state, &left_out);
        let (_, inspection) = look.without_record::<C>(&block, &written).await?;
        for (key, entry) in inspection.ledger.entries {
            record.entries.entry(key).or_insert(entry);
        }
        for (key, entry) in inspection.ledger.retired {
            record.retired.entry(key).or_insert(entry);
        }
    }
    Ok(record)
}

/// The outputs of all objects, as last seen.
pub(super) fn outputs(ledger: &Ledger) -> BTreeMap<Key, Document> {
    let seen = ledger.entries.iter().filter(|(_, entry)| !entry.outputs.is_empty());
    seen.map(|(key, entry)| (key.clone(), entry.outputs.clone())).collect()
}

struct Look<'a> {
    ground: &'a Ground,
    cx: &'a Cx,
    owner: &'a Owner,
}

// === impl Look ===

impl Look<'_> {
    // What is found in one attribute may decide what others say that are computed: gives the attributes as found.
    async fn with_record<C: Composite>(
        &self,
        block: &Block,
        written: &Cty,
        defaulted: &BTreeSet<AttributePath>,
        ledger: &Ledger,
    ) -> Result<(Cty, Inspection), Diagnostics> {
        let (mut composite, complaints) = decode::<C>(written, false);
        if complaints.has_errors() {
            return Err(complaints);
        }
        composite.recall(ledger);
        let inspection = self.inspect::<C>(&composite, outputs(ledger), Some(ledger)).await?;
        let mut found = written.clone();
        object::write_back(block, &mut found, &inspection.write_backs);
        Ok((object::as_written(block, &found, defaulted), inspection))
    }

    async fn without_record<C: Composite>(&self, block: &Block, state: &Cty) -> Result<(Cty, Inspection), Diagnostics> {
        let mut written = object::as_written(block, state, &BTreeSet::new());
        let mut known = BTreeMap::new();
        let mut rounds = 0;
        loop {
            rounds += 1;
            let (composite, complaints) = decode::<C>(&written, true);
            if complaints.has_errors() {
                return Err(complaints);
            }
            // What was found by an id of the API's own tells the names that it is marked with.
            let owner = owner::<C>(&written);
            let known_before = known.len();
            let look = Look { owner: &owner, ..*self };
            let inspection = look.inspect::<C>(&composite, known, None).await?;
            let before = written.clone();
            known = outputs(&inspection.ledger);
            object::write_back(block, &mut written, &inspection.write_backs);
            // An object that is named by what another one tells is found one round after that.
            let is_all = written == before && known.len() == known_before;
            if inspection.gone || is_all || rounds == ROUNDS {
                let inspection = look.closed::<C>(&composite, &written, known, inspection).await?;
                return Ok((written, inspection));
            }
        }
    }

    // An object that was opened to find what is in it wants more than one that is left out. Where they differ, what is
    // left out counts.
    async fn closed<C: Composite>(
        &self,
        opened: &C,
        written: &Cty,
        known: BTreeMap<Key, Document>,
        mut inspection: Inspection,
    ) -> Result<Inspection, Diagnostics> {
        let (closed, complaints) = decode::<C>(written, false);
        let wants = |composite: &C| {
            let (_, graph) = expand(composite, &self.ground.settings, known.clone());
            graph.nodes().iter().map(|(key, node)| (key.clone(), node.document())).collect::<BTreeMap<_, _>>()
        };
        if inspection.gone || complaints.has_errors() || wants(opened) == wants(&closed) {
            return Ok(inspection);
        }
        let found = self.inspect::<C>(&closed, known, None).await?;
        inspection.ledger.entries.extend(found.ledger.entries);
        Ok(inspection)
    }

    async fn inspect<C: Composite>(
        &self,
        composite: &C,
        outputs: BTreeMap<Key, Document>,
        ledger: Option<&Ledger>,
    ) -> Result<Inspection, Diagnostics> {
        let (_, graph) = expand(composite, &self.ground.settings, outputs);
        inspect(&self.ground.drivers, self.cx, self.owner, &graph, ledger)
            .await
            .map_err(|failures| report::diagnostics(C::NOUN, self.owner, &failures))
    }
}
