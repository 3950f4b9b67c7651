// Entry point of a step component. `latch plugin build` defines the names in capitals.
import './step-host.js';
import 'latchwork-plugin-main';

import { checkRecipe, describe, run as runStep } from '../operators.js';

checkRecipe('step', []);

export const plugin = { describe: () => describe(LATCHWORK_VERSION) };
export const run = { run: runStep };
