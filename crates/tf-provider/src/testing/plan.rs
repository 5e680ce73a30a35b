//! Planning: refresh, validate, propose, ask twice, hold the answer to the rules, decide what is to be done.

use crate::{
    Cty, Diagnostics,
    testing::{
        Config, Core, Failure, Rule, proposed_new,
        refresh::{or_nothing, planned_from},
        rules::{
            plan as rules, replace,
            same::{certainly_same, same},
        },
        target::{Ask, Object, Proposal, Target},
    },
};
use value::AttributePath;

/// What is to be done with one object.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Its address.
    pub address: String,
    /// What is to be done.
    pub action: Action,
    /// What is there now; null for nothing.
    pub before: Cty,
    /// What is to be there; unknown where apply decides, null for nothing.
    pub after: Cty,
    /// The attributes whose change replaces the object.
    pub requires_replace: Vec<AttributePath>,
    /// Warnings.
    pub diagnostics: Diagnostics,
    pub(super) config: Cty,
    pub(super) prior: Object,
    pub(super) tainted: bool,
    pub(super) goal: Object,
    /// What is to be done and reached, decided again when an apply begins; none until then.
    pub(super) last: Option<(Action, Object)>,
}

/// What is to be done with one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    NoOp,
    /// It is to be made.
    Create,
    /// It is to be changed in place.
    Update,
    /// It is to be deleted and made anew.
    Replace,
    /// It is to be deleted.
    Delete,
}

/// How often a plan is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Times {
    /// The same was asked before.
    Once,
    /// A plan depends on nothing but what is asked, so both answers have to be the same.
    Twice,
}

/// A change that was decided on.
pub(super) struct Decision {
    pub(super) action: Action,
    pub(super) planned: Object,
    pub(super) requires_replace: Vec<AttributePath>,
    pub(super) diagnostics: Diagnostics,
}

impl Core {
    /// Refreshes, unless told not to, and plans to bring what is there to `config`. The state stays as it is until the plan is applied.
    pub async fn plan(&self, address: &str, config: impl Into<Config>) -> Result<Planned, Failure> {
        let target = self.target(address)?;
        let config = config.into().value(&target.entry.block.schema.block)?;
        let (prior, tainted, mut diagnostics) = or_nothing(self.prior(address).await?);
        diagnostics.extend(target.validate(&config).await?);
        let from = planned_from(&prior, tainted);
        let mut decision = decide(target, &from, &config, Times::Twice).await?;
        if tainted && !prior.value.is_null() {
            decision.action = Action::Replace;
        }
        diagnostics.extend(decision.diagnostics);
        Ok(Planned {
            address: address.to_owned(),
            action: decision.action,
            before: prior.value.clone(),
            after: decision.planned.value.clone(),
            requires_replace: decision.requires_replace,
            diagnostics,
            config,
            prior,
            tainted,
            goal: decision.planned,
            last: None,
        })
    }

    /// Refreshes, and plans to delete what is there.
    pub async fn plan_destroy(&self, address: &str) -> Result<Planned, Failure> {
        let target = self.target(address)?;
        let (prior, tainted, mut diagnostics) = or_nothing(self.prior(address).await?);
        let nothing = prior.value.is_null();
        let (action, planned) = if nothing {
            (Action::NoOp, Object::nothing())
        } else {
            let proposal = twice(target, Ask { prior: &prior, config: &Cty::Null, proposed: &Cty::Null }).await?;
            diagnostics.extend(proposal.diagnostics);
            if !proposal.object.value.is_null() {
                return Err(Rule::Plan.broken("a destruction was planned with a value that is not null").into());
            }
            (Action::Delete, proposal.object)
        };
        Ok(Planned {
            address: address.to_owned(),
            action,
            before: prior.value.clone(),
            after: Cty::Null,
            requires_replace: Vec::new(),
            diagnostics,
            config: Cty::Null,
            prior,
            tainted,
            goal: planned,
            last: None,
        })
    }
}

/// Decides what leads from `prior` to `config`.
pub(super) async fn decide(
    target: Target<'_>,
    prior: &Object,
    config: &Cty,
    times: Times,
) -> Result<Decision, Failure> {
    let block = &target.entry.block.schema.block;
    let proposed = proposed_new(block, &prior.value, config);
    let ask = Ask { prior, config, proposed: &proposed };
    let Proposal { object: planned, requires_replace, diagnostics } = match times {
        Times::Once => target.plan(ask).await?,
        Times::Twice => twice(target, ask).await?,
    };
    let change = rules::Change { prior: &prior.value, config, planned: &planned.value };
    let mut violations: Vec<_> = Rule::Plan.each(rules::check(block, change)).collect();
    let create = prior.value.is_null();
    let (requires_replace, complaints) =
        if create { Default::default() } else { replace::effective(&requires_replace, &prior.value, &planned.value) };
    violations.extend(Rule::Plan.each(complaints));
    let action = match () {
        () if create => Action::Create,
        () if certainly_same(&planned.value, &prior.value) => Action::NoOp,
        () if !requires_replace.is_empty() => Action::Replace,
        () => Action::Update,
    };
    violations.extend(stays_identified(action, prior, &planned));
    let mut decision =
        Decision { action, planned, requires_replace, diagnostics: Failure::check(diagnostics, violations)? };
    if action == Action::Replace {
        decision.planned = anew(target, config, decision.planned).await?;
    }
    Ok(decision)
}

/// Plans the second half of a replacement, from nothing. Only what the first plan kept beside it goes along.
async fn anew(target: Target<'_>, config: &Cty, first: Object) -> Result<Object, Failure> {
    let proposed = proposed_new(&target.entry.block.schema.block, &Cty::Null, config);
    let prior = Object { value: Cty::Null, ..first };
    let proposal = twice(target, Ask { prior: &prior, config, proposed: &proposed }).await?;
    Ok(proposal.object)
}

/// Asks twice: a plan depends on nothing but what is asked.
pub(super) async fn twice(target: Target<'_>, ask: Ask<'_>) -> Result<Proposal, Failure> {
    let (first, second) = (target.plan(ask).await?, target.plan(ask).await?);
    let values = same(&first.object.value, &second.object.value);
    let beside = first.object.private == second.object.private && first.object.identity == second.object.identity;
    if values && beside && first.requires_replace == second.requires_replace {
        return Ok(first);
    }
    let what = if values { "what is beside the values" } else { "the values" };
    Err(Rule::StablePlan.broken(format!("{what} differ: {:?}, then {:?}", first.object, second.object)).into())
}

fn stays_identified(action: Action, prior: &Object, planned: &Object) -> Option<crate::testing::Violation> {
    let same_object = matches!(action, Action::NoOp | Action::Update);
    let lost = same_object && !planned.identity.is_null() && planned.identity != prior.identity;
    (lost && !prior.identity.is_null())
        .then(|| Rule::Identity.broken("an update must leave it as it is, and known; only a replacement changes it"))
}
