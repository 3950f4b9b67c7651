import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, oneOf, string } = schema;

const GLAZES = { celadon: 1280, tenmoku: 1290, shino: 1240, majolica: 1040 };

const entryOf = (key) => `piece/${key}`;

// A mark has capital letters and digits only, because it is pressed into the clay.
function normalize(mark) {
  return mark.toUpperCase().replace(/[^A-Z0-9]/g, '');
}

function output(key, mark, glaze) {
  const change = { resourceType: 'piece', resourceId: key, operation: 'create', version: normalize(mark) };
  return new Output({ piece: key, mark, firing: GLAZES[glaze] }, { receipt: { piece: key }, changes: [change] });
}

tool(
  'Pottery.Register',
  {
    description: 'Registers a piece of pottery under the mark of its maker.',
    input: object({
      maker: string({ minLength: 1, maxLength: 120 }),
      mark: string({ minLength: 1, maxLength: 40 }),
      glaze: oneOf(...Object.keys(GLAZES)),
      grams: integer({ minimum: 1, maximum: 60000 }),
    }),
    output: object({ piece: string(), mark: string(), firing: integer() }),
    effects: ['internal_write'],
    reconcile: (args, key) =>
      kv.get(entryOf(key)) === undefined ? 'did-not-happen' : happened(output(key, args.mark, args.glaze)),
    verify: ({ resourceId, version }) => {
      const text = kv.text(entryOf(resourceId));
      if (text === undefined) return 'the piece is not registered';
      const { mark } = JSON.parse(text);
      return mark === version || `the mark is ${mark}`;
    },
  },
  (args, context) => {
    const mark = normalize(args.mark);
    if (mark.length < 2 || mark.length > 6) {
      throw new Failure('INVALID_INPUT', `the mark ${mark} does not have 2 to 6 letters and digits`);
    }
    const piece = { maker: args.maker, mark, glaze: args.glaze, grams: args.grams };
    kv.set(entryOf(context.externalKey), JSON.stringify(piece));
    return output(context.externalKey, mark, args.glaze);
  },
);
