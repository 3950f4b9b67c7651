// Reminders of a bicycle workshop: written for a customer, and dropped once the bicycle was fetched.
import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

const entryOf = (reminder) => `reminder/${reminder}`;

// A short sum of an entry, which is the version of its change.
function sumOf(text) {
  let sum = 7;
  for (const character of text) sum = (sum * 33 + character.codePointAt(0)) % 4294967291;
  return sum.toString(16);
}

const change = (reminder, operation, text) => ({ resourceType: 'reminder', resourceId: reminder, operation, version: sumOf(text) });

function verify({ resourceId, version }) {
  const text = kv.text(entryOf(resourceId));
  if (text === undefined) return 'the reminder is not on the board';
  return sumOf(text) === version || 'the reminder has another text';
}

tool(
  'Reminder.Write',
  {
    description: 'Puts a reminder on the board.',
    input: object({ customer: string({ minLength: 1, maxLength: 80 }), text: string({ minLength: 1, maxLength: 4000 }) }),
    output: object({ reminder: string() }),
    effects: ['internal_write'],
    verify,
  },
  ({ customer, text }, { externalKey }) => {
    if (text.trim() === '') throw new Failure('INVALID_INPUT', 'the reminder is blank');
    const entry = JSON.stringify({ customer, text });
    kv.set(entryOf(externalKey), entry);
    return new Output({ reminder: externalKey }, { changes: [change(externalKey, 'create', entry)] });
  },
);

tool(
  'Reminder.Drop',
  {
    description: 'Takes a reminder off the board.',
    input: object({ reminder: string({ pattern: '^[A-Za-z0-9_:/~-]{1,128}$' }) }),
    output: object({ reminder: string(), customer: string() }),
    effects: ['internal_write'],
    verify,
  },
  ({ reminder }) => {
    const entry = kv.text(entryOf(reminder));
    if (entry === undefined || !kv.delete(entryOf(reminder))) throw new Failure('INVALID_INPUT', `there is no reminder ${reminder}`);
    return new Output({ reminder, customer: JSON.parse(entry).customer }, { changes: [change(reminder, 'delete', entry)] });
  },
);
