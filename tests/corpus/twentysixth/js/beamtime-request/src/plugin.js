import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

const made = (key, entry) =>
  new Output(
    { request: key, begins: entry.begins, ends: entry.ends },
    {
      receipt: { request: key },
      changes: [{ resourceType: 'request', resourceId: key, operation: 'create', version: entry.filed_at }],
    },
  );

tool(
  'Beamtime.Request',
  {
    description: 'Files a request for hours at the beam of a laboratory.',
    input: object({
      station: string({ minLength: 1, maxLength: 60 }),
      begins: string({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:00Z$' }),
      hours: integer({ minimum: 1, maximum: 72 }),
    }),
    output: object({ request: string(), begins: string(), ends: string() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: 7 * 86400,
  },
  ({ station, begins, hours }, { externalKey }) => {
    const start = Date.parse(begins);
    if (Number.isNaN(start) || new Date(start).toISOString().replace('.000Z', 'Z') !== begins) throw new Failure('INVALID_INPUT', `${begins} is no time`);
    const now = Date.now();
    if (start <= now) throw new Failure('INVALID_INPUT', `${begins} has passed`);

    const kept = kv.text(`request/${externalKey}`);
    if (kept !== undefined) return made(externalKey, JSON.parse(kept));

    const entry = {
      station,
      begins,
      ends: new Date(start + hours * 3_600_000).toISOString(),
      filed_at: new Date(now).toISOString(),
    };
    kv.set(`request/${externalKey}`, JSON.stringify(entry));
    return made(externalKey, entry);
  },
);
