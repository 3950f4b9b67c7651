// Step in plain JavaScript, for both engines: QuickJS and StarlingMonkey. Reads every source of input that a
// program can read.
import { call } from 'latchwork:plugin/tools@0.1.0';
import { now } from 'latchwork:plugin/clock@0.1.0';

export const plugin = {
  describe() {
    return {
      version: '1.0.0',
      operators: [
        {
          name: 'Stock.Script',
          description: 'Reads every source of input.',
          inputSchema: '{"type":"object"}',
          outputSchema: 'true',
          effects: ['read-only'],
          determinism: 'pure',
          resolution: { idempotentByKeySeconds: 0, settlingMs: 0 },
          limits: {},
        },
      ],
    };
  },
};

/// Returns the result of `look`, or null if the engine has no global with this name.
function probe(name, look) {
  if (typeof globalThis[name] === 'undefined') return null;
  return look();
}

export const run = {
  run(operator, input) {
    const told = JSON.parse(input);
    if (told.fetch) fetch('https://example.com/');
    const began = Date.now();
    const answer = told.call ? call(told.call, '{"note":1}', undefined) : null;
    const heard = Date.now();
    let loops = 0;
    for (const until = Date.now() + 2; Date.now() < until; ) loops += 1;
    const instant = now();
    probe('console', () => console.log('to standard output'));
    probe('console', () => console.error('to standard error'));
    return JSON.stringify({
      began,
      heard,
      loops,
      injected: [Number(instant.seconds), instant.nanoseconds],
      today: new Date().toISOString(),
      zone: new Date(0).getTimezoneOffset(),
      random: Math.random(),
      performance: probe('performance', () => performance.now() <= performance.now()),
      bytes: probe('crypto', () => Array.from(crypto.getRandomValues(new Uint8Array(8)))),
      uuid: probe('crypto', () => crypto.randomUUID()),
      objects: probe('Headers', () => [...new Headers({ a: 'b' })].concat(new URL('https://example.com/x').pathname)),
      answer,
    });
  },
};
