// Warns the growers of a valley before a night with frost.

import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, nullable, number, object, string } = schema;

/** Further tries to read the stations, after the tries of the host. */
const ROUNDS = 2;

const grower = object({
  name: string({ minLength: 1, maxLength: 80 }),
  mail: string({ minLength: 3, maxLength: 120 }),
});

/** The addresses in lower case. A list with one address twice is refused. */
function addresses(growers) {
  const seen = new Set();
  return growers.map(({ name, mail }) => {
    const to = mail.trim().toLowerCase();
    if (!to.includes('@')) throw new Failure('INVALID_INPUT', `${name} has no mail address`);
    if (seen.has(to)) throw new Failure('INVALID_INPUT', `the address ${to} is given twice`);
    seen.add(to);
    return { name, to };
  });
}

/** The lowest forecast of the first station that answers. */
function forecast(stations, night) {
  let last;
  for (let round = 0; round < ROUNDS; round++) {
    for (const station of stations) {
      try {
        return { station, low: tools.call('Weather.Low', { station, night }).celsius };
      } catch (failure) {
        if (!(failure instanceof Failure)) throw failure;
        last = failure;
      }
    }
  }
  throw new Failure('DEPENDENCY_UNAVAILABLE', `no station has a forecast for ${night}: ${last.message}`);
}

step(
  'Frost.Warn',
  {
    description: 'Reads the forecast for a night and warns the growers by mail if there will be frost.',
    input: object({
      night: string({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' }),
      stations: array(string({ minLength: 1, maxLength: 40 }), { minItems: 1, maxItems: 4 }),
      growers: array(grower, { minItems: 1, maxItems: 200 }),
    }),
    output: object({
      station: string(),
      low: number(),
      sent: integer(),
      failed: array(object({ to: string(), code: string(), detail: nullable(string()) })),
    }),
    effects: ['external_send'],
    determinism: 'external',
  },
  ({ night, stations, growers }) => {
    const people = addresses(growers);
    const { station, low } = forecast(stations, night);
    if (low > 0) return { station, low, sent: 0, failed: [] };
    const mails = people.map(({ name, to }) => ({
      to,
      subject: `Frost in the night of ${night}`,
      body: `Dear ${name},\n\n${station} expects ${low} °C in the night of ${night}.`,
    }));
    const answers = tools.callAll(
      mails.map((args) => ({
        operator: 'Mail.Send',
        args,
        actionKey: JSON.stringify(['frost', night, args.to, args.subject, args.body]),
      })),
    );
    const failed = answers.flatMap(({ failure }, at) =>
      failure === undefined ? [] : [{ to: mails[at].to, code: failure.code, detail: failure.message || null }],
    );
    return { station, low, sent: mails.length - failed.length, failed };
  },
);
