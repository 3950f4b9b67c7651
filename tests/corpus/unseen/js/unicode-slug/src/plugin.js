import { schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

step(
  'Title.Slug',
  {
    description: 'Makes an address from a title.',
    input: object({ title: string() }),
    output: object({ slug: string(), initial: string(), code_points: integer(), parts: array(string()) }),
    determinism: 'pure',
  },
  ({ title }) => {
    const plain = title.normalize('NFKD').replace(/\p{M}+/gu, '').toLowerCase();
    const parts = plain.split(/[^\p{L}\p{N}]+/u).filter((part) => part !== '');
    // Code units give the same order everywhere.
    const sorted = [...new Set(parts)].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    const points = Array.from(title.normalize('NFC'));
    return { slug: parts.join('-'), initial: points[0] ?? '', code_points: points.length, parts: sorted };
  },
);
