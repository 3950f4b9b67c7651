//! Tests of the normal form, and properties that hold for any graph.

use proptest::prelude::*;

use super::*;
use crate::model::ids::StepId;
use crate::plan::{CachePolicy, OnFailure, PlanGate};

fn accepted(plan: &Value) -> Plan {
    check(plan.to_string().as_bytes(), &TestCatalog).unwrap_or_else(|found| panic!("{found:?}"))
}

fn ids(plan: &Plan) -> Vec<&str> {
    plan.steps.iter().map(|step| step.step_id.as_str()).collect()
}

/// Returns a plan of minimal steps named `s00`, `s01` and so on. Step `n` depends on the steps whose numbers are in
/// `dependencies[n]`. `order` is the order of the steps in the text.
fn graph(dependencies: &[Vec<usize>], order: &[usize]) -> Value {
    let id = |number: usize| format!("s{number:02}");
    let steps: Vec<Value> = order
        .iter()
        .map(|number| {
            let depends_on: BTreeSet<String> = dependencies[*number].iter().copied().map(id).collect();
            json!({ "step_id": id(*number), "kind": "operator", "name": "Text.Summarize", "payload": {}, "effects": [],
                "depends_on": depends_on.into_iter().rev().collect::<Vec<_>>(), "policy_tags": [], "cache_policy": "never",
                "idempotency_template": "x" })
        })
        .collect();
    json!({ "plan_id": "p", "schema_version": "1.0", "steps": steps })
}

#[test]
fn defaults_are_filled_and_sets_sorted() {
    let mut plan = graph(&[vec![]], &[0]);
    plan["steps"][0]["policy_tags"] = json!(["b", "a"]);
    plan["steps"][0]["effects"] = json!(["external_send", "read_only"]);
    let plan = accepted(&plan);
    assert_eq!((plan.on_failure, plan.steps[0].gate), (OnFailure::Keep, PlanGate::None));
    assert_eq!(plan.steps[0].policy_tags, ["a", "b"]);
    assert_eq!(plan.steps[0].effects, [EffectKind::ReadOnly, EffectKind::ExternalSend]);
    let text = r#"{"on_failure":"keep","plan_id":"p","schema_version":"1.0","steps":[{"cache_policy":"never","depends_on":[],"effects":["read_only","external_send"],"gate":"none","idempotency_template":"x","kind":"operator","name":"Text.Summarize","payload":{},"policy_tags":["a","b"],"step_id":"s00"}]}"#;
    assert_eq!(String::from_utf8(plan.to_canonical()).unwrap(), text);
    // SHA-256 of the canonical text, computed with another tool.
    assert_eq!(plan.hash().to_hex(), "641cfb023aa745ab8ef908b405a10a84f6d46a21f7649e9f35cfe8ea69ad6ad7");
}

#[test]
fn normal_form_contains_every_key() {
    let plan = accepted(&good());
    assert_eq!(ids(&plan), ["fetch", "sum", "draft", "send"]);
    assert_eq!((plan.intent_id.as_deref(), plan.on_failure), (Some("i1"), OnFailure::Compensate));
    let [fetch, sum, draft, send] = plan.steps.as_slice() else { panic!() };
    assert_eq!(fetch.cache_policy, CachePolicy::Ttl { ttl_seconds: 60 });
    let retry = fetch.retry.as_ref().unwrap();
    assert_eq!((retry.max, retry.base_ms, retry.cap_ms), (Some(5), Some(100), Some(1000)));
    assert_eq!((sum.cache_policy, sum.time_sensitive, sum.hashes.len()), (CachePolicy::UseIfSafe, true, 2));
    assert_eq!(sum.reuse.as_ref().unwrap().plugin, ">=1.2, <2");
    assert_eq!(draft.outcome.as_ref().unwrap().outcome_type, "Draft.Email");
    assert_eq!(send.depends_on, [StepId::new("draft"), StepId::new("sum")]);
    assert_eq!((send.gate, send.cache_policy), (PlanGate::HumanConfirm, CachePolicy::Never));
    assert_eq!(send.compensate_with.as_deref(), Some("Mail.Recall"));
}

#[test]
fn formatting_does_not_change_the_plan_hash() {
    let plan = good().to_string();
    let again = plan.replace(r#""ttl_seconds":60"#, r#""ttl_seconds": 6.0e1"#).replace("Web.Fetch", "Web\\u002eFetch");
    assert_ne!(plan, again);
    assert_eq!(
        check(plan.as_bytes(), &TestCatalog).unwrap().hash(),
        check(again.as_bytes(), &TestCatalog).unwrap().hash()
    );
    // A change of a step's input changes the hash.
    assert_ne!(accepted(&good()).hash(), accepted(&with("/steps/0/payload/x", Some(json!(1)))).hash());
}

#[test]
fn ready_steps_are_ordered_by_id() {
    // `s00` depends on `s03`. `s01` and `s02` have no dependencies.
    let plan = accepted(&graph(&[vec![3], vec![], vec![], vec![2]], &[0, 1, 2, 3]));
    assert_eq!(ids(&plan), ["s01", "s02", "s03", "s00"]);
}

fn any_graph() -> impl Strategy<Value = (Vec<Vec<usize>>, Vec<usize>)> {
    (1_usize..8).prop_flat_map(|size| {
        let dependencies = prop::collection::vec(prop::collection::vec(0..size, 0..3), size);
        (dependencies, Just((0..size).collect::<Vec<_>>()).prop_shuffle())
    })
}

/// Dependencies without a cycle: a step depends only on steps with smaller ranks. Ranks and text order are independent.
fn any_acyclic_graph() -> impl Strategy<Value = (Vec<Vec<usize>>, Vec<usize>)> {
    (any_graph(), any::<prop::sample::Index>(), any::<bool>()).prop_map(|((ranked, order), turn, reverse)| {
        let size = ranked.len();
        let name = |rank: usize| {
            let turned = (rank + turn.index(size)) % size;
            if reverse { size - 1 - turned } else { turned }
        };
        let mut dependencies = vec![Vec::new(); size];
        for (rank, of) in ranked.into_iter().enumerate() {
            dependencies[name(rank)] = of.into_iter().filter(|other| *other < rank).map(name).collect();
        }
        (dependencies, order)
    })
}

/// Returns true if some step depends on itself, directly or through other steps. Each round adds the dependencies of
/// all steps reached so far. One round per step is enough to reach every transitive dependency.
fn has_cycle(dependencies: &[Vec<usize>]) -> bool {
    (0..dependencies.len()).any(|start| {
        let mut reached: BTreeSet<usize> = dependencies[start].iter().copied().collect();
        for _ in 0..dependencies.len() {
            let further: Vec<usize> = reached.iter().flat_map(|step| dependencies[*step].clone()).collect();
            reached.extend(further);
        }
        reached.contains(&start)
    })
}

proptest! {
    #[test]
    fn a_plan_is_refused_exactly_when_it_has_a_cycle((dependencies, order) in any_graph()) {
        let found = violations(&graph(&dependencies, &order));
        prop_assert_eq!(found.is_empty(), !has_cycle(&dependencies));
        prop_assert!(found.iter().all(|found| ["P014", "P015"].contains(&found.code)));
    }

    #[test]
    fn normal_form_is_topological_whatever_the_text_order(
        (dependencies, order) in any_acyclic_graph()
    ) {
        let plan = accepted(&graph(&dependencies, &order));
        let in_order: Vec<usize> = (0..dependencies.len()).collect();
        prop_assert_eq!(&plan, &accepted(&graph(&dependencies, &in_order)));
        for (index, step) in plan.steps.iter().enumerate() {
            prop_assert!(step.depends_on.iter().all(|id| ids(&plan)[..index].contains(&id.as_str())));
        }
        // Normalizing a normal form does not change it.
        prop_assert_eq!(&check(&plan.to_canonical(), &TestCatalog).unwrap(), &plan);
    }
}

#[test]
fn normalization_is_idempotent() {
    let plan = accepted(&good());
    let again = check(&plan.to_canonical(), &TestCatalog).unwrap();
    assert_eq!(again, plan);
    assert_eq!(again.hash(), plan.hash());
}
