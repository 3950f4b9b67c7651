// Binds the SDK to the host functions of a tool. Clock and randomness are real. Evaluated before the modules
// of the plugin.

import * as config from 'latchwork:plugin/config@0.1.0';
import * as context from 'latchwork:plugin/context@0.1.0';
import * as invocation from 'latchwork:plugin/invocation@0.1.0';
import * as kv from 'latchwork:plugin/kv@0.1.0';
import * as log from 'latchwork:plugin/log@0.1.0';
import * as secrets from 'latchwork:plugin/secrets@0.1.0';
import * as clock from 'real:clocks/wall-clock@0.2.6';
import * as random from 'real:random/random@0.2.6';

import { wellFormed } from '../failure.js';
import { bind } from '../host.js';
import { install } from '../prelude.js';
import { bytes, long } from './values.js';

const notHere = (what) => () => {
  throw new Error(`${what} is only available in steps: a tool cannot call another tool`);
};

bind({
  now() {
    const { seconds, nanoseconds } = clock.now();
    return { seconds: Number(seconds), nanoseconds };
  },
  randomU32: () => new DataView(bytes(random.getRandomBytes(long(4))).buffer).getUint32(0, true),
  randomBytes: (length) => bytes(random.getRandomBytes(long(length))),
  log: (level, message) => log.write(level, wellFormed(message)),
  context: () => context.get(),
  invocation: () => invocation.get(),
  config: (key) => config.get(key),
  secret: (name) => secrets.get(name),
  kvGet: (key) => {
    const value = kv.get(key);
    return value === undefined || value === null ? undefined : bytes(value);
  },
  kvSet: (key, value) => kv.set(key, value),
  kvDelete: (key) => kv.delete(key),
  call: notHere('tools.call'),
  callAll: notHere('tools.callAll'),
  emit: notHere('events.emit'),
});
install();
