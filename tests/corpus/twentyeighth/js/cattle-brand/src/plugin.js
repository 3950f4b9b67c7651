// Register of cattle brands of a county. A brand is registered once, under the key of its call.

import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string, oneOf } = schema;

const pageOf = (key) => `brand/${key}`;
const MARK = /^[A-Z0-9/~+-]{1,8}$/;

function page(key) {
  const text = kv.text(pageOf(key));
  return text === undefined ? undefined : JSON.parse(text);
}

tool(
  'Brand.Register',
  {
    description: 'Registers the brand of a ranch.',
    input: object({
      mark: string({ minLength: 1, maxLength: 20 }),
      ranch: string({ minLength: 1, maxLength: 200 }),
      place: oneOf('left hip', 'right hip', 'left shoulder', 'right shoulder'),
      boundaries: string({ maxLength: 6000 }),
    }),
    output: object({ brand: string(), mark: string(), registered: string() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: 30 * 24 * 60 * 60,
    // The date of registration is written once and identifies the state of the page.
    verify: ({ resourceId, version }) => {
      const found = page(resourceId);
      if (found === undefined) return 'the page is missing';
      return found.registered === version || `the page was registered at ${found.registered}`;
    },
  },
  (args, context) => {
    const mark = args.mark.trim().toUpperCase();
    if (!MARK.test(mark)) throw new Failure('INVALID_INPUT', `${args.mark} is no brand: use 1 to 8 letters, digits, / ~ + -`);
    const key = context.externalKey;
    const registered = new Date().toISOString();
    const receipt = { register: 'county', brand: key };
    const changes = [{ resourceType: 'brand', resourceId: key, operation: 'create', version: registered }];
    // A repetition keeps the page, with the date of the first try.
    const kept = page(key);
    if (kept !== undefined) return new Output({ brand: key, mark: kept.mark, registered: kept.registered }, { receipt, changes });
    kv.set(pageOf(key), JSON.stringify({ mark, ranch: args.ranch, place: args.place, boundaries: args.boundaries, registered }));
    return new Output({ brand: key, mark, registered }, { receipt, changes });
  },
);
