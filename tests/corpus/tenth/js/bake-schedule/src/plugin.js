import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, optional, string } = schema;

const minutes = (hours) => Math.round(hours * 60);
const clock = (at) => `${String(Math.floor(at / 60)).padStart(2, '0')}:${String(at % 60).padStart(2, '0')}`;

const isoDay = (date) => date.toISOString().slice(0, 10);

step(
  'Bakery.Schedule',
  {
    description: 'Plans when the doughs of a day have to be started.',
    input: object({
      day: optional(string({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' })),
      doughs: array(object({ bread: string(), loaves: integer({ minimum: 1 }), hours: integer({ minimum: 1, maximum: 20 }) })),
      open: string({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$' }),
    }),
    output: object({ day: string(), batches: array(object({ start: string(), bread: string(), loaves: integer() })) }),
  },
  ({ day, doughs, open }) => {
    if (doughs.length === 0) throw new Failure('INVALID_INPUT', 'there is nothing to bake');
    const [h, m] = open.split(':').map(Number);
    const ready = h * 60 + m;
    const batches = doughs
      .map(({ bread, loaves, hours }) => ({ at: ready - minutes(hours), bread, loaves }))
      .sort((a, b) => a.at - b.at || (a.bread < b.bread ? -1 : Number(a.bread > b.bread)))
      .map(({ at, bread, loaves }) => ({
        // Doughs that rest overnight are started on the evening before.
        start: at < 0 ? `${clock(at + 24 * 60)} (evening before)` : clock(at),
        bread,
        loaves,
      }));
    return { day: day ?? isoDay(new Date()), batches };
  },
);
