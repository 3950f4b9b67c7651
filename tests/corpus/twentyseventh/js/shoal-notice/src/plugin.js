import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string, boolean, number } = schema;

// Notices about shoals, by their number in the bulletin, such as 26-117.
const place = (number_) => `notice/${number_}`;
const NUMBER = string({ pattern: '^\\d{2}-\\d{1,4}$' });

/** A short fingerprint of a notice, FNV-1a over its UTF-8. */
function fingerprint(text) {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, '0');
}

function change(id, operation, version) {
  return { resourceType: 'shoal-notice', resourceId: id, operation, version };
}

/** The board is shared with the pilots' office, which may edit a notice. */
function standing({ resourceId, version }) {
  const text = kv.text(place(resourceId));
  if (text === undefined) return `notice ${resourceId} is not on the board`;
  if (version !== undefined && fingerprint(text) !== version) return `notice ${resourceId} has another text`;
  return true;
}

tool(
  'Shoal.Post',
  {
    description: 'Posts a notice about a shoal, or replaces its text.',
    input: object({
      number: NUMBER,
      position: object({ lat: number({ minimum: -90, maximum: 90 }), lon: number({ minimum: -180, maximum: 180 }) }),
      depth_m: number({ minimum: 0, maximum: 200 }),
      text: string({ minLength: 1, maxLength: 20000 }),
    }),
    output: object({ number: string(), fingerprint: string() }),
    effects: ['internal_write'],
    verify: standing,
  },
  ({ number, position, depth_m: depth, text }) => {
    const notice = `${position.lat.toFixed(4)} ${position.lon.toFixed(4)} ${depth.toFixed(1)} m\n${text.trim()}`;
    kv.set(place(number), notice);
    const version = fingerprint(notice);
    return new Output({ number, fingerprint: version }, { changes: [change(number, 'post', version)] });
  },
);

tool(
  'Shoal.Withdraw',
  {
    description: 'Takes a notice off the board.',
    input: object({ number: NUMBER }),
    output: object({ number: string(), withdrawn: boolean() }),
    effects: ['internal_write'],
    verify: standing,
  },
  ({ number }) => {
    if (kv.get(place(number)) === undefined) {
      throw new Failure('MISSING_REQUIRED_CONTEXT', `there is no notice ${number}`);
    }
    kv.delete(place(number));
    return new Output({ number, withdrawn: true }, { changes: [change(number, 'delete')] });
  },
);
