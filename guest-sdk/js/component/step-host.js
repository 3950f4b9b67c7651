// Binds the SDK to the host functions of a step. Evaluated before the modules of the plugin.

import * as clock from 'latchwork:plugin/clock@0.1.0';
import * as context from 'latchwork:plugin/context@0.1.0';
import * as events from 'latchwork:plugin/events@0.1.0';
import * as log from 'latchwork:plugin/log@0.1.0';
import * as rng from 'latchwork:plugin/rng@0.1.0';
import * as tools from 'latchwork:plugin/tools@0.1.0';

import { wellFormed } from '../failure.js';
import { bind } from '../host.js';
import { install } from '../prelude.js';
import { answers, bytes } from './values.js';

const notHere = (what) => () => {
  throw new Error(`${what} is only available in tools: a step accesses the outside world with tools.call`);
};

bind({
  now() {
    const { seconds, nanoseconds } = clock.now();
    return { seconds: Number(seconds), nanoseconds };
  },
  // The engine returns numbers of 2^31 and more as negative numbers.
  randomU32: () => rng.nextU32() >>> 0,
  randomBytes: (length) => bytes(rng.bytes(length)),
  log: (level, message) => log.write(level, wellFormed(message)),
  context: () => context.get(),
  call: (operator, args, actionKey) => tools.call(operator, args, actionKey),
  callAll: (calls) => tools.callAll(calls).map(answers),
  emit: (name, payload) => events.emit(name, payload),
  invocation: notHere('the context of a call'),
  config: notHere('config'),
  secret: notHere('secrets'),
  kvGet: notHere('kv'),
  kvSet: notHere('kv'),
  kvDelete: notHere('kv'),
});
install();
