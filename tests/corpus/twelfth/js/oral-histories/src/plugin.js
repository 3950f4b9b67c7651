// Transcripts of interviews. A transcript is longer than an entry of the map, so it is kept in pages.

import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

const PAGE = 12_000; // characters, at most 48,000 bytes

const paged = (text) => {
  // Whole characters. A byte order mark at the start of a page would be lost when it is read.
  const letters = [...text].filter((letter) => letter !== '\ufeff');
  return Array.from({ length: Math.ceil(letters.length / PAGE) }, (_, n) => letters.slice(n * PAGE, (n + 1) * PAGE).join(''));
};

const head = (key) => `head#${key}`;
const page = (key, n) => `page#${key}#${n}`;

/** Runs a part of the call after its first effect: a failure then leaves the call in doubt. */
function begun(act) {
  try {
    return act();
  } catch (error) {
    if (error instanceof Failure) throw new Failure(error.code, error.message, { applied: 'unknown', cause: error });
    throw error;
  }
}

tool(
  'History.Keep',
  {
    description: 'Keeps the transcript of an interview.',
    input: object({ speaker: string({ minLength: 1, maxLength: 200 }), text: string({ maxLength: 120000 }) }),
    output: object({ transcript: string(), pages: integer() }),
    effects: ['internal_write'],
    // A repetition writes the same pages and the same head again.
    idempotentByKeySeconds: 48 * 60 * 60,
    compensate: (args, result, key) => {
      const pages = paged(args.text);
      const same = kv.text(head(key)) === JSON.stringify({ speaker: args.speaker, pages: pages.length });
      if (!same || pages.some((text, n) => kv.text(page(key, n)) !== text)) {
        throw new Failure('POLICY_DENIED', `the transcript of ${args.speaker} was changed or removed`);
      }
      // Without its head a transcript is not found any more, so the head is deleted first.
      if (!kv.delete(head(key))) throw new Failure('POLICY_DENIED', `the transcript of ${args.speaker} was removed`);
      for (let n = 0; n < pages.length; n++) {
        if (!begun(() => kv.delete(page(key, n)))) throw new Failure('POLICY_DENIED', `page ${n} was removed`, { applied: 'unknown' });
      }
      return new Output(null, { changes: [{ resourceType: 'transcript', resourceId: key, operation: 'delete' }] });
    },
  },
  ({ speaker, text }, { externalKey }) => {
    const pages = paged(text);
    if (pages.length === 0) throw new Failure('INVALID_INPUT', 'the transcript is empty');
    for (const [n, one] of pages.entries()) {
      if (n === 0) kv.set(page(externalKey, n), one);
      else begun(() => kv.set(page(externalKey, n), one));
    }
    // The head is written last: no operator reads a page of a transcript without a head.
    begun(() => kv.set(head(externalKey), JSON.stringify({ speaker, pages: pages.length })));
    return new Output(
      { transcript: externalKey, pages: pages.length },
      { receipt: { transcript: externalKey }, changes: [{ resourceType: 'transcript', resourceId: externalKey, operation: 'create' }] },
    );
  },
);

tool(
  'History.Read',
  {
    description: 'Reads a page of a transcript.',
    input: object({ transcript: string({ maxLength: 128 }), page: integer({ minimum: 0, maximum: 9 }) }),
    output: object({ speaker: string(), text: string(), pages: integer() }),
  },
  (args) => {
    const text = kv.text(head(args.transcript));
    if (text === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `there is no transcript ${args.transcript}`);
    const { speaker, pages } = JSON.parse(text);
    if (args.page >= pages) throw new Failure('INVALID_INPUT', `the transcript has ${pages} pages`);
    return { speaker, text: kv.text(page(args.transcript, args.page)) ?? '', pages };
  },
);
