//! Plan: decode, expand, compare with the record. Asks read-only questions at the end, which may add diagnostics and
//! never change the answer.

use std::collections::BTreeMap;

use converge::{Action, Cx, Document, Finding, Key, Ledger, Node, Plan, Severity, Step};
use futures::{FutureExt, StreamExt, stream};
use tf_provider::{Attribute, Block, Cty, Diagnostic, Diagnostics, Nesting, PlanRequest, PlanResponse, Shape, Type};
use value::{AttributePath, is_pending};

use super::{
    Ground, Preflight, decode, expand, identity_of, import_id, object, owner,
    private::Private,
    schema::{self, COMPONENTS, ID},
};
use crate::composite::Composite;

/// How many questions are asked at once.
const QUESTIONS: usize = 8;

pub(super) async fn plan<C: Composite>(ground: &Ground, cx: &Cx, request: PlanRequest) -> PlanResponse {
    if request.config.is_null() {
        return PlanResponse {
            planned: Cty::Null,
            private: request.private,
            identity: request.identity,
            ..PlanResponse::default()
        };
    }
    match Planning::<C>::new(ground, &request) {
        Err(diagnostics) => PlanResponse {
            planned: request.proposed,
            private: request.private,
            identity: request.identity,
            diagnostics,
            ..PlanResponse::default()
        },
        Ok(planning) => {
            let mut response = planning.response();
            planning.explain(ground, cx, &mut response.diagnostics).await;
            response
        }
    }
}

struct Planning<C> {
    block: Block,
    prior: Cty,
    config: Cty,
    written: C,
    /// With its defaults, and the outputs that are known.
    expanded: C,
    ledger: Ledger,
    handed_on: Option<Ledger>,
    plan: Plan,
}

// === impl Planning ===

impl<C: Composite> Planning<C> {
    fn new(ground: &Ground, request: &PlanRequest) -> Result<Self, Diagnostics> {
        let block = schema::schema::<C>().block;
        let handed_on = Private::decode(&request.private, C::NOUN)?.ledger;
        let ledger = record(handed_on.clone(), &request.prior);
        let config = respell::<C>(ground, &block, &request.config, &request.prior);
        let (mut written, complaints) = decode::<C>(&config, false);
        if complaints.has_errors() {
            return Err(complaints);
        }
        written.recall(&ledger);
        let plan = converge::plan(&|outputs| expand(&written, &ground.settings, outputs).1, &ledger);
        let (expanded, _) = expand(&written, &ground.settings, plan.known_outputs(&ledger));
        Ok(Self { block, prior: request.prior.clone(), config, written, expanded, ledger, handed_on, plan })
    }

    fn response(&self) -> PlanResponse {
        let mut planned = self.planned();
        let requires_replace = self.replacements(&mut planned);
        let private = Private {
            // The deletion that a replacement begins with is handed the private data of its second half's plan, so
            // that one too has to carry the record of what is there. None stays none: of a tainted resource
            // Terraform hands on no record, and an empty one would say that there is nothing to delete.
            ledger: self.handed_on.clone(),
            defaulted: object::left_out(&self.block.attributes, &self.config),
        };
        PlanResponse {
            identity: identity_of::<C>(&planned),
            planned,
            requires_replace,
            private: private.encode(),
            diagnostics: Diagnostics::new(),
        }
    }

    fn planned(&self) -> Cty {
        let mut planned = object::overlay(&self.block, &self.config, &self.expanded.encode_object());
        if self.plan.graph.unshaped().is_some() {
            object::forget_computed(&self.block, &self.config, &mut planned);
            return planned;
        }
        planned.set(ID, import_id::<C>(&planned).map_or_else(Cty::unknown, Cty::from));
        planned.set(COMPONENTS, schema::planned(&self.plan, &self.ledger));
        if self.plan.is_empty() && !self.prior.is_null() {
            self.keep_computed(&mut planned);
        } else if planned == self.prior {
            self.show_steps(&mut planned);
        }
        planned
    }

    // Nothing is going to be done, so what the provider set stays as it was read.
    fn keep_computed(&self, planned: &mut Cty) {
        for attribute in self.block.attributes.iter().filter(|attribute| attribute.computed) {
            if self.config.get(&attribute.name).is_null() {
                planned.set(&attribute.name, self.prior.get(&attribute.name).clone());
            }
        }
    }

    // Terraform skips a plan without a visible difference. A difference that no attribute shows (a new version of
    // the provider has another default, say) is shown on the component.
    fn show_steps(&self, planned: &mut Cty) {
        let steps = self.plan.steps.iter().filter(|(_, step)| step.action != Action::Keep);
        let keys: Vec<&Key> = steps.map(|(key, _)| key).collect();
        let mut components = planned.get(COMPONENTS).clone();
        for key in keys {
            if let Cty::Map(map) = &mut components
                && let Some(component) = map.get_mut(key)
            {
                component.set("state", Cty::unknown());
            }
        }
        planned.set(COMPONENTS, components);
    }

    fn replacements(&self, planned: &mut Cty) -> Vec<AttributePath> {
        if self.prior.is_null() {
            return Vec::new();
        }
        let identity = C::IDENTITY.iter().filter(|name| self.prior.get(name) != planned.get(name));
        let mut paths: Vec<AttributePath> = identity.map(|name| AttributePath::new(*name)).collect();
        if !paths.is_empty() {
            // Another name says it all; what its objects then have to be is no reason of its own.
            return paths;
        }
        for replacement in &self.plan.replacements {
            let origin = replacement.origin.clone().filter(|path| self.prior.at(path) != planned.at(path));
            paths.push(origin.unwrap_or_else(|| self.replace_by_component(&replacement.key, planned)));
        }
        paths.sort();
        paths.dedup();
        paths
    }

    // Core heeds a path only where the values before and after differ there.
    fn replace_by_component(&self, key: &str, planned: &mut Cty) -> AttributePath {
        let component = AttributePath::new(COMPONENTS).key(key);
        let state = component.attribute("state");
        if self.prior.at(&component).is_none() {
            planned.set(COMPONENTS, Cty::unknown());
            return AttributePath::new(COMPONENTS);
        }
        if self.prior.at(&state) == planned.at(&state) {
            planned.set(COMPONENTS, Cty::unknown());
        }
        if planned.at(&state).is_some() { state } else { component }
    }

    async fn explain(&self, ground: &Ground, cx: &Cx, diagnostics: &mut Diagnostics) {
        self.written.explain(&self.plan, &self.ledger, diagnostics);
        self.expanded.meet(&ground.neighbours, diagnostics);
        let is_reachable = ground.unknown_for::<C>(&self.config).is_none();
        // What is refused already need not be refused by the cluster as well.
        let is_sound = !diagnostics.has_errors() && self.plan.graph.unshaped().is_none();
        if ground.preflight != Preflight::Off && is_reachable && is_sound {
            let found = self.preflight(ground, cx).await;
            // The cluster may tell what a neighbour told already.
            let is_new = |told: &Diagnostic| !diagnostics.iter().any(|one| is_same(one, told));
            let found: Vec<_> = found.into_iter().filter(is_new).collect();
            diagnostics.extend(found);
        }
    }

    async fn preflight(&self, ground: &Ground, cx: &Cx) -> Vec<Diagnostic> {
        let changed = self.plan.steps.iter().filter(|(_, step)| !matches!(step.action, Action::Keep | Action::Delete));
        let nodes = changed.filter_map(|(key, step)| Some((self.plan.graph.nodes().get(key)?, key, step)));
        let asked = nodes.filter(|(node, key, _)| !self.goes_first(key, node));
        let asked: Vec<_> = asked.map(|(node, key, step)| self.ask(ground, cx, node, (key, step)).boxed()).collect();
        stream::iter(asked).buffered(QUESTIONS).concat().await
    }

    // Whether the object is there and goes first, since the whole resource is replaced: the cluster would speak of the
    // one that is there. The plan of the second half of a replacement is handed the record of the first.
    fn goes_first(&self, key: &Key, node: &Node) -> bool {
        let wanted = node.known_document();
        let is_it = |applied: &Document| node.facts.identity.iter().all(|name| applied.get(*name) == wanted.get(*name));
        let entry = self.handed_on.as_ref().and_then(|handed_on| handed_on.entries.get(key));
        let is_replaced = self.prior.is_null() || self.is_replaced();
        is_replaced && entry.is_some_and(|entry| is_it(&entry.document))
    }

    fn is_replaced(&self) -> bool {
        let identity = |object: &Cty| C::IDENTITY.iter().map(|name| object.get(name).clone()).collect::<Vec<_>>();
        !self.plan.replacements.is_empty() || identity(&self.prior) != identity(&self.config)
    }

    // Whether what is certain to fail fails the plan. Terraform plans what is there before it destroys it and does not say
    // which plan is for that, so only what somebody asks for anew may: what was made before, tainted or not, and cannot
    // be made or repaired now must not stand in the way.
    fn may_fail(&self, ground: &Ground, key: &Key) -> bool {
        if self.prior.is_null() {
            // The second half of a replacement, or new.
            return self.handed_on.is_some() || !ground.existing.has(&owner::<C>(&self.config));
        }
        self.asks_anew() && !self.plan.is_repair(key, &self.ledger)
    }

    fn asks_anew(&self) -> bool {
        let planned = self.planned();
        let of_users = self.block.attributes.iter().filter(|attribute| attribute.required || attribute.optional);
        of_users.map(|attribute| &attribute.name).any(|name| planned.get(name) != self.prior.get(name))
    }

    async fn ask(&self, ground: &Ground, cx: &Cx, node: &Node, (key, step): (&Key, &Step)) -> Vec<Diagnostic> {
        let Ok(driver) = ground.drivers.get(node.facts.kind) else { return Vec::new() };
        // Of an object whose place or name is not known yet, the question would be about another one.
        let mut identity = node.facts.identity.iter().filter_map(|name| node.fields.get(name));
        if identity.any(|field| is_pending(&field.document)) {
            return Vec::new();
        }
        let diagnostic = |finding: Finding| {
            let path = node.origin_at(&finding.at).cloned().unwrap_or_default();
            let is_error = || ground.preflight == Preflight::Error && self.may_fail(ground, key);
            match finding.severity {
                Severity::Error if is_error() => Diagnostic::error(&path, finding.summary, finding.detail),
                _ => Diagnostic::warning(&path, finding.summary, finding.detail),
            }
        };
        driver.preflight(cx, &node.known_document(), step).await.into_iter().map(diagnostic).collect()
    }
}

fn is_same(one: &Diagnostic, other: &Diagnostic) -> bool {
    (&one.path, &one.summary) == (&other.path, &other.summary)
}

/// The record to plan and apply from. A creation has none, whatever is handed on: Terraform plans the second half of
/// a replacement with the private data of the first.
pub(super) fn record(handed_on: Option<Ledger>, prior: &Cty) -> Ledger {
    if prior.is_null() { Ledger::default() } else { handed_on.unwrap_or_default() }
}

/// The configuration, in which an attribute that means the same as before is spelled as before (`"1000m"` and
/// `"1"`): two values mean the same where they expand to the same documents.
fn respell<C: Composite>(ground: &Ground, block: &Block, config: &Cty, prior: &Cty) -> Cty {
    let mut spelled = config.clone();
    if prior.is_null() {
        return spelled;
    }
    // A spelling that is kept means the same, so this is what the configuration means all along.
    let mut meant = None;
    for attribute in block.attributes.iter().filter(|attribute| attribute.required || attribute.optional) {
        let name = attribute.name.as_str();
        let (new, old) = (config.get(name), prior.get(name));
        if new == old || new.is_null() || old.is_null() || !new.is_wholly_known() || attribute.write_only {
            continue;
        }
        // What differs by what was filled in, or in what has one spelling alone, is as it is to be already.
        let kept = keep_null(attribute, new, old);
        if kept == *new {
            continue;
        }
        let with = |value: &Cty| {
            let mut other = spelled.clone();
            other.set(name, value.clone());
            meaning::<C>(ground, &other)
        };
        let meant = meant.get_or_insert_with(|| with(new));
        // An attribute that no document depends on has no other spelling: its value is what it means.
        if meant.is_some() && *meant == with(old) && *meant != with(&Cty::Null) {
            spelled.set(name, kept);
        }
    }
    spelled
}

// The old spelling, without what the user left out now: core allows a computed value there only where the
// configuration has none. Elements of a set cannot be told apart, so core compares their number alone.
fn keep_null(attribute: &Attribute, new: &Cty, old: &Cty) -> Cty {
    match (&attribute.shape, new, old) {
        _ if new.is_null() || old.is_null() => new.clone(),
        (Shape::Nested(Nesting::Single, inner), Cty::Object(_), Cty::Object(_)) => keep_nulls(inner, new, old),
        (Shape::Nested(Nesting::List, inner), Cty::List(news), Cty::List(olds)) if news.len() == olds.len() => {
            Cty::List(news.iter().zip(olds).map(|(new, old)| keep_nulls(inner, new, old)).collect())
        }
        (Shape::Nested(Nesting::Map, inner), Cty::Map(news), Cty::Map(olds)) if news.keys().eq(olds.keys()) => {
            let pairs = news.iter().zip(olds.values());
            Cty::Map(pairs.map(|((key, new), old)| (key.clone(), keep_nulls(inner, new, old))).collect())
        }
        (Shape::Nested(Nesting::Set, _), Cty::Set(news), Cty::Set(olds)) if news.len() == olds.len() => old.clone(),
        (Shape::Nested(..) | Shape::Plain(Type::Bool | Type::Number), new, _) => new.clone(),
        // One of a list of words.
        (Shape::Plain(Type::String), new, _) if !attribute.choices.is_empty() => new.clone(),
        (Shape::Plain(_), _, old) => old.clone(),
    }
}

fn keep_nulls(attributes: &[Attribute], new: &Cty, old: &Cty) -> Cty {
    Cty::object(attributes.iter().map(|attribute| {
        let name = &attribute.name;
        (name.clone(), keep_null(attribute, new.get(name), old.get(name)))
    }))
}

fn meaning<C: Composite>(ground: &Ground, config: &Cty) -> Option<BTreeMap<Key, Document>> {
    let (composite, complaints) = decode::<C>(config, false);
    if complaints.has_errors() {
        return None;
    }
    let (_, graph) = expand(&composite, &ground.settings, BTreeMap::new());
    Some(graph.nodes().iter().map(|(key, node)| (key.clone(), node.document())).collect())
}
