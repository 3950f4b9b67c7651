// What stands between this SDK and the host. Inside a component `component/` puts the host's
// functions here; in a test `testing.js` puts a stand-in here.

let host = null;
let running = false;

/** Put the host's functions here; gives what was there before. */
export function bind(functions) {
  const before = host;
  host = functions;
  return before;
}

/** Run `f` as part of an operator: only then is there a host to ask. */
export function during(f) {
  const before = running;
  running = true;
  try {
    return f();
  } finally {
    running = before;
  }
}

/**
 * The host. A module's own statements run once, while the component is built: what they read of
 * the world would be the same for every run ever after, so they cannot.
 */
export function ask(what) {
  if (host === null) throw new Error(`${what}: there is no host here; in a test, use Host of testing.js`);
  if (!running) {
    throw new Error(`${what} was used outside of an operator, where it would be frozen into the component: move it into the operator's function`);
  }
  return host;
}
