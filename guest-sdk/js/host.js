// Connects this SDK to the host. In a component, `component/` binds the host's functions. In a test,
// `testing.js` binds a test host.

let host = null;
let running = false;

/** Binds the host's functions. Returns the previously bound functions. */
export function bind(functions) {
  const before = host;
  host = functions;
  return before;
}

/** Runs `f` as part of an operator. The host is available only while `f` runs. */
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
 * Returns the bound host. Throws outside of an operator.
 *
 * The top-level statements of a module run once, while the component is built. A value that they read from the host
 * would be the same in every run.
 */
export function ask(what) {
  if (host === null) throw new Error(`${what}: no host outside of a component; in a test, use Host of testing.js`);
  if (!running) {
    throw new Error(`${what} was used outside of an operator, where it would be frozen into the component: move it into the operator's function`);
  }
  return host;
}
