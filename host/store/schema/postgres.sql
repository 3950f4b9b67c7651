action_waits.tenant_id text COLLATE "C" NOT NULL
action_waits.operator text COLLATE "C" NOT NULL
action_waits.key bytea NOT NULL
action_waits.job bigint NOT NULL
actions.tenant_id text COLLATE "C" NOT NULL
actions.operator text COLLATE "C" NOT NULL
actions.key bytea NOT NULL
actions.job bigint NOT NULL
actions.slot text NOT NULL
actions.args_hash bytea NOT NULL
actions.receipt bytea
actor_day_costs.day text COLLATE "C" NOT NULL
actor_day_costs.tenant_id text COLLATE "C" NOT NULL
actor_day_costs.actor_id text COLLATE "C" NOT NULL
actor_day_costs.model text COLLATE "C" NOT NULL
actor_day_costs.calls bigint NOT NULL
actor_day_costs.nondeterministic bigint NOT NULL
actor_day_costs.tokens_in bigint NOT NULL
actor_day_costs.tokens_out bigint NOT NULL
actor_day_costs.cost_micro_usd bigint NOT NULL
actor_day_costs.credits bigint NOT NULL
actor_day_costs.cache_hits bigint NOT NULL
actor_day_costs.cache_misses bigint NOT NULL
actor_day_costs.fuel bigint NOT NULL
actor_day_costs.wall_ms bigint NOT NULL
awaited.job bigint NOT NULL
awaited.name text COLLATE "C" NOT NULL
awaited.key text
awaited.state bigint NOT NULL
awaited.until_us bigint
claims.job bigint NOT NULL
claims.attempt bigint NOT NULL
claims.owner bigint NOT NULL
claims.claimed_us bigint NOT NULL
commits.writer text NOT NULL
commits.number bigint NOT NULL
commits.written_us bigint NOT NULL
effects.job bigint NOT NULL
effects.slot text COLLATE "C" NOT NULL
effects.try bigint NOT NULL
effects.bytes bytea NOT NULL
events.id bigint NOT NULL
events.count bigint NOT NULL
events.head bytea NOT NULL
events.bytes text NOT NULL
foreign_jobs.id bigint NOT NULL IDENTITY
foreign_jobs.job_id text COLLATE "C" NOT NULL
foreign_jobs_id_seq.last_value bigint NOT NULL
foreign_jobs_id_seq.log_cnt bigint NOT NULL
foreign_jobs_id_seq.is_called boolean NOT NULL
inbox.id bigint NOT NULL IDENTITY
inbox.job bigint NOT NULL
inbox.actor text NOT NULL
inbox.reason text
inbox.request text NOT NULL
inbox.done bigint NOT NULL
inbox.created_us bigint NOT NULL
inbox_id_seq.last_value bigint NOT NULL
inbox_id_seq.log_cnt bigint NOT NULL
inbox_id_seq.is_called boolean NOT NULL
job_costs.job bigint NOT NULL
job_costs.model text COLLATE "C" NOT NULL
job_costs.calls bigint NOT NULL
job_costs.nondeterministic bigint NOT NULL
job_costs.tokens_in bigint NOT NULL
job_costs.tokens_out bigint NOT NULL
job_costs.cost_micro_usd bigint NOT NULL
job_costs.credits bigint NOT NULL
job_costs.cache_hits bigint NOT NULL
job_costs.cache_misses bigint NOT NULL
job_costs.fuel bigint NOT NULL
job_costs.wall_ms bigint NOT NULL
job_numbers.last_value bigint NOT NULL
job_numbers.log_cnt bigint NOT NULL
job_numbers.is_called boolean NOT NULL
jobs.id bigint NOT NULL
jobs.job_id text COLLATE "C" NOT NULL
jobs.tenant_id text COLLATE "C" NOT NULL
jobs.actor_id text COLLATE "C" NOT NULL
jobs.request_key bytea NOT NULL
jobs.plan_id text NOT NULL
jobs.plan_hash bytea NOT NULL
jobs.mode text NOT NULL
jobs.secret bytea NOT NULL
jobs.created_us bigint NOT NULL
jobs.state bigint NOT NULL
jobs.attempt bigint NOT NULL
jobs.next_seq bigint NOT NULL
jobs.head bytea NOT NULL
jobs.inbox_pending bigint NOT NULL
jobs.cancel_requested bigint NOT NULL
jobs.wake_at_us bigint
jobs.lease_until_us bigint
jobs.updated_us bigint NOT NULL
jobs.priority bigint NOT NULL
kv_entries.tenant text COLLATE "C" NOT NULL
kv_entries.namespace bytea NOT NULL
kv_entries.key bytea NOT NULL
kv_entries.value bytea NOT NULL
kv_maps.tenant text COLLATE "C" NOT NULL
kv_maps.namespace bytea NOT NULL
kv_maps.bytes bigint NOT NULL
ledger.job bigint NOT NULL
ledger.slot text COLLATE "C" NOT NULL
ledger.operator text NOT NULL
ledger.args_hash bytea NOT NULL
ledger.state bigint NOT NULL
ledger.attempt bigint NOT NULL
ledger.nonce bigint NOT NULL
ledger.try bigint NOT NULL
ledger.first_attempt bigint NOT NULL
ledger.first_started_us bigint NOT NULL
ledger.world_changing bigint NOT NULL
ledger.timeout_ms bigint NOT NULL
ledger.deadline_us bigint NOT NULL
ledger.next_try_us bigint
ledger.result_hash bytea
ledger.action_key bytea
meta.id bigint NOT NULL
meta.database_id text NOT NULL
meta.generation bigint NOT NULL
meta.server text NOT NULL
meta.accepted bigint NOT NULL
meta.written bigint NOT NULL
owners.id bigint NOT NULL IDENTITY
owners.worker text NOT NULL
owners.boot_id text NOT NULL
owners.lock_path text NOT NULL
owners.lock_dev bigint NOT NULL
owners.lock_ino bigint NOT NULL
owners.lock_content text NOT NULL
owners_id_seq.last_value bigint NOT NULL
owners_id_seq.log_cnt bigint NOT NULL
owners_id_seq.is_called boolean NOT NULL
payloads.job bigint NOT NULL
payloads.label text COLLATE "C" NOT NULL
payloads.bytes bytea NOT NULL
reusables.tenant_id text COLLATE "C" NOT NULL
reusables.operator text COLLATE "C" NOT NULL
reusables.input_hash bytea NOT NULL
reusables.job bigint NOT NULL
reusables.step text NOT NULL
reusables.outcome_type text
reusables.sensitivity text
reusables.digest bytea NOT NULL
reusables.version text NOT NULL
reusables.policy bytea NOT NULL
reusables.result_type bigint NOT NULL
reusables.verified bigint NOT NULL
reusables.by_person bigint NOT NULL
reusables.output_hash bytea NOT NULL
reusables.time_us bigint NOT NULL
tenant_month_costs.month text COLLATE "C" NOT NULL
tenant_month_costs.tenant_id text COLLATE "C" NOT NULL
tenant_month_costs.model text COLLATE "C" NOT NULL
tenant_month_costs.calls bigint NOT NULL
tenant_month_costs.nondeterministic bigint NOT NULL
tenant_month_costs.tokens_in bigint NOT NULL
tenant_month_costs.tokens_out bigint NOT NULL
tenant_month_costs.cost_micro_usd bigint NOT NULL
tenant_month_costs.credits bigint NOT NULL
tenant_month_costs.cache_hits bigint NOT NULL
tenant_month_costs.cache_misses bigint NOT NULL
tenant_month_costs.fuel bigint NOT NULL
tenant_month_costs.wall_ms bigint NOT NULL
timers.job bigint NOT NULL
timers.name text COLLATE "C" NOT NULL
timers.due_us bigint NOT NULL
action_waits: PRIMARY KEY (tenant_id, operator, key, job)
actions: PRIMARY KEY (tenant_id, operator, key)
actor_day_costs: PRIMARY KEY (day, tenant_id, actor_id, model)
awaited: PRIMARY KEY (job, name)
claims: PRIMARY KEY (job, attempt)
commits: PRIMARY KEY (writer)
effects: PRIMARY KEY (job, slot, try)
events: PRIMARY KEY (id)
foreign_jobs: PRIMARY KEY (id)
foreign_jobs: UNIQUE (job_id)
inbox: PRIMARY KEY (id)
job_costs: PRIMARY KEY (job, model)
jobs: PRIMARY KEY (id)
jobs: UNIQUE (job_id)
jobs: UNIQUE (request_key)
kv_entries: PRIMARY KEY (tenant, namespace, key)
kv_maps: PRIMARY KEY (tenant, namespace)
ledger: PRIMARY KEY (job, slot)
meta: CHECK ((id = 1))
meta: PRIMARY KEY (id)
owners: PRIMARY KEY (id)
owners: UNIQUE (lock_content, boot_id, lock_dev, lock_ino, lock_path, worker)
payloads: PRIMARY KEY (job, label)
reusables: PRIMARY KEY (tenant_id, operator, input_hash)
tenant_month_costs: PRIMARY KEY (month, tenant_id, model)
timers: PRIMARY KEY (job, name)
CREATE UNIQUE INDEX action_waits_pkey ON action_waits USING btree (tenant_id, operator, key, job)
CREATE UNIQUE INDEX actions_pkey ON actions USING btree (tenant_id, operator, key)
CREATE UNIQUE INDEX actor_day_costs_pkey ON actor_day_costs USING btree (day, tenant_id, actor_id, model)
CREATE UNIQUE INDEX awaited_pkey ON awaited USING btree (job, name)
CREATE UNIQUE INDEX claims_pkey ON claims USING btree (job, attempt)
CREATE UNIQUE INDEX commits_pkey ON commits USING btree (writer)
CREATE UNIQUE INDEX effects_pkey ON effects USING btree (job, slot, try)
CREATE UNIQUE INDEX events_pkey ON events USING btree (id)
CREATE UNIQUE INDEX foreign_jobs_job_id_key ON foreign_jobs USING btree (job_id)
CREATE UNIQUE INDEX foreign_jobs_pkey ON foreign_jobs USING btree (id)
CREATE UNIQUE INDEX inbox_pkey ON inbox USING btree (id)
CREATE INDEX inbox_undone ON inbox USING btree (job) WHERE (done = 0)
CREATE UNIQUE INDEX job_costs_pkey ON job_costs USING btree (job, model)
CREATE INDEX jobs_claimable ON jobs USING btree (priority DESC, id) WHERE (state <= 2)
CREATE UNIQUE INDEX jobs_job_id_key ON jobs USING btree (job_id)
CREATE INDEX jobs_pending ON jobs USING btree (tenant_id) WHERE (state = 1)
CREATE UNIQUE INDEX jobs_pkey ON jobs USING btree (id)
CREATE UNIQUE INDEX jobs_request_key_key ON jobs USING btree (request_key)
CREATE INDEX jobs_running ON jobs USING btree (id) WHERE (state = 2)
CREATE INDEX jobs_to_audit ON jobs USING btree (id) WHERE ((inbox_pending = 1) AND (state > 5))
CREATE INDEX jobs_waking ON jobs USING btree (wake_at_us) WHERE (state = 3)
CREATE UNIQUE INDEX kv_entries_pkey ON kv_entries USING btree (tenant, namespace, key)
CREATE UNIQUE INDEX kv_maps_pkey ON kv_maps USING btree (tenant, namespace)
CREATE UNIQUE INDEX ledger_pkey ON ledger USING btree (job, slot)
CREATE UNIQUE INDEX meta_pkey ON meta USING btree (id)
CREATE UNIQUE INDEX owners_lock_content_boot_id_lock_dev_lock_ino_lock_path_wor_key ON owners USING btree (lock_content, boot_id, lock_dev, lock_ino, lock_path, worker)
CREATE UNIQUE INDEX owners_pkey ON owners USING btree (id)
CREATE UNIQUE INDEX payloads_pkey ON payloads USING btree (job, label)
CREATE UNIQUE INDEX reusables_pkey ON reusables USING btree (tenant_id, operator, input_hash)
CREATE UNIQUE INDEX tenant_month_costs_pkey ON tenant_month_costs USING btree (month, tenant_id, model)
CREATE INDEX timers_due ON timers USING btree (due_us)
CREATE UNIQUE INDEX timers_pkey ON timers USING btree (job, name)
CREATE TRIGGER inbox_put AFTER INSERT ON inbox FOR EACH ROW WHEN ((new.done = 0)) EXECUTE FUNCTION ring_inbox()
CREATE TRIGGER jobs_new AFTER INSERT ON jobs FOR EACH ROW WHEN ((new.state = 1)) EXECUTE FUNCTION ring_job()
CREATE TRIGGER jobs_pending AFTER UPDATE ON jobs FOR EACH ROW WHEN (((new.state = 1) AND (old.state <> 1))) EXECUTE FUNCTION ring_job()
CREATE TRIGGER jobs_waiting AFTER UPDATE ON jobs FOR EACH ROW WHEN (((new.state = 3) AND (old.state <> 3))) EXECUTE FUNCTION ring_job()
CREATE TRIGGER timers_armed AFTER INSERT OR UPDATE ON timers FOR EACH ROW EXECUTE FUNCTION ring_timer()
ring_inbox: 
BEGIN
    PERFORM pg_notify('latchwork_inbox', (SELECT job_id FROM jobs WHERE id = NEW.job));
    RETURN NULL;
END 
ring_job: 
BEGIN
    PERFORM pg_notify('latchwork_work', NEW.job_id);
    RETURN NULL;
END 
ring_timer: 
BEGIN
    PERFORM pg_notify('latchwork_work', '');
    RETURN NULL;
END 
