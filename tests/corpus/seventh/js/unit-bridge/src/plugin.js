import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, number, object, string } = schema;

const quantity = object({ label: string(), value: number(), unit: string() });

/** A short reference that people can read out to the help desk. */
const reference = () => `UB-${crypto.randomUUID().slice(0, 8).toUpperCase()}`;

function converted({ value, unit }, to) {
  if (unit === to) return value;
  try {
    return tools.call('Units.Convert', { value, from: unit, to }).value;
  } catch (error) {
    if (error.code === 'INVALID_INPUT') throw new Failure('INVALID_INPUT', `${unit} cannot be converted to ${to}`);
    throw new Failure(error.code ?? 'DEPENDENCY_UNAVAILABLE', `the conversion from ${unit} to ${to} is not available`, {
      detail: { reference: reference(), unit, to },
    });
  }
}

step(
  'Units.Total',
  {
    description: 'Adds quantities in different units, with the fixed tables of the pure tool Units.Convert.',
    input: object({ quantities: array(quantity, { minItems: 1, maxItems: 50 }), unit: string() }),
    output: object({ total: number(), unit: string(), parts: array(object({ label: string(), value: number() })) }),
    determinism: 'pure',
  },
  ({ quantities, unit }) => {
    const parts = quantities.map((one) => ({ label: one.label, value: converted(one, unit) }));
    const total = parts.reduce((sum, { value }) => sum + value, 0);
    return { total: Math.round(total * 1000) / 1000, unit, parts };
  },
);
