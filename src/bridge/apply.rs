//! Apply: converge to what was planned, or to nothing. Always answers with what is there and the record of it.

use converge::{Converged, Cx, Graph, Ledger, Run, WriteBack, converge, destroy};
use tf_provider::{ApplyRequest, Cty, Diagnostic, Diagnostics, StateResponse};
use value::Back;

use super::{
    Ground, decode, expand, identity_of, import_id, object, owner,
    plan::record,
    private::Private,
    read::{found_again, outputs},
    report,
    schema::{self, COMPONENTS, ID},
    timeouts,
};
use crate::composite::Composite;

pub(super) async fn apply<C: Composite>(ground: &Ground, cx: &Cx, request: ApplyRequest) -> StateResponse {
    let outcome = if request.planned.is_null() {
        delete::<C>(ground, cx, &request).await
    } else {
        make::<C>(ground, cx, &request).await
    };
    // Nothing was done: what was there before is there still.
    outcome.unwrap_or_else(|diagnostics| StateResponse {
        state: request.prior,
        private: request.private,
        identity: request.identity,
        diagnostics,
    })
}

async fn delete<C: Composite>(ground: &Ground, cx: &Cx, request: &ApplyRequest) -> Result<StateResponse, Diagnostics> {
    reachable::<C>(ground, &request.prior)?;
    let private = Private::decode(&request.private, C::NOUN)?;
    let limit = timeouts::<C>(&request.prior)?.delete;
    let owner = owner::<C>(&request.prior);
    let cx = cx.within(limit);
    let run = Run { drivers: &ground.drivers, cx: &cx, owner: &owner, record: &|_| {} };
    let ledger = match private.ledger.clone() {
        Some(ledger) => ledger,
        // Terraform forgets the record of a tainted resource.
        None => found_again::<C>(ground, &cx, &owner, &request.prior).await?,
    };
    let Converged { ledger, failures } = destroy(&run, ledger).await;
    if failures.is_empty() {
        return Ok(StateResponse {
            state: Cty::Null,
            private: Vec::new(),
            identity: request.identity.clone(),
            diagnostics: Diagnostics::new(),
        });
    }
    let mut state = request.prior.clone();
    state.set(COMPONENTS, schema::recorded(&ledger));
    Ok(StateResponse {
        state,
        private: Private { ledger: Some(ledger), ..private }.encode(),
        identity: request.identity.clone(),
        diagnostics: report::diagnostics(C::NOUN, &owner, &failures),
    })
}

async fn make<C: Composite>(ground: &Ground, cx: &Cx, request: &ApplyRequest) -> Result<StateResponse, Diagnostics> {
    reachable::<C>(ground, &request.config)?;
    let block = schema::schema::<C>().block;
    let created = request.prior.is_null();
    let private = Private::decode(&request.private, C::NOUN)?;
    let ledger = record(private.ledger, &request.prior);
    let config = object::as_planned(&block, &request.planned, &request.config, &private.defaulted);
    let (mut written, complaints) = decode::<C>(&config, false);
    if complaints.has_errors() {
        return Err(complaints);
    }
    written.recall(&ledger);
    let limits = timeouts::<C>(&config)?;
    let owner = owner::<C>(&config);
    let cx = cx.within(if created { limits.create } else { limits.update });
    let run = Run { drivers: &ground.drivers, cx: &cx, owner: &owner, record: &|_| {} };
    let source = |outputs| expand(&written, &ground.settings, outputs).1;
    let Converged { ledger, failures } = converge(&run, &source, ledger).await;

    let (expanded, graph) = expand(&written, &ground.settings, outputs(&ledger));
    let mut result = object::overlay(&block, &config, &expanded.encode_object());
    result.set(ID, import_id::<C>(&config).map_or(Cty::Null, Cty::from));
    result.set(COMPONENTS, schema::recorded(&ledger));
    let mut state = object::settle(&request.planned, &result);
    if !failures.is_empty() {
        // Nothing exists, so there is nothing to keep and nothing to taint.
        if created && ledger.is_empty() {
            state = Cty::Null;
        } else {
            object::write_back(&block, &mut state, &in_place(&graph, &ledger));
            state = object::settle(&Cty::unknown(), &state);
            state.set(COMPONENTS, schema::recorded(&ledger));
        }
    }
    let mut diagnostics = report::diagnostics(C::NOUN, &owner, &failures);
    if created && !failures.is_empty() && !ledger.is_empty() {
        diagnostics.push(report::partly_created(C::TYPE, C::NOUN, &ledger));
    }
    let private = Private { ledger: Some(ledger), defaulted: object::left_out(&block.attributes, &config) };
    Ok(StateResponse { identity: identity_of::<C>(&config), state, private: private.encode(), diagnostics })
}

// What the attributes say of objects that did not get what was planned for them: what was applied before.
fn in_place(graph: &Graph, ledger: &Ledger) -> Vec<WriteBack> {
    let entries = ledger.entries.iter().filter_map(|(key, entry)| Some((graph.nodes().get(key)?, entry)));
    let mut found = Vec::new();
    for (node, entry) in entries {
        for (name, field) in &node.fields {
            let Some(applied) = entry.document.get(*name).filter(|applied| **applied != field.document) else {
                continue;
            };
            found.extend(field.mirrors.iter().filter_map(|mirror| match mirror.back(applied) {
                Back::Is(value) => Some(WriteBack { path: mirror.path.clone(), value }),
                Back::Unsaid => None,
            }));
        }
    }
    found
}

fn reachable<C: Composite>(ground: &Ground, object: &Cty) -> Result<(), Diagnostics> {
    let Some(path) = ground.unknown_for::<C>(object) else { return Ok(()) };
    Err(Diagnostic::error(
        &value::AttributePath::root(),
        format!("Cannot change the {} yet", C::NOUN),
        format!("The provider's attribute {path} is not known, so no call can be made."),
    )
    .advise("Apply what the provider block refers to first, with `terraform apply -target=…`.")
    .into())
}
