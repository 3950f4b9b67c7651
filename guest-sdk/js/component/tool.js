// Entry point of a tool component. `latch plugin build` defines the names in capitals.
import './tool-host.js';
import 'latchwork-plugin-main';

import * as operators from '../operators.js';

operators.checkRecipe('tool', LATCHWORK_EXPORTS);

export const plugin = { describe: () => operators.describe(LATCHWORK_VERSION) };
export const invoke = { invoke: operators.invoke };
export const reconcile = { reconcile: operators.reconcile };
export const verify = { verify: operators.verify };
export const compensate = { compensate: operators.compensate };
