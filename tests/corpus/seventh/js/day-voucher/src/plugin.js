import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

const WINDOW = 30 * 24 * 60 * 60;
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

const place = (key) => `voucher/${key}`;
const change = (key, operation, version) => ({ resourceType: 'voucher', resourceId: key, operation, version });

function load(key) {
  const text = kv.text(place(key));
  return text === undefined ? undefined : JSON.parse(text);
}

function made(key, { code, cents, made_at }) {
  return new Output({ code, cents, made_at }, { receipt: { code }, changes: [change(key, 'create', code)] });
}

function newCode() {
  const bytes = crypto.getRandomValues(new Uint8Array(10));
  return Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join('');
}

tool(
  'Voucher.Print',
  {
    description: 'Makes a voucher with a random code.',
    input: object({ holder: string({ minLength: 1, maxLength: 200 }), cents: integer({ minimum: 100, maximum: 50000 }) }),
    output: object({ code: string(), cents: integer(), made_at: string() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: WINDOW,
    reconcile: (args, key) => {
      const voucher = load(key);
      return voucher === undefined ? 'did-not-happen' : happened(made(key, voucher));
    },
    verify: ({ resourceId, version }) => {
      const voucher = load(resourceId);
      if (voucher === undefined) return 'the voucher was removed';
      return voucher.code === version || `the voucher has the code ${voucher.code}`;
    },
    compensate: (args, result, key) => {
      const voucher = load(key);
      if (voucher?.code !== result.code) throw new Failure('POLICY_DENIED', 'the voucher was removed or replaced');
      if (!kv.delete(place(key))) throw new Failure('POLICY_DENIED', 'the voucher was removed');
      return new Output(null, { changes: [change(key, 'delete')] });
    },
  },
  ({ holder, cents }, context) => {
    if (holder.trim() === '') throw new Failure('INVALID_INPUT', 'the voucher needs a holder');
    console.log(`voucher for ${context.slot}, attempt ${context.attempt}, ${context.triesBefore} tries before`);
    // The first voucher under this key stays the voucher of the call, however often the call is made.
    const known = load(context.externalKey);
    if (known !== undefined) return made(context.externalKey, known);
    const voucher = { code: newCode(), holder, cents, made_at: new Date().toISOString() };
    kv.set(place(context.externalKey), JSON.stringify(voucher));
    return made(context.externalKey, voucher);
  },
);
