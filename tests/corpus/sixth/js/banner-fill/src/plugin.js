// Fills a banner with a repeated text. The list of banners gets an entry, then the banner its content.
import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

tool(
  'Banner.Fill',
  {
    description: 'Fills a banner with a text.',
    input: object({ text: string({ minLength: 1, maxLength: 500 }), times: integer({ minimum: 1, maximum: 1000 }) }),
    output: object({ banner: string(), characters: integer() }),
    effects: ['internal_write'],
    verify: ({ resourceId, version }) => {
      const found = kv.text(`content/${resourceId}`);
      if (found === undefined) return 'the banner has no content';
      return String(found.length) === version || `the banner has ${found.length} characters`;
    },
  },
  ({ text, times }, { externalKey }) => {
    if (text.trim() === '') throw new Failure('INVALID_INPUT', 'the text is empty');
    const content = Array(times).fill(text).join(' ');
    kv.set(`banner/${externalKey}`, text);
    kv.set(`content/${externalKey}`, content);
    const version = String(content.length);
    const change = { resourceType: 'banner', resourceId: externalKey, operation: 'create', version };
    return new Output({ banner: externalKey, characters: content.length }, { changes: [change] });
  },
);
