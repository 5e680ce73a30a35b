//! Applying: plan again with what is known now, apply, check the result, keep the books as core does.

use tonic::Request;

use crate::{
    Cty, Diagnostics,
    testing::{
        Action, Config, Core, Failure, Planned, Rule, Violation,
        plan::{Times, decide},
        rules::{apply as rules, object::unknown_as_null},
        target::{Object, Target, answered, heard},
    },
    wire::proto::tfplugin6::{apply_resource_change as wire, provider_server::Provider as _},
};

/// What one call of Apply left behind.
struct Outcome {
    /// What is there now; `None` leaves the state's entry as it is.
    object: Option<Object>,
    tainted: bool,
    result: Result<Diagnostics, Failure>,
}

/// One call of Apply.
struct Step<'a> {
    prior: &'a Object,
    planned: &'a Object,
    config: &'a Cty,
}

impl Core {
    /// Applies a plan whose configuration is known.
    pub async fn apply(&mut self, planned: Planned) -> Result<Diagnostics, Failure> {
        let config = planned.config.clone();
        self.apply_with(planned, config).await
    }

    /// Applies a plan; `config` is its configuration with everything known.
    pub async fn apply_with(&mut self, planned: Planned, config: impl Into<Config>) -> Result<Diagnostics, Failure> {
        let target = self.target(&planned.address)?;
        let config = match planned.action {
            Action::Delete | Action::NoOp => Cty::Null,
            _ => config.into().value(&target.entry.block.schema.block)?,
        };
        if !config.is_wholly_known() {
            return Err(Failure::misuse("apply needs a configuration in which everything is known: use apply_with"));
        }
        match planned.action {
            Action::NoOp => {
                self.save(&planned.address, planned.prior, planned.tainted)?;
                Ok(Diagnostics::new())
            }
            Action::Delete => self.delete(&planned).await,
            Action::Create | Action::Update => self.reach(&planned, &planned.prior, &config).await,
            Action::Replace => {
                let mut diagnostics = self.delete(&planned).await?;
                diagnostics.extend(self.reach(&planned, &Object::nothing(), &config).await?);
                Ok(diagnostics)
            }
        }
    }

    /// Plans and applies; what was done.
    pub async fn run(&mut self, address: &str, config: impl Into<Config>) -> Result<Action, Failure> {
        let planned = self.plan(address, config).await?;
        let action = planned.action;
        self.apply(planned).await?;
        Ok(action)
    }

    /// Plans and makes the deletion of an object.
    pub async fn destroy(&mut self, address: &str) -> Result<Diagnostics, Failure> {
        let planned = self.plan_destroy(address).await?;
        self.apply(planned).await
    }

    /// Deletes. In a replacement, what goes along is what the plan of the new object kept, as in the real core.
    async fn delete(&mut self, planned: &Planned) -> Result<Diagnostics, Failure> {
        let target = self.target(&planned.address)?;
        let nothing = Object { value: Cty::Null, identity: planned.prior.identity.clone(), ..planned.goal.clone() };
        let step = Step { prior: &planned.prior, planned: &nothing, config: &Cty::Null };
        let outcome = target.apply(step).await?;
        let tainted = planned.tainted;
        self.keep(&planned.address, Outcome { tainted, ..outcome })
    }

    /// The plan with its second half made: with what is known now, as an apply begins. Applying it is the call alone, so
    /// that one plan can be applied many times.
    pub async fn finalized(&self, planned: Planned) -> Result<Planned, Failure> {
        if !matches!(planned.action, Action::Create | Action::Update) {
            return Ok(planned);
        }
        let last = self.planned_again(&planned, &planned.prior, &planned.config).await?;
        Ok(Planned { last: Some(last), ..planned })
    }

    /// Makes or changes. The plan is made again first: what was unknown is known now.
    async fn reach(&mut self, planned: &Planned, prior: &Object, config: &Cty) -> Result<Diagnostics, Failure> {
        let (action, goal) = match &planned.last {
            Some(last) => last.clone(),
            None => self.planned_again(planned, prior, config).await?,
        };
        if action == Action::NoOp {
            self.save(&planned.address, prior.clone(), false)?;
            return Ok(Diagnostics::new());
        }
        let outcome = self.target(&planned.address)?.apply(Step { prior, planned: &goal, config }).await?;
        self.keep(&planned.address, outcome)
    }

    async fn planned_again(
        &self,
        planned: &Planned,
        prior: &Object,
        config: &Cty,
    ) -> Result<(Action, Object), Failure> {
        let target = self.target(&planned.address)?;
        target.validate(config).await?;
        let is_asked_before = planned.action != Action::Replace && planned.config == *config;
        let times = if is_asked_before { Times::Once } else { Times::Twice };
        let again = decide(target, prior, config, times).await?;
        Failure::check(Diagnostics::new(), contradictions(target, planned, again.action, &again.planned.value))?;
        Ok((again.action, again.planned))
    }

    fn keep(&mut self, address: &str, outcome: Outcome) -> Result<Diagnostics, Failure> {
        if let Some(object) = outcome.object {
            self.save(address, object, outcome.tainted)?;
        }
        outcome.result
    }
}

/// In what the plan made during apply contradicts the one that the user saw.
fn contradictions(target: Target<'_>, planned: &Planned, action: Action, again: &Cty) -> Vec<Violation> {
    let same_action = match planned.action {
        Action::Replace => action == Action::Create,
        Action::Update => matches!(action, Action::Update | Action::NoOp),
        other => action == other,
    };
    let mut complaints = rules::check(&target.entry.block.schema.block, &planned.after, again);
    if !same_action {
        complaints.push(format!("the plan was to {:?}, and now is to {action:?}", planned.action));
    }
    Rule::FinalPlan.each(complaints).collect()
}

impl Target<'_> {
    async fn apply(self, step: Step<'_>) -> Result<Outcome, Failure> {
        let request = wire::Request {
            type_name: self.type_name(),
            prior_state: Some(self.encoded(&step.prior.value)),
            planned_state: Some(self.encoded(&step.planned.value)),
            config: Some(self.encoded(step.config)),
            planned_private: step.planned.private.clone(),
            planned_identity: self.encoded_identity(&step.planned.identity),
            provider_meta: None,
        };
        let response = answered(self.server.apply_resource_change(Request::new(request)).await)?;
        let (diagnostics, mut violations) = heard(response.diagnostics);
        let object = self.object(response.new_state.as_ref(), response.private, response.new_identity.as_ref());
        let object = object.map_err(|violation| Failure {
            diagnostics: diagnostics.clone(),
            violations: violations.iter().cloned().chain([violation]).collect(),
        })?;
        violations.extend(self.applied(&step, &object, diagnostics.has_errors()));
        let failed = diagnostics.has_errors();
        let tainted = failed && step.prior.value.is_null();
        Ok(Outcome { object: left(&step, object, failed), tainted, result: Failure::check(diagnostics, violations) })
    }

    /// What is wrong with the result of an apply.
    fn applied(self, step: &Step<'_>, object: &Object, failed: bool) -> Vec<Violation> {
        let mut violations = self.made(&object.value);
        violations.extend(self.identified(object, &step.prior.identity));
        let deletes = step.planned.value.is_null();
        if failed {
            return violations;
        }
        match (deletes, object.value.is_null()) {
            (true, false) => violations.push(Rule::Existence.broken("it was deleted, but its state is not null")),
            (false, true) => violations.push(Rule::Existence.broken("it was applied, but its state is null")),
            (true, true) => {}
            (false, false) => {
                let block = &self.entry.block.schema.block;
                violations.extend(Rule::Result.each(rules::check(block, &step.planned.value, &object.value)));
            }
        }
        violations
    }
}

/// What the state keeps. A failed create of which nothing is told leaves nothing; another failed step of which
/// nothing is told leaves what was there.
fn left(step: &Step<'_>, object: Object, failed: bool) -> Option<Object> {
    let silent = failed && object.value.is_null() && !step.prior.value.is_null();
    (!silent).then(|| Object { value: unknown_as_null(object.value), ..object })
}
