// Reviews a water sample of a public spring, registers it, and warns the keeper of the spring.

import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, boolean, integer, object, string } = schema;

/** Limits of drinking water. */
const LIMITS = { coliforms: 0, nitrate_mg: 50, turbidity_ntu: 1 };

const sample = object({
  number: string({ minLength: 1, maxLength: 30 }),
  coliforms: integer({ minimum: 0 }),
  nitrate_mg: schema.number({ minimum: 0 }),
  turbidity_ntu: schema.number({ minimum: 0 }),
});

function exceeded(values) {
  return Object.keys(LIMITS).filter((name) => values[name] > LIMITS[name]);
}

function warning(spring, values, names) {
  const lines = names.map((name) => `- ${name}: ${values[name]}, the limit is ${LIMITS[name]}`);
  return [`Sample ${values.number} of the spring ${spring} is above the limits:`, ...lines].join('\n');
}

step(
  'Spring.Review',
  {
    description: 'Registers a water sample of a spring and warns its keeper if a limit is exceeded.',
    input: object({
      spring: string({ minLength: 1, maxLength: 80 }),
      keeper: string({ minLength: 3, maxLength: 120 }),
      sample,
    }),
    output: object({ fit_to_drink: boolean(), exceeded: array(string()), entry: string() }),
    effects: ['internal_write'],
    determinism: 'external',
  },
  ({ spring, keeper, sample: values }) => {
    if (!keeper.includes('@')) throw new Failure('INVALID_INPUT', `${keeper} is not a mail address`);
    const names = exceeded(values);
    const { number, coliforms, nitrate_mg, turbidity_ntu } = values;
    const fit = names.length === 0;
    const { entry } = tools.call(
      'Register.Note',
      { spring, sample: number, fit },
      { actionKey: JSON.stringify(['spring-sample', spring, number, fit]) },
    );
    if (!fit) {
      tools.call(
        'Mail.Send',
        { to: keeper, subject: `Warning for the spring ${spring}`, body: warning(spring, values, names) },
        { actionKey: JSON.stringify(['spring-warning', spring, keeper, number, coliforms, nitrate_mg, turbidity_ntu]) },
      );
    }
    return { fit_to_drink: fit, exceeded: names, entry };
  },
);
