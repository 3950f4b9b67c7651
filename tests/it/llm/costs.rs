//! Costs and budgets: costs are summed in the transaction that appends the answer, and a call over budget is
//! refused before it starts.

use serde_json::{Value, json};

use crate::support::servers::llm_provider::{LlmProject, Provider, ScriptedAnswer, events_of_type, llm_step};

fn costs(desk: &LlmProject, args: &[&str]) -> Value {
    let ran = desk.latch(&[&["job", "costs", "--json"], args].concat());
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    ran.json()
}

fn budget_policy(per_job: &str, per_month: &str) -> String {
    format!("[policy.default]\nbudget = {{ per_job_usd = {per_job:?}, per_month_usd = {per_month:?} }}\n")
}

/// I33: costs are summed by job, actor and tenant.
#[test]
fn costs_are_summed_by_job_actor_and_tenant() {
    let provider = Provider::start(vec![ScriptedAnswer::tokens(1_000, 1), ScriptedAnswer::tokens(10, 10)]);
    let desk = LlmProject::new(&provider);
    desk.plan(&[llm_step("a", &[]), llm_step("b", &["a"])]);
    let first = desk.run().json();
    let bob = desk.latch(&["run", "plan.json", "--json", "--actor", "bob"]).json();
    assert_eq!((&first["status"], &bob["status"]), (&json!("completed"), &json!("completed")));

    let by_job = costs(&desk, &[]);
    let rows = by_job["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2, "{by_job:#}");
    assert_eq!((&rows[0]["job_id"], &rows[0]["cost_micro_usd"]), (&bob["job_id"], &json!(400)), "the newest first");
    // Both calls together used 1010 input tokens and 11 output tokens.
    assert_eq!((&rows[1]["actor_id"], &rows[1]["cost_micro_usd"]), (&json!("ada"), &json!(1_120)));
    assert_eq!((&rows[1]["model"], &rows[1]["tokens_in"]), (&json!("small-2026-01"), &json!(1_010)));
    assert_eq!((&rows[1]["cache_misses"], &rows[1]["cache_hits"]), (&json!(2), &json!(0)));
    assert!(rows[1]["fuel"].as_u64() > Some(0), "{by_job:#}");

    let by_day = costs(&desk, &["--by", "actor-day"]);
    let days: Vec<_> = by_day["rows"].as_array().unwrap().iter().map(|row| (&row["actor_id"], &row["calls"])).collect();
    assert_eq!(days, [(&json!("ada"), &json!(2)), (&json!("bob"), &json!(2))], "{by_day:#}");
    assert_eq!(by_day["rows"][0]["period"].as_str().unwrap().len(), "2026-11-22".len());
    let by_month = costs(&desk, &["--by", "tenant-month"]);
    assert_eq!(by_month["rows"].as_array().unwrap().len(), 1, "{by_month:#}");
    assert_eq!((&by_month["total"], &by_month["total"]["cost_micro_usd"]), (&by_day["total"], &json!(1_520)));

    let id = first["job_id"].as_str().unwrap();
    let of_job = costs(&desk, &[id]);
    let tries = of_job["tries"].as_array().unwrap();
    assert_eq!(tries.len(), 2, "{of_job:#}");
    assert_eq!((&tries[0]["slot"], &tries[0]["operator"]), (&json!("a"), &json!("Llm.Chat")));
    assert_eq!((&tries[0]["provider_trace_id"], &tries[0]["cost_micro_usd"]), (&json!("req_42"), &json!(1_010)));
    assert_eq!(of_job["total"], first["cost"]);

    desk.latch(&["job", "replay", id, "--every-prefix"]);
    desk.latch(&["resume"]);
    desk.run();
    assert_eq!(costs(&desk, &[]), by_job, "replay and repetition add nothing");
    assert_eq!(desk.latch(&["job", "costs", id, "--by", "job"]).code, 2, "a job id excludes --by");
    assert_eq!(desk.latch(&["job", "costs", "job_0"]).code, 2, "no such job");
    let printed = desk.latch(&["job", "costs"]).stdout;
    assert!(printed.contains("0.00152 USD for 4 calls"), "{printed}");
}

/// I33: a failed try is listed with the other tries and costs nothing.
#[test]
fn failed_try_costs_nothing() {
    let provider = Provider::start(vec![ScriptedAnswer::status(503)]);
    let desk = LlmProject::new(&provider);
    desk.plan(&[llm_step("a", &[])]);
    let id = desk.run().json()["job_id"].as_str().unwrap().to_owned();
    let of_job = costs(&desk, &[&id]);
    let tries = of_job["tries"].as_array().unwrap();
    assert_eq!((tries.len(), &tries[0]["cost_micro_usd"], &tries[1]["cost_micro_usd"]), (2, &Value::Null, &json!(200)));
    assert_eq!((&of_job["total"]["calls"], &of_job["total"]["cost_micro_usd"]), (&json!(1), &json!(200)));
}

/// I34: a call is refused once its job has used up the budget. The refusal is the final answer of the call, and a
/// replay of the job gets the same refusal.
#[test]
fn call_beyond_the_job_budget_is_refused() {
    let provider = Provider::start(vec![]);
    let desk = LlmProject::new(&provider);
    desk.configure(&budget_policy("0.0003", "50.00"));
    desk.plan(&[llm_step("a", &[]), llm_step("b", &["a"]), llm_step("c", &["b"])]);
    let ran = desk.run();
    let response = ran.json();
    assert_eq!((ran.code, &response["state"]), (3, &json!("PARTIAL")), "{response:#}");
    let failed = &response["failed"][0];
    assert_eq!((&failed["step_id"], &failed["reason_code"]), (&json!("c"), &json!("BUDGET_EXCEEDED")));
    assert!(failed["message"].as_str().unwrap().contains("spent 0.0004 USD; the budget is 0.0003 USD"), "{failed}");
    assert_eq!(provider.requests().len(), 2, "200 of 300 leave the budget open, 400 do not");

    let events = desk.events(response["job_id"].as_str().unwrap());
    let at = events.iter().position(|event| event["type"] == "budget_exceeded").unwrap();
    assert_eq!((&events[at]["slot"], &events[at]["period"]), (&json!("c"), &json!("job")));
    assert_eq!((&events[at]["spent_micro_usd"], &events[at]["budget_micro_usd"]), (&json!(400), &json!(300)));
    let next: Vec<_> = events[at + 1..at + 3].iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(next, ["tool_invocation_finished", "command_committed"], "the refusal is final");
    let id = response["job_id"].as_str().unwrap();
    let replay = desk.latch(&["job", "replay", id, "--every-prefix", "--json"]);
    assert_eq!(replay.code, 0, "{}", replay.stdout);
}

/// I34: the refusal of a call over budget is durable before the step receives the refusal. The process is killed at any
/// write, and the budget is raised afterwards. The step still receives the refusal, because a later policy can only
/// narrow the policy under which the job was accepted.
#[test]
fn budget_refusal_survives_kills_and_a_raised_budget() {
    let mut kept = 0;
    for side in ["before", "after"] {
        for nth in 1.. {
            let provider = Provider::start(vec![]);
            let desk = LlmProject::new(&provider);
            desk.configure(&budget_policy("0.0002", "50.00"));
            desk.plan(&[driver_step(2)]);
            let mut run = desk.command(&["run", "plan.json", "--json"]);
            let killed = run.env("LATCH_CRASH_AT", format!("group_write:{side}:{nth}")).output().unwrap();
            if killed.status.code().is_some() {
                break;
            }
            let jobs = desk.latch(&["job", "list", "--json"]).json();
            let id = jobs["jobs"][0]["job_id"].as_str().unwrap().to_owned();
            let refused = events_of_type(&desk.events(&id), "budget_exceeded").len();
            desk.configure(&budget_policy("1.00", "50.00"));
            desk.latch(&["resume", &id]);
            let displayed = desk.latch(&["job", "show", &id, "--json"]).json();
            assert_eq!(displayed["state"], "COMPLETED", "{displayed:#}");
            let answered = events_of_type(&desk.events(&id), "tool_invocation_finished")
                .iter()
                .filter(|e| e["ok"] == true)
                .count();
            assert_eq!(answered, 1, "killed {side} the {nth}th write");
            kept += refused;
        }
    }
    assert!(kept > 0, "at least one kill comes after the refusal");
}

/// Returns a step whose plugin makes `calls` LLM calls, one after another. With `all` in the payload of the step, the
/// calls are concurrent.
fn driver_step(calls: u32) -> Value {
    let call = |n: u32| {
        json!({ "operator": "Llm.Chat", "args": {
        "model": "small", "prompt": format!("Why {n}?"), "params": { "max_tokens": 10 } } })
    };
    json!({
        "step_id": "d", "kind": "operator", "name": "Driver.Run",
        "payload": { "calls": (0..calls).map(call).collect::<Vec<_>>() }, "depends_on": [],
        "effects": ["read_only", "internal_write", "external_write", "external_send"], "policy_tags": [], "gate": "none",
        "cache_policy": "never", "idempotency_template": "d",
    })
}

/// I34: a step whose call is over budget receives `POLICY_DENIED`, with `BUDGET_EXCEEDED` in the detail.
#[test]
fn step_receives_policy_denied_when_its_budget_is_used_up() {
    let provider = Provider::start(vec![]);
    let desk = LlmProject::new(&provider);
    desk.configure(&budget_policy("0.0002", "50.00"));
    desk.plan(&[driver_step(2)]);
    let ran = desk.run();
    assert_eq!(ran.code, 0, "the step handles the refusal: {} {}", ran.stdout, ran.stderr);
    assert_eq!(provider.requests().len(), 1);
    let id = ran.json()["job_id"].as_str().unwrap().to_owned();
    let tries = costs(&desk, &[&id])["tries"].clone();
    assert_eq!(
        (&tries[0]["slot"], &tries[1]["slot"], &tries[1]["model"]),
        (&json!("d/0"), &json!("d/1"), &Value::Null)
    );
    // The driver's output contains the answers and errors that it received.
    let stored = database_text(&desk);
    assert!(stored.contains(r#""code":"PolicyDenied""#) && stored.contains("BUDGET_EXCEEDED"), "{stored}");
}

/// Returns the text that the database's files contain.
fn database_text(desk: &LlmProject) -> String {
    let files = ["latch.db", "latch.db-wal"].map(|name| std::fs::read(desk.dir.join(name)).unwrap_or_default());
    String::from_utf8_lossy(&files.concat()).into_owned()
}

/// I34: concurrent calls cannot both use the same remainder of the budget.
#[test]
fn concurrent_calls_share_the_budget() {
    let provider = Provider::start(vec![]);
    let desk = LlmProject::new(&provider);
    // Each call may cost 162 micro-USD: 62 for the bytes of its arguments, and 100 for 10 tokens of answer. The budget
    // of 400 micro-USD therefore has room for two of the six calls.
    desk.configure(&budget_policy("0.0004", "50.00"));
    let mut step = driver_step(6);
    step["payload"]["all"] = json!(true);
    desk.plan(&[step]);
    let ran = desk.run();
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    assert_eq!(provider.requests().len(), 2, "{}", ran.stdout);
}

/// I33, I34: an answer that does not state the tokens used is charged the maximum that its call may cost.
#[test]
fn answer_without_usage_is_charged_the_maximum() {
    let provider = Provider::start(vec![
        ScriptedAnswer::without_usage(),
        ScriptedAnswer::without_usage(),
        ScriptedAnswer::without_usage(),
    ]);
    let desk = LlmProject::new(&provider);
    // Each call may cost 162 micro-USD: 62 for the bytes of its arguments, and 100 for 10 tokens of answer. The budget
    // of 400 micro-USD therefore has room for two of the six calls.
    desk.configure(&budget_policy("0.0004", "50.00"));
    desk.plan(&[driver_step(6)]);
    let ran = desk.run();
    let response = ran.json();
    assert_eq!((provider.requests().len(), &response["cost"]["cost_micro_usd"]), (2, &json!(324)), "{response:#}");
    let of_job = costs(&desk, &[response["job_id"].as_str().unwrap()]);
    let tries = of_job["tries"].as_array().unwrap();
    assert_eq!((&tries[0]["assumed_micro_usd"], &tries[0]["cost_micro_usd"]), (&json!(162), &json!(0)), "{of_job:#}");
    assert_eq!(costs(&desk, &["--by", "tenant-month"])["total"]["cost_micro_usd"], 324);
    let printed = desk.latch(&["job", "costs", response["job_id"].as_str().unwrap()]).stdout;
    assert!(printed.contains("up to 0.000162"), "{printed}");
}

/// I34, I188: the monthly budget belongs to the tenant, so the costs of earlier jobs count.
#[test]
fn tenant_is_refused_when_its_monthly_budget_is_used_up() {
    let provider = Provider::start(vec![]);
    let desk = LlmProject::new(&provider);
    desk.configure(&budget_policy("1.00", "0.0004"));
    desk.plan(&[llm_step("a", &[])]);
    let run = |tenant: &str| desk.latch(&["run", "plan.json", "--json", "--new", "--tenant", tenant]);
    for (n, state) in ["COMPLETED", "COMPLETED", "FAILED"].into_iter().enumerate() {
        let ran = run("acme");
        assert_eq!(ran.json()["state"], state, "job {n}: {}", ran.stdout);
    }
    assert_eq!(provider.requests().len(), 2);
    // The budget of another tenant is not used up. After the budget is raised, the first tenant can run jobs
    // again.
    assert_eq!(run("other").code, 0);
    desk.configure(&budget_policy("1.00", "0.0005"));
    assert_eq!(run("acme").code, 0);
}

/// I34: an invalid budget or price is reported with its position.
#[test]
fn invalid_budgets_and_prices_are_located() {
    let provider = Provider::start(vec![]);
    let desk = LlmProject::new(&provider);
    let top = "[policy.default]\nbudget = { per_job_usd = \"1,00\", per_year_usd = \"1\" }\n[policy.acme]\nbudget = { per_month_usd = 5 }";
    desk.configure(top);
    let listed = desk.latch(&["plugin", "list", "--json"]);
    assert_eq!(listed.code, 2);
    let problems = listed.json()["error"]["problems"].clone();
    let found: Vec<_> = problems.as_array().unwrap().iter().map(|p| [&p["code"], &p["key"], &p["line"]]).collect();
    assert_eq!(
        found,
        [
            [&json!("L0006"), &json!("policy.default.budget.per_job_usd"), &json!(2)],
            [&json!("L0003"), &json!("policy.default.budget.per_year_usd"), &json!(2)],
            [&json!("L0005"), &json!("policy.acme.budget.per_month_usd"), &json!(4)],
        ],
        "{problems:#}"
    );
    let text = std::fs::read_to_string(desk.dir.join("latch.toml")).unwrap();
    let text = text.replace(top, "").replace("output = \"10.00\"", "output = 10");
    std::fs::write(desk.dir.join("latch.toml"), text).unwrap();
    let listed = desk.latch(&["plugin", "list", "--json"]);
    let problem = &listed.json()["error"]["problems"][0];
    assert_eq!(
        (&problem["code"], &problem["key"]),
        (&json!("L0006"), &json!("plugin[1].config.model_prices")),
        "{problem}"
    );
}
