// Takes the orders of a bindery: first the work sheet, then the ticket that puts it into the queue.

import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { array, boolean, integer, nullable, object, oneOf, string } = schema;

const sheetOf = (key) => `sheet/${key}`;
const ticketOf = (key) => `ticket/${key}`;
const change = (key, operation, version) => ({ resourceType: 'ticket', resourceId: key, operation, version });

const volume = object({
  title: string({ minLength: 1, maxLength: 120 }),
  pages: integer({ minimum: 1, maximum: 2000 }),
});

/** Returns the ticket of an order, or undefined if there is none. */
function ticketAt(key) {
  const text = kv.text(ticketOf(key));
  return text === undefined ? undefined : JSON.parse(text);
}

function taken(key, { pages, taken_at }) {
  return new Output({ code: key, pages, taken_at }, { changes: [change(key, 'create', taken_at)] });
}

/** Runs a later part of a change. Its failures leave the first part in place. */
function later(part, f) {
  try {
    return f();
  } catch (error) {
    throw new Failure('DEPENDENCY_UNAVAILABLE', `${part}: ${error.message}`, { applied: 'unknown' });
  }
}

tool(
  'Bindery.Order',
  {
    description: 'Takes an order for volumes, and gives it a ticket.',
    input: object({ cover: oneOf('cloth', 'leather', 'paper'), volumes: array(volume, { minItems: 1, maxItems: 60 }) }),
    output: object({ code: string(), pages: integer(), taken_at: string() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const ticket = ticketAt(key);
      return ticket === undefined ? 'did-not-happen' : happened(taken(key, ticket));
    },
    compensate: (args, result, key) => {
      if (ticketAt(key)?.taken_at !== result.taken_at || kv.get(sheetOf(key)) === undefined) {
        throw new Failure('POLICY_DENIED', 'the ticket or its sheet is no longer in the queue');
      }
      if (!kv.delete(ticketOf(key))) throw new Failure('POLICY_DENIED', 'the ticket was taken out of the queue');
      if (!later('the sheet', () => kv.delete(sheetOf(key)))) {
        throw new Failure('POLICY_DENIED', 'the ticket was deleted, and its sheet is missing', { applied: 'unknown' });
      }
      return new Output(null, { changes: [change(key, 'delete')] });
    },
  },
  ({ cover, volumes }, context) => {
    const thick = volumes.find(({ pages }) => pages > 900);
    if (cover === 'paper' && thick) throw new Failure('INVALID_INPUT', `${thick.title} is too thick for a paper cover`);
    const key = context.externalKey;
    const ticket = { pages: volumes.reduce((sum, { pages }) => sum + pages, 0), taken_at: new Date().toISOString() };
    kv.set(sheetOf(key), JSON.stringify({ cover, volumes }));
    later('the ticket', () => kv.set(ticketOf(key), JSON.stringify(ticket)));
    return taken(key, ticket);
  },
);

tool(
  'Bindery.Look',
  {
    description: 'Returns the work sheet of an order in the queue.',
    input: object({ code: string({ minLength: 1, maxLength: 128 }) }),
    output: object({ queued: boolean(), cover: nullable(string()), titles: array(string()) }),
    effects: ['read_only'],
  },
  ({ code }) => {
    const sheet = ticketAt(code) === undefined ? undefined : kv.text(sheetOf(code));
    if (sheet === undefined) return { queued: false, cover: null, titles: [] };
    const { cover, volumes } = JSON.parse(sheet);
    return { queued: true, cover, titles: volumes.map(({ title }) => title) };
  },
);
