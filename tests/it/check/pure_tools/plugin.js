import { schema, secrets, tool } from '../latchwork/index.js';

const { object, string } = schema;
const words = new Map([['one', 1], ['two', 2]]);

tool(
  'Pure.Reads',
  {
    description: 'Reads what it is asked for.',
    input: object({ reads: string() }),
    output: string(),
    effects: ['read_only'],
    determinism: 'pure',
  },
  ({ reads }) => {
    if (reads === 'clock') return String(Date.now() % 2);
    if (reads === 'random') return String(Math.random());
    if (reads === 'secret') return secrets.get('TOKEN');
    console.log('working');
    return [...words.keys(), ...new Set(reads)].sort().join('') + new Date(0).toISOString();
  },
);
