import { schema, step } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

// FNV-1a with 32 bits.
function hash(text) {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return value;
}

step(
  'Mail.Subject',
  {
    description: 'Writes the subject of a sales mail.',
    input: object({ product: string(), percent: integer({ minimum: 0, maximum: 90 }) }),
    output: object({ subject: string() }),
    determinism: 'pure',
  },
  ({ product, percent }, context) => {
    // A twentieth of the jobs gets the text that is under test.
    const tested = hash(context.jobId) % 20 === 0;
    const offer = percent === 0 ? 'is here' : `is ${percent} % off`;
    return { subject: tested ? `Just for you: ${product} ${offer}!` : `${product} ${offer}` };
  },
);
