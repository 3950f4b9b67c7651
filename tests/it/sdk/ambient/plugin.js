import { Failure, step } from '../latchwork/index.js';

// Captured when the module is evaluated, as a library might do.
const random = Math.random;
const now = Date.now;

class Stamp extends Date {}

step('Ambient.Look', { determinism: 'stable' }, () => {
  const at = new Date();
  if (!(at instanceof Date) || at.constructor !== Date) throw new Error('a date is no Date');
  if (new Date(0).toISOString() !== '1970-01-01T00:00:00.000Z') throw new Error('a given date is another one');
  if (!(new Stamp() instanceof Date) || new Stamp(5).getTime() !== 5) throw new Error('a class made of Date is none');
  const bytes = crypto.getRandomValues(new Uint16Array(4));
  const text = new TextDecoder().decode(new TextEncoder().encode('ä€😀'));
  if (text !== 'ä€😀') throw new Error(`${text} is not what was encoded`);
  console.warn('looking around');
  return {
    clocks: { now: now() / 1000, iso: at.toISOString(), stamp: new Stamp().getTime() },
    random: { early: random(), late: Math.random(), bytes: [...bytes], uuid: crypto.randomUUID() },
    draws: Array.from({ length: 400 }, () => Math.random()),
    fixed: { elapsed: performance.now() >= 0, called: typeof Date() },
    injected_seconds: Date.parse(at.toISOString()) / 1000,
  };
});

function deepInside() {
  throw new RangeError('the cellar is flooded');
}

step('Ambient.Fail', {}, ({ how }) => {
  if (how === 'exception') deepInside();
  if (how === 'failure') throw new Failure('AUTH_FORBIDDEN', 'no key');
  if (how === 'half') throw new Error(`half of ${'😀'.slice(0, 1)}`);
  if (how === 'several') throw new AggregateError([new Error('the first'), new TypeError('the second')], 'both');
  const itself = { deep: [] };
  itself.deep.push(itself);
  if (how === 'itself') return itself;
  if (how === 'half result') return { n: ['half of \ud83d'] };
  if (how === 'half key') return { n: { ['\ud83d']: 1 } };
  if (how === 'map') return { n: [new Map()] };
  if (how === 'nested promise') return { n: Promise.resolve(1) };
  if (how === 'error') return { n: new Error('lost') };
  if (how === 'half print') {
    console.log('half \ud83d of it', itself, new Set([1n]));
    console.group('inside');
    console.table([{ a: 1, b: 2 }]);
    console.groupEnd();
    console.assert(false, 'not so');
    console.count();
    console.time();
    console.timeEnd();
    console.dir({ n: { toJSON: () => 1 } });
    console.trace('here');
    return { n: { toJSON: () => 1 } };
  }
  if (how === 'big') return { n: 2 ** 53 };
  if (how === 'bigint') return { n: 1n };
  return { n: NaN };
});
