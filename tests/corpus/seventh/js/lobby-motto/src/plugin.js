import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { boolean, nullable, object, oneOf, string } = schema;

const screen = oneOf('lobby', 'canteen', 'garage');
const place = (name) => `motto/${name}`;
const change = (name, operation, version) => ({ resourceType: 'motto', resourceId: name, operation, version });

tool(
  'Motto.Show',
  {
    description: 'Shows what a screen displays: its motto, nothing if it was blanked, or the welcome text of the house.',
    input: object({ screen }),
    output: object({ text: string(), own: boolean() }),
  },
  (args) => {
    const text = kv.text(place(args.screen));
    return text === undefined ? { text: 'Welcome!', own: false } : { text, own: true };
  },
);

tool(
  'Motto.Set',
  {
    description: 'Puts a motto on a screen. An empty text blanks the screen.',
    input: object({ screen, text: string({ maxLength: 400 }) }),
    output: object({ screen: string(), previous: nullable(string()) }),
    effects: ['internal_write'],
    verify: ({ resourceId, version }) => {
      const text = kv.text(place(resourceId));
      if (text === undefined) return 'the screen has no motto of its own any more';
      return text === version || `the screen shows "${text}"`;
    },
    compensate: (args, result) => {
      const name = place(args.screen);
      if (kv.text(name) !== args.text) throw new Failure('POLICY_DENIED', `the motto of ${args.screen} was changed since`);
      if (result.previous) {
        kv.set(name, result.previous);
        return new Output(null, { changes: [change(args.screen, 'update', result.previous)] });
      }
      kv.delete(name);
      return new Output(null, { changes: [change(args.screen, 'delete')] });
    },
  },
  (args) => {
    const previous = kv.text(place(args.screen)) ?? null;
    kv.set(place(args.screen), args.text);
    return new Output(
      { screen: args.screen, previous },
      { changes: [change(args.screen, previous === null ? 'create' : 'update', args.text)] },
    );
  },
);
