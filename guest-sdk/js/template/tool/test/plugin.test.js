import assert from 'node:assert/strict';
import test from 'node:test';

import { Host } from '../latchwork/testing.js';
import '../src/plugin.js';

test('a kept note is found by reconcile', () => {
  const host = new Host({ kv: {}, externalKey: 'latch:j:s1:1' });
  assert.equal(host.reconcile('{{Noun}}.Keep', 'latch:j:s1:1', { text: 'hello' }).tag, 'did-not-happen');
  const { result, changes } = host.invoke('{{Noun}}.Keep', { text: 'hello' });
  assert.deepEqual(result, { key: 'latch:j:s1:1' });
  assert.equal(changes.length, 1);
  assert.equal(host.reconcile('{{Noun}}.Keep', 'latch:j:s1:1', { text: 'hello' }).tag, 'happened');
});

test('without a kv grant the tool is denied', () => {
  assert.throws(() => new Host().invoke('{{Noun}}.Keep', { text: 'hello' }), { code: 'POLICY_DENIED' });
});
