// Corpus of steps written in typical JavaScript. Each Bad step breaks a rule of the checker. The Good step
// next to it looks similar and breaks no rule.

import { Failure, events, schema, step, tools } from '../../../../../guest-sdk/js/index.js';

const { object, string, integer, array, any } = schema;

const text = object({ text: string() });
const words = object({ words: array(string()) });
const of = (description, input, output, more = {}) => ({ description, input, output, ...more });

// A step that returns the time is not pure.
step('Bad.Stamp', of('Signs a text with the time.', text, text), ({ text }) => ({ text: `${text}, ${new Date().toISOString()}` }));
step('Good.Stamp', of('Signs a text with the time, and says so.', text, text, { determinism: 'stable' }), ({ text }) => ({
  text: `${text}, ${new Date().toISOString()}`,
}));

// A recursion far within the limits of the usual stack.
const depth = (n) => (n ? 1 + depth(n - 1) : 0);
const nested = Array.from({ length: 50 }).reduce((inner) => [inner], 1);
const sum = (tree) => (Array.isArray(tree) ? tree.reduce((total, branch) => total + sum(branch), 0) : tree);
step('Good.Depth', of('Counts by recursion.', text, object({ depth: integer(), sum: integer() })), () => ({
  depth: depth(100),
  sum: sum(nested),
}));

// A step that returns a random id is not pure.
step('Bad.Ticket', of('Opens a ticket.', text, text), ({ text }) => ({ text: `${text} #${crypto.randomUUID()}` }));
step('Good.Ticket', of('Opens a ticket.', text, text), ({ text }) => ({ text: `${text} #${text.length}` }));

// A step that shuffles at random is not pure.
const shuffled = (list, random) => list.map((word) => [random(), word]).sort(([a], [b]) => a - b).map(([, word]) => word);
step('Bad.Shuffle', of('Shuffles.', words, words), ({ words }) => ({ words: shuffled(words, Math.random) }));
step('Good.Shuffle', of('Shuffles, the same list always alike.', words, words), ({ words }) => {
  let seed = words.length;
  return { words: shuffled(words, () => (seed = (seed * 16807) % 2147483647)) };
});

// The cache is empty in every run, and the result depends on the cache.
const cache = new Map();
step('Bad.Cache', of('Says how long a text is.', text, object({ length: integer(), hits: integer() })), ({ text }) => {
  const entry = cache.get(text) ?? { length: text.length, hits: 0 };
  cache.set(text, { ...entry, hits: entry.hits + 1 });
  return entry;
});
const known = new Map();
step('Good.Cache', of('Says how long a text is.', text, object({ length: integer() })), ({ text }) => {
  if (!known.has(text)) known.set(text, text.length);
  return { length: known.get(text) };
});

// The list is meant to grow from run to run, but each run starts with an empty list.
const log = [];
step('Bad.Log', of('Notes a text.', text, words), ({ text }) => {
  log.push(text);
  return { words: log };
});
step('Good.Log', of('Notes a text.', text, words), ({ text }) => {
  const log = [];
  log.push(text);
  return { words: log };
});

// An async function returns a promise, and the host does not await it.
step('Bad.Async', of('Makes a text long.', text, text), async ({ text }) => ({ text: text.toUpperCase() }));
step('Good.Async', of('Makes a text long.', text, text), ({ text }) => ({ text: text.toUpperCase() }));

// Nothing awaits the promise, so the step returns before the call's answer is there.
step('Bad.Unawaited', of('Fetches a page.', text, text, { determinism: 'external' }), ({ text }) => {
  let page = { text: 'nothing' };
  Promise.resolve().then(() => (page = tools.call('Web.Fetch', { url: text })));
  return { text: page.text };
});
step('Good.Unawaited', of('Fetches a page.', text, text, { determinism: 'external' }), ({ text }) => ({
  text: tools.call('Web.Fetch', { url: text }).text,
}));

// A failed call has no answer, so the step ends with a TypeError and not with the failure.
const calls = (words) => words.map((url) => ({ operator: 'Web.Fetch', args: { url } }));
step('Bad.Pages', of('Fetches pages.', words, words, { determinism: 'external' }), ({ words }) => ({
  words: tools.callAll(calls(words)).map(({ ok }) => ok.text),
}));
step('Good.Pages', of('Fetches pages.', words, words, { determinism: 'external' }), ({ words }) => {
  const answers = tools.callAll(calls(words));
  for (const { failure } of answers) if (failure) throw failure;
  return { words: answers.map(({ ok }) => ok.text) };
});

// A step has no `process` object.
step('Bad.Region', of('Says where it runs.', text, text), ({ text }) => ({ text: `${text} in ${process.env.REGION}` }));
step('Good.Region', of('Says where it runs, if anybody knows.', text, text), ({ text }) => ({
  text: `${text} in ${globalThis.process?.env?.REGION ?? 'no region'}`,
}));

// A step has no timers.
step('Bad.Later', of('Says so later.', text, text), ({ text }) => {
  setTimeout(() => console.log(text), 1000);
  return { text };
});
step('Good.Later', of('Says so now.', text, text), ({ text }) => {
  console.log(text);
  return { text };
});

// The clock of a step does not advance while the step loops, so this loop never ends.
step('Bad.Wait', of('Waits a second.', text, text, { determinism: 'stable' }), ({ text }) => {
  const until = Date.now() + 1000;
  while (Date.now() < until);
  return { text };
});
step('Good.Wait', of('Does not wait.', text, text, { determinism: 'stable' }), ({ text }) => {
  const until = Date.now() + 1000;
  return { text: `${text} until ${until}` };
});

// The number of calls that the step makes depends on the time that the first call took.
step('Bad.Patience', of('Fetches a page.', text, any(), { determinism: 'external' }), ({ text }) => {
  const began = performance.now();
  const page = tools.call('Web.Fetch', { url: text });
  return performance.now() - began > 5000 ? tools.call('Cache.Read', { url: text }) : page;
});
step('Good.Patience', of('Fetches a page.', text, any(), { determinism: 'external' }), ({ text }) => {
  const began = performance.now();
  const page = tools.call('Web.Fetch', { url: text });
  return { page, milliseconds: performance.now() - began };
});

// The result has a string where the schema requires a number.
step('Bad.Length', of('Says how long a text is.', text, object({ length: integer() })), ({ text }) => ({ length: `${text.length}` }));
step('Good.Length', of('Says how long a text is.', text, object({ length: integer() })), ({ text }) => ({ length: text.length }));

// The mean of several lengths can be a fraction, and NaN without a word, but the schema requires an integer.
step('Bad.Mean', of('Says the mean length.', words, object({ mean: integer() })), ({ words }) => ({
  mean: words.join('').length / words.length,
}));
step('Good.Mean', of('Says the mean length.', words, object({ mean: integer() })), ({ words }) => ({
  mean: Math.round(words.join('').length / Math.max(words.length, 1)),
}));

// The name of an event must be a constant. Variable text, such as the subject of a mail, belongs in the payload.
step('Bad.Announce', of('Announces a draft.', text, text), ({ text }) => {
  events.emit(`drafted ${text}`, {});
  return { text };
});
step('Good.Announce', of('Announces a draft.', text, text), ({ text }) => {
  events.emit('drafted', { subject: text });
  return { text };
});

// Each event repeats the whole list.
step('Bad.Progress', of('Tells how far it is.', words, object({})), ({ words }) => {
  const all = words.map((word) => word.repeat(100_000));
  for (const _ of words) events.emit('progress', { all });
  return {};
});
step('Good.Progress', of('Tells how far it is.', words, object({})), ({ words }) => {
  words.forEach((_, done) => events.emit('progress', { done }));
  return {};
});

// Every object has a property "constructor", so the sum of this key begins with a function.
const entries = array(object({ role: string(), minutes: integer() }));
const totals = object({}, { additionalProperties: integer() });
step('Bad.Roles', of('Adds up minutes.', object({ entries }), totals), ({ entries }) => {
  const sums = {};
  for (const { role, minutes } of entries) sums[role] = (sums[role] ?? 0) + minutes;
  return sums;
});
step('Good.Roles', of('Adds up minutes.', object({ entries }), totals), ({ entries }) => {
  const sums = new Map();
  for (const { role, minutes } of entries) sums.set(role, (sums.get(role) ?? 0) + minutes);
  return Object.fromEntries(sums);
});

// The error of a step is final.
const waiting = (wait) => ({ text: said }) => {
  throw new Failure('TEMPORARY_PROVIDER_ERROR', `${said} is not ready`, wait);
};
step('Bad.Retry', of('Waits.', text, text), waiting({ retryAfterMs: 60_000 }));
step('Good.Retry', of('Waits.', text, text), waiting({}));
