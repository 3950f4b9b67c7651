// Boards at the berths of a marina. A board shows one vessel at a time, and each text has the key of the call that put
// it up.

import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, optional, string } = schema;

const boardName = (key) => `board/${key}`;
const spell = ({ berth, vessel, port, draft_cm: draft }) => ({
  berth,
  top: [...vessel.toUpperCase()].slice(0, 24).join(''),
  bottom: draft === undefined ? port : `${port} · ${(draft / 100).toFixed(2)} m`,
});

function put(board, key) {
  const version = `${board.top}|${board.bottom}`;
  return new Output(board, {
    receipt: { board: boardName(key), berth: board.berth },
    changes: [{ resourceType: 'board', resourceId: boardName(key), operation: 'create', version }],
  });
}

tool(
  'Nameboard.Put',
  {
    description: 'Puts the name of a vessel on the board of a berth.',
    input: object({
      berth: string({ pattern: '^[A-Z]\\d{1,3}$' }),
      vessel: string({ minLength: 1, maxLength: 60 }),
      port: string({ minLength: 1, maxLength: 40 }),
      draft_cm: optional(integer({ minimum: 10, maximum: 900 })),
    }),
    output: object({ berth: string(), top: string(), bottom: string() }),
    effects: ['internal_write'],

    reconcile: (args, key) => {
      const text = kv.text(boardName(key));
      return text === undefined ? 'did-not-happen' : happened(put(JSON.parse(text), key));
    },

    verify: ({ resourceId, version }) => {
      let shown;
      try {
        const board = JSON.parse(kv.text(resourceId));
        shown = `${board.top}|${board.bottom}`;
      } catch {
        // No entry, or an entry that is no board: either way, the name is not on the board any more.
        return `${resourceId} is not on any board`;
      }
      return shown === version || `the board shows ${shown}`;
    },

    compensate: (args, result, key) => {
      const text = kv.text(boardName(key));
      if (text === undefined) throw new Failure('POLICY_DENIED', `the board of ${args.berth} was taken down by somebody else`);
      if (text !== JSON.stringify(result)) throw new Failure('POLICY_DENIED', `the board of ${args.berth} was changed`);
      if (!kv.delete(boardName(key))) throw new Failure('POLICY_DENIED', `the board of ${args.berth} was taken down by somebody else`);
      return new Output(null, { changes: [{ resourceType: 'board', resourceId: boardName(key), operation: 'delete' }] });
    },
  },
  (args, context) => {
    const board = spell(args);
    if (board.top.trim() === '') throw new Failure('INVALID_INPUT', 'the vessel has no name');
    kv.set(boardName(context.externalKey), JSON.stringify(board));
    return put(board, context.externalKey);
  },
);
