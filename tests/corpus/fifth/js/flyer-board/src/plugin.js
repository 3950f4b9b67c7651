// Puts a flyer on the board of a club. The map has one entry for each call.
import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

const entry = (key) => `flyer/${key}`;
const posted = (key, title, text) =>
  new Output(
    { flyer: key, title },
    { changes: [{ resourceType: 'flyer', resourceId: entry(key), operation: 'create', version: text }] },
  );

tool(
  'Flyer.Post',
  {
    description: 'Puts a flyer on the board of a club.',
    input: object({ title: string({ maxLength: 200 }), day: string({ maxLength: 10 }) }),
    output: object({ flyer: string(), title: string() }),
    effects: ['internal_write'],
    // Called after a crash: finds out whether the call happened.
    reconcile: (args, key) => {
      const text = kv.text(entry(key));
      return text === undefined ? 'did-not-happen' : happened(posted(key, JSON.parse(text).title, text));
    },
    // Called when a job is resumed.
    verify: ({ resourceId, version }) => {
      const text = kv.text(resourceId);
      if (text === undefined) return 'the flyer is missing';
      return text === version || 'the flyer has another text';
    },
  },
  ({ title, day }, { externalKey }) => {
    if (title.trim() === '') throw new Failure('INVALID_INPUT', 'the title is empty');
    const text = JSON.stringify({ title: title.replace(/\s+/g, ' ').trim(), day });
    kv.set(entry(externalKey), text);
    return posted(externalKey, title, text);
  },
);
