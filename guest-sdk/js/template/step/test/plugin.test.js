import assert from 'node:assert/strict';
import test from 'node:test';

import { Host } from '../latchwork/testing.js';
import '../src/plugin.js';

test('greets a person by name', () => {
  const host = new Host();
  const { greeting, id } = host.run('{{Noun}}.Greet', { name: 'Ada' });
  assert.equal(greeting, 'Hello, Ada!');
  assert.match(id, /^[0-9a-f-]{36}$/);
  assert.deepEqual(host.logs, [['info', 'greeting Ada for ada']]);
});

test('rejects an empty name', () => {
  assert.throws(() => new Host().run('{{Noun}}.Greet', { name: ' ' }), { code: 'INVALID_INPUT' });
});
