import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const nameOf = (key, packet) => `packet/${key}/${packet}`;

/** Returns the change of one packet. The version is what `verify` compares. */
const stored = (key, packet, text) => ({
  resourceType: 'seed-packet',
  resourceId: nameOf(key, packet),
  operation: 'create',
  version: text,
});

tool(
  'Vault.Deposit',
  {
    description: 'Records the deposit of a seed bank: one entry for each packet in the boxes.',
    input: object({
      depositor: string({ minLength: 1, maxLength: 80 }),
      packets: array(
        object({
          code: string({ pattern: '^[A-Z]{2}[0-9]{1,8}$' }),
          grams: integer({ minimum: 1, maximum: 5000 }),
        }),
        // A pallet has 12 boxes, and a box has room for 100 packets.
        { minItems: 1, maxItems: 1200 },
      ),
    }),
    output: object({ deposit: string(), packets: integer(), grams: integer() }),
    effects: ['internal_write'],
    verify: ({ resourceId, version }) => {
      const text = kv.text(resourceId);
      if (text === undefined) return 'the packet is not in the register';
      return text === version || 'the packet was registered again with another weight';
    },
    compensate: (args, result, key) => {
      const names = args.packets.map(({ code }) => nameOf(key, code));
      args.packets.forEach(({ code, grams }, place) => {
        if (kv.text(names[place]) !== JSON.stringify({ code, grams })) {
          throw new Failure('POLICY_DENIED', `packet ${code} is missing or was changed`);
        }
      });
      names.forEach((name, place) => {
        if (kv.delete(name)) return;
        throw new Failure('POLICY_DENIED', `packet ${name} is missing`, { applied: place === 0 ? 'no' : 'unknown' });
      });
      return new Output({ removed: names.length });
    },
  },
  ({ depositor, packets }, context) => {
    const codes = new Set(packets.map(({ code }) => code));
    if (codes.size !== packets.length) throw new Failure('INVALID_INPUT', 'a packet is listed twice');

    const key = context.externalKey;
    const changes = [];
    let sum = 0;
    for (const { code, grams } of packets) {
      const text = JSON.stringify({ code, grams });
      kv.set(nameOf(key, code), text);
      changes.push(stored(key, code, text));
      sum += grams;
    }
    console.log(`${packets.length} packets of ${depositor} recorded`);
    const result = { deposit: key, packets: packets.length, grams: sum };
    return new Output(result, { receipt: { deposit: key, depositor }, changes });
  },
);
