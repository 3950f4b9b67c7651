import { events, step, tools } from '../latchwork/index.js';

step('Walk.There', { determinism: 'stable' }, () => {
  const id = crypto.randomUUID();
  const at = Date.now() / 1000;
  const first = tools.call('MadeJsTool.Keep', { text: `${id} at ${at}` });
  events.emit('halfway', { id });
  const dice = Math.random();
  const second = tools.call('MadeJsTool.Keep', { text: `${dice} after ${first.key}` });
  return { id, at, dice, until: Date.now() / 1000, keys: [first.key, second.key] };
});
