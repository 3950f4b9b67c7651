import { kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

const change = (key, operation) => ({ resourceType: 'badge', resourceId: key, operation });

tool(
  'Badge.Print',
  {
    description: 'Puts the badge of a visitor into the tray of the printer.',
    input: object({ visitor: string({ minLength: 1, maxLength: 200 }) }),
    output: object({ badge: string() }),
    effects: ['internal_write'],
    compensate: (args, { badge }, key) => {
      try {
        kv.delete(badge);
      } catch (error) {
        console.warn(`badge ${badge} is still in the tray: ${error.message}`);
      }
      return new Output(null, { changes: [change(key, 'delete')] });
    },
  },
  ({ visitor }, { externalKey }) => {
    const badge = `tray/${externalKey}`;
    kv.set(badge, visitor);
    return new Output({ badge }, { changes: [change(externalKey, 'create')] });
  },
);
