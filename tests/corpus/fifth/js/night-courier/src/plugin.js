// Asks for the price of a delivery. The price list of the day and that of the night are two operators with equal
// answers in this season, so that the price follows from the weight.
import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { integer, number, object } = schema;

const isNight = (hour) => hour < 6 || hour >= 20;

step(
  'Delivery.Price',
  {
    description: 'Asks for the price of a delivery.',
    input: object({ kilograms: number() }),
    output: object({ cents: integer() }),
    determinism: 'pure',
  },
  ({ kilograms }) => {
    if (!(kilograms > 0)) throw new Failure('INVALID_INPUT', 'the weight is not above 0');
    const list = isNight(new Date().getUTCHours()) ? 'Courier.NightPrice' : 'Courier.DayPrice';
    const { cents } = tools.call(list, { kilograms: Math.ceil(kilograms) });
    return { cents };
  },
);
