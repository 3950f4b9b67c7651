import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

/** Returns a uniform whole number from 0 to bound - 1. */
const below = (bound) => Math.floor(Math.random() * bound);

/** Shuffles the list in place, so that every order is equally likely. */
function shuffle(list) {
  for (let last = list.length - 1; last > 0; last--) {
    const other = below(last + 1);
    [list[last], list[other]] = [list[other], list[last]];
  }
}

step(
  'Draw.Hold',
  {
    description: 'Draws the prizes of a club evening among the tickets that were sold, and a waiting list after them.',
    input: object({
      evening: string({ minLength: 1, maxLength: 60 }),
      // Ticket books have 8,000 numbers.
      tickets: array(integer({ minimum: 1, maximum: 8000 }), { minItems: 1, maxItems: 8000 }),
      prizes: array(string({ minLength: 1, maxLength: 60 }), { minItems: 1, maxItems: 50 }),
    }),
    output: object({
      evening: string(),
      winners: array(object({ prize: string(), ticket: integer() })),
      waiting: array(integer()),
      sold: integer(),
      drawn_at: string(),
    }),
    // The order of the tickets and the time differ between jobs.
    determinism: 'stable',
  },
  (input) => {
    const { evening, prizes } = input;
    const tickets = [...input.tickets];
    const seen = new Set();
    for (const ticket of tickets) {
      if (seen.has(ticket)) throw new Failure('INVALID_INPUT', `ticket ${ticket} is listed twice`);
      seen.add(ticket);
    }
    if (tickets.length < prizes.length) {
      throw new Failure('INVALID_INPUT', `${prizes.length} prizes, but only ${tickets.length} tickets were sold`);
    }

    shuffle(tickets);
    const winners = prizes.map((prize, place) => ({ prize, ticket: tickets[place] }));
    // A prize that is not collected goes to the first ticket of the waiting list.
    const waiting = tickets.slice(prizes.length, prizes.length + 20);
    console.log(`${winners.length} prizes drawn among ${tickets.length} tickets`);
    return { evening, winners, waiting, sold: tickets.length, drawn_at: new Date().toISOString() };
  },
);
