// Draws the winners of seats. Each ticket takes part with its own random number; the highest numbers win.
import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object } = schema;

step(
  'Seat.Draw',
  {
    description: 'Draws the winners of seats.',
    input: object({ tickets: integer({ minimum: 1, maximum: 20000 }), seats: integer({ minimum: 1, maximum: 100 }) }),
    output: object({ winners: array(integer()) }),
    determinism: 'stable',
  },
  ({ tickets, seats }) => {
    if (seats > tickets) throw new Failure('INVALID_INPUT', 'there are more seats than tickets');
    let winners = [];
    for (let ticket = 1; ticket <= tickets; ticket++) {
      const number = Math.random();
      if (winners.length < seats || number > winners.at(-1).number) {
        winners.push({ ticket, number });
        winners.sort((a, b) => b.number - a.number || a.ticket - b.ticket);
        winners = winners.slice(0, seats);
      }
    }
    return { winners: winners.map(({ ticket }) => ticket) };
  },
);
