import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

step(
  'Tugs.Call',
  {
    description: 'Asks several companies for the price of a tugboat and books the cheapest one that accepts.',
    input: object({
      vessel: string({ minLength: 1, maxLength: 80 }),
      companies: array(string({ minLength: 1, maxLength: 80 }), { minItems: 1, maxItems: 5 }),
    }),
    output: object({ company: string(), cents: integer(), reference: string(), called_at: string() }),
    // The prices of the companies change.
    determinism: 'external',
  },
  ({ vessel, companies }) => {
    const asked = [...new Set(companies)];
    const answers = tools.callAll(asked.map((company) => ({ operator: 'Tugs.Quote', args: { vessel, company } })));
    const quotes = [];
    answers.forEach(({ ok, failure }, i) => {
      const cents = failure === undefined ? ok?.cents : undefined;
      if (Number.isSafeInteger(cents)) quotes.push({ company: asked[i], cents, place: i });
      else console.warn(`no price of ${asked[i]}: ${failure?.message ?? 'an unusable answer'}`);
    });
    quotes.sort((a, b) => a.cents - b.cents || a.place - b.place);

    const reference = `TUG-${Math.floor(Math.random() * 1e6).toString().padStart(6, '0')}`;
    for (const { company, cents } of quotes) {
      try {
        tools.call('Tugs.Book', { vessel, company, cents, reference });
        return { company, cents, reference, called_at: new Date().toISOString() };
      } catch (thrown) {
        // Another company is asked only if this one certainly has no booking.
        if (!(thrown instanceof Failure) || thrown.applied !== 'no') throw thrown;
        console.warn(`${company} did not accept: ${thrown.message}`);
      }
    }
    throw new Failure('DEPENDENCY_UNAVAILABLE', `no tugboat for ${vessel}`, { detail: { asked: asked.length, priced: quotes.length } });
  },
);
