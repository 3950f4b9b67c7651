//! `latch job costs`.

use serde_json::{Value, json};

use latchwork_core::model::effect::{Answer, Consumption};
use latchwork_core::model::ids::JobId;
use latchwork_core::response::response;
use latchwork_core::rules::cost::{CostRow, CostTotals, usd};

use crate::args::JobCostsArgs;
use crate::context::CommandContext;
use crate::error::Exit;
use crate::open;
use crate::stored_job::load::load_job;
use crate::text::{Text, table};

pub(super) async fn run(args: JobCostsArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let stores = open::stores_to_read(ctx.session(), &ctx.config(None)?).await?;
    if let Some(job_id) = &args.job {
        return job_costs(job_id, &stores, ctx).await;
    }
    let by = args.by.into();
    let rows = stores.journal().costs(by, None).await?;
    let mut total = CostTotals::default();
    rows.iter().for_each(|row| total.add(&row.totals));
    ctx.answer(&json!({ "by": by, "rows": rows, "total": total }), || match rows.is_empty() {
        true => Text::from("no call has reported a cost yet"),
        false => cost_table(&rows, &total),
    });
    Ok(Exit::Done)
}

/// Shows every try of one job's calls, charged or not.
async fn job_costs(
    job_id: &JobId,
    stores: &latchwork::builder::Stores,
    ctx: &CommandContext<'_>,
) -> anyhow::Result<Exit> {
    let durable = load_job(stores, job_id).await?;
    let models = stores.journal().costs(latchwork_core::rules::cost::CostGrouping::Job, Some(job_id)).await?;
    let total = response(&durable).cost;
    let mut tries = Vec::new();
    for ((slot, try_no), effect) in &durable.effects {
        let usage = match &effect.answer {
            Answer::Ok(output) => output.usage.clone(),
            _ => None,
        };
        let Consumption { fuel, wall_ms } = effect.spent.unwrap_or_default();
        let call = durable.job.calls.get(slot);
        let mut entry = json!({ "slot": slot, "try": try_no, "fuel": fuel, "wall_ms": wall_ms });
        entry["operator"] = json!(call.map(|call| &call.operator));
        entry["cache"] =
            json!(if effect.provenance == latchwork_core::model::effect::Provenance::Reused { "hit" } else { "miss" });
        if let Some(assumed) = call.and_then(|call| call.assumed_charge(*try_no)) {
            entry["assumed_micro_usd"] = json!(assumed);
        }
        if let (Some(Value::Object(fields)), Some(entry)) = (usage.map(|usage| json!(usage)), entry.as_object_mut()) {
            entry.extend(fields);
        }
        tries.push(entry);
    }
    let trace_id = &durable.job.header.trace_id;
    let document = json!({ "job_id": job_id, "trace_id": trace_id, "tries": tries, "models": models, "total": total });
    ctx.answer(&document, || {
        let cell = |entry: &Value, key: &str| match &entry[key] {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        let rows: Vec<[String; 9]> = tries
            .iter()
            .map(|entry| {
                let assumed = entry["assumed_micro_usd"].as_u64().map(|most| format!("up to {}", usd(most)));
                let reported = entry["cost_micro_usd"].as_u64().map(usd);
                let cost = assumed.or(reported).unwrap_or_default();
                let [slot, try_no, operator, model, tokens_in, tokens_out, wall, trace] =
                    ["slot", "try", "operator", "model", "tokens_in", "tokens_out", "wall_ms", "provider_trace_id"]
                        .map(|key| cell(entry, key));
                [slot, try_no, operator, model, tokens_in, tokens_out, cost, wall, trace]
            })
            .collect();
        let head = ["slot", "try", "operator", "model", "in", "out", "USD", "ms", "provider's trace"];
        table(head, &rows).under(sum(&total))
    });
    Ok(Exit::Done)
}

fn cost_table(rows: &[CostRow], total: &CostTotals) -> Text {
    let rows: Vec<[String; 9]> = rows
        .iter()
        .map(|row| {
            let of = row.job_id.as_ref().map(ToString::to_string).or(row.period.clone()).unwrap_or_default();
            let sums = &row.totals;
            [
                of,
                row.tenant_id.clone(),
                row.actor_id.clone().unwrap_or_default(),
                sums.calls.to_string(),
                sums.tokens_in.to_string(),
                sums.tokens_out.to_string(),
                usd(sums.cost_micro_usd),
                format!("{}/{}", sums.cache_hits, sums.calls),
                row.model.clone(),
            ]
        })
        .collect();
    table(["of", "tenant", "actor", "calls", "in", "out", "USD", "cached", "model"], &rows).under(sum(total))
}

fn sum(total: &CostTotals) -> String {
    let credits = if total.credits == 0 { String::new() } else { format!(", {} credits", total.credits) };
    format!(
        "{} USD{credits} for {} calls: {} tokens in, {} out, {} from the cache, {} ms",
        usd(total.cost_micro_usd),
        total.calls,
        total.tokens_in,
        total.tokens_out,
        total.cache_hits,
        total.wall_ms
    )
}
