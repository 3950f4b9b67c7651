import { events, Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, nullable, object, string } = schema;

const ROUNDS = 3;

/** Shuffles a copy, so that not every job asks the same mirror first. */
function shuffled(items) {
  const all = [...items];
  for (let i = all.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [all[i], all[j]] = [all[j], all[i]];
  }
  return all;
}

function fetched(mirrors, path) {
  const tried = [];
  let last;
  for (const mirror of shuffled(mirrors).slice(0, ROUNDS)) {
    tried.push(mirror);
    try {
      const page = tools.call('Mirror.Read', { mirror, path });
      if (typeof page?.text === 'string') return { mirror, text: page.text, tried };
      last = new Failure('DEPENDENCY_UNAVAILABLE', `${mirror} sent no text`);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      console.warn(`${mirror}: ${error.code}`);
      last = error;
    }
  }
  throw new Failure(last.code, `none of ${tried.length} mirrors has ${path}, the last one said: ${last.message}`);
}

step(
  'Mirror.Pick',
  {
    description: 'Fetches a release list from one of several mirrors and names its newest release.',
    input: object({ path: string(), mirrors: array(string(), { minItems: 1, maxItems: 8, uniqueItems: true }) }),
    output: object({ mirror: string(), tries: integer(), newest: nullable(string()), seen_at: string() }),
    determinism: 'external',
  },
  ({ path, mirrors }, context) => {
    const began = Date.now();
    const { mirror, text, tried } = fetched(mirrors, path);
    const releases = [...new Set(text.split('\n').map((line) => line.trim()).filter((line) => /^\d+\.\d+\.\d+$/.test(line)))];
    const parts = (release) => release.split('.').map(Number);
    releases.sort((a, b) => parts(b).map((part, i) => part - parts(a)[i]).find((difference) => difference !== 0) ?? 0);
    events.emit('mirror-picked', { mirror, job: context.jobId, took_ms: Date.now() - began });
    return { mirror, tries: tried.length, newest: releases[0] ?? null, seen_at: new Date().toISOString() };
  },
);
