// Grades a refrigerated shipment by the readings of its temperature logger.
import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, oneOf, string } = schema;

// Tenths of a degree Celsius. Goods above LIMIT are out of the cold chain.
const LIMIT = 80;
const SENSOR = { lowest: -600, highest: 600 };

// The claims desk sorts refused loggers by row and by the moment of the refusal.
const refused = (row, why) =>
  new Failure('INVALID_INPUT', `reading ${row + 1}: ${why}`, { detail: { row: row + 1, refused_at: new Date().toISOString() } });

step(
  'Shipment.Grade',
  {
    description: 'Grades a shipment by the minutes that it spent above the limit.',
    input: object({
      shipment: string({ minLength: 1, maxLength: 40 }),
      readings: array(object({ minute: integer({ minimum: 0, maximum: 100000 }), tenths: integer({ minimum: -9999, maximum: 9999 }) }), {
        minItems: 2,
        maxItems: 5000,
      }),
    }),
    output: object({ shipment: string(), grade: oneOf('A', 'B', 'C'), minutes_above: integer(), highest_tenths: integer() }),
  },
  ({ shipment, readings }) => {
    let above = 0;
    let highest = SENSOR.lowest;
    readings.forEach(({ minute, tenths }, row) => {
      if (tenths < SENSOR.lowest || tenths > SENSOR.highest) throw refused(row, `${tenths} is outside the range of the sensor`);
      const before = readings[row - 1];
      if (before !== undefined) {
        if (minute <= before.minute) throw refused(row, `minute ${minute} does not follow minute ${before.minute}`);
        if (before.tenths > LIMIT) above += minute - before.minute;
      }
      highest = Math.max(highest, tenths);
    });
    const grade = above === 0 ? 'A' : above <= 30 ? 'B' : 'C';
    return { shipment, grade, minutes_above: above, highest_tenths: highest };
  },
);
