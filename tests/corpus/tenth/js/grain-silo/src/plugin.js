import { Failure, kv, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

tool(
  'Silo.Draw',
  {
    description: 'Draws grain from a silo and books it out of the stock.',
    input: object({ silo: string({ pattern: '^[A-Z]\\d{1,2}$' }), kg: integer({ minimum: 1, maximum: 40000 }), truck: string() }),
    output: object({ silo: string(), kg: integer(), left_kg: integer() }),
    effects: ['internal_write'],
  },
  ({ silo, kg, truck }) => {
    // The plugin of the weighbridge enters the deliveries in the same map.
    const text = kv.text(`stock/${silo}`);
    if (text === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `there is no silo ${silo}`);
    const stock = Number(text);
    if (!Number.isSafeInteger(stock)) throw new Failure('MISSING_REQUIRED_CONTEXT', `the stock of ${silo} is "${text}"`);
    if (stock < kg) throw new Failure('POLICY_DENIED', `${silo} has only ${stock} kg`);
    const left = stock - kg;
    kv.set(`stock/${silo}`, String(left));
    console.log(`${kg} kg from ${silo} for ${truck}, ${left} kg left`);
    return { silo, kg, left_kg: left };
  },
);
