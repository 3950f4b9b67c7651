// Keeps the state of repairs in a workshop for sewing machines.

import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, oneOf, string } = schema;

const NUMBER = string({ pattern: '^R-[0-9]{1,6}$' });
const nameOf = (number) => `repair/${number}`;

function write(number, state) {
  kv.set(nameOf(number), JSON.stringify(state));
}

/** Compares the state of a repair with the state that a change recorded. */
function check({ resourceId, version }) {
  const text = kv.text(nameOf(resourceId));
  if (text === undefined) return `the repair ${resourceId} is not in the book`;
  const { state } = JSON.parse(text);
  return state === version || `the repair ${resourceId} is ${state}`;
}

tool(
  'Repair.Accept',
  {
    description: 'Accepts a sewing machine for repair.',
    input: object({
      number: NUMBER,
      machine: string({ minLength: 1, maxLength: 80 }),
      fault: string({ minLength: 1, maxLength: 400 }),
    }),
    output: object({ number: string(), state: oneOf('accepted') }),
    effects: ['internal_write'],
    verify: check,
  },
  ({ number, machine, fault }) => {
    if (machine.trim() === '') throw new Failure('INVALID_INPUT', 'the name of the machine is blank');
    write(number, { state: 'accepted', machine, fault });
    return new Output(
      { number, state: 'accepted' },
      { changes: [{ resourceType: 'repair', resourceId: number, operation: 'create', version: 'accepted' }] },
    );
  },
);

tool(
  'Repair.Bill',
  {
    description: 'Marks a repair as billed, with the work that was done.',
    input: object({
      number: NUMBER,
      work: string({ minLength: 1, maxLength: 400 }),
      cents: integer({ minimum: 0, maximum: 1000000 }),
    }),
    output: object({ number: string(), state: oneOf('billed'), cents: integer() }),
    effects: ['internal_write'],
    verify: check,
  },
  ({ number, work, cents }) => {
    if (work.trim() === '') throw new Failure('INVALID_INPUT', 'the bill names no work');
    write(number, { state: 'billed', work, cents });
    return new Output(
      { number, state: 'billed', cents },
      { changes: [{ resourceType: 'bill', resourceId: number, operation: 'update', version: 'billed' }] },
    );
  },
);
