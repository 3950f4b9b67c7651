import { events, Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer, array } = schema;

const ROUNDS = 2;

// Asks all feeds, and those that failed a second time.
function gather(feeds) {
  const found = new Map();
  for (let round = 1; round <= ROUNDS && found.size < feeds.length; round++) {
    const open = feeds.filter((feed) => !found.has(feed));
    const answers = tools.callAll(open.map((feed) => ({ operator: 'Feed.Titles', args: { feed } })));
    answers.forEach(({ ok, failure }, i) => {
      if (failure) console.warn(`round ${round}: ${open[i]}: ${failure.message}`);
      else found.set(open[i], ok.titles);
    });
  }
  return found;
}

step(
  'Feed.Outline',
  {
    description: 'Makes an outline of the titles of several feeds.',
    input: object({ feeds: array(string(), { uniqueItems: true }) }),
    output: object({ id: string(), made_at: string(), feeds: integer(), titles: array(string()) }),
    determinism: 'external',
  },
  ({ feeds }, context) => {
    const found = gather(feeds);
    if (feeds.length > 0 && found.size === 0) throw new Failure('DEPENDENCY_UNAVAILABLE', 'no feed answered');
    const titles = feeds.flatMap((feed) => found.get(feed) ?? []).map((title) => [...String(title)].slice(0, 40).join(''));
    events.emit('outline-made', { feeds: found.size, titles: titles.length });
    console.info(`made for ${context.actor}`);
    return { id: crypto.randomUUID(), made_at: new Date().toISOString(), feeds: found.size, titles };
  },
);
