import { config, Failure, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string, number } = schema;

// Factors to milligrams. The configuration may add units.
const FACTORS = { kg: 1e6, g: 1e3, mg: 1, mcg: 1e-3 };

tool(
  'Dose.Convert',
  {
    description: 'Converts an amount of a medicine between units.',
    input: object({ amount: number({ minimum: 0, maximum: 1e9 }), from: string(), to: string() }),
    output: object({ amount: number(), unit: string(), exact: string() }),
    effects: ['read_only'],
    determinism: 'pure',
  },
  ({ amount, from, to }) => {
    const factors = new Map(Object.entries(FACTORS));
    for (const [unit, factor] of Object.entries(config.get('units') ?? {})) {
      if (typeof factor === 'number' && factor >= 1e-9 && factor <= 1e9) factors.set(unit, factor);
    }
    for (const unit of [from, to]) {
      if (!factors.has(unit)) throw new Failure('INVALID_INPUT', `unknown unit ${unit}: use one of ${[...factors.keys()].join(', ')}`);
    }
    const converted = (amount * factors.get(from)) / factors.get(to);
    // Larger integers are passed as text alone.
    const shown = converted < 2 ** 53 ? converted : -1;
    return { amount: shown, unit: to, exact: converted.toExponential(12) };
  },
);
