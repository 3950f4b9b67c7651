import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { nullable, number, object, string } = schema;

const visit = (key) => `visit/${key}`;
const latest = (hive) => `latest/${hive}`;

function save(name, value) {
  try {
    kv.set(name, JSON.stringify(value));
  } catch (error) {
    throw new Failure('TRANSIENT_DB_LOCK', `the diary is busy (${error.message})`, { retryAfterMs: 2000, cause: error });
  }
}

function load(name) {
  const text = kv.text(name);
  return text === undefined ? null : JSON.parse(text);
}

tool(
  'Hive.Note',
  {
    description: 'Enters a visit of a bee hive into the diary and makes it the latest one of the hive.',
    input: object({
      hive: string({ pattern: '^[a-z0-9-]{1,40}$' }),
      day: string({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
      weight_kg: number({ minimum: 0, maximum: 200 }),
      remark: string({ maxLength: 2000 }),
    }),
    output: object({ visit: string(), hive: string() }),
    effects: ['internal_write'],
    verify: ({ resourceId, version }) => {
      const found = load(visit(resourceId));
      if (found === null) return 'the visit is not in the diary any more';
      return found.day === version || `the diary has the visit on ${found.day}`;
    },
  },
  ({ hive, day, weight_kg, remark }, { externalKey }) => {
    if (Number.isNaN(Date.parse(`${day}T00:00:00Z`))) throw new Failure('INVALID_INPUT', `${day} is no day`);
    save(latest(hive), { visit: externalKey, day, weight_kg });
    save(visit(externalKey), { hive, day, weight_kg, remark });
    return new Output(
      { visit: externalKey, hive },
      { changes: [{ resourceType: 'visit', resourceId: externalKey, operation: 'create', version: day }] },
    );
  },
);

tool(
  'Hive.Latest',
  {
    description: 'Reads the latest visit of a hive.',
    input: object({ hive: string() }),
    output: object({ day: nullable(string()), weight_kg: nullable(number()) }),
  },
  ({ hive }) => {
    const found = load(latest(hive));
    return { day: found?.day ?? null, weight_kg: found?.weight_kg ?? null };
  },
);
