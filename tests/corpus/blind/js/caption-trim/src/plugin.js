import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer, array, optional } = schema;

const clip = (text, limit) => {
  const clean = text.replace(/\s+/g, ' ').trim();
  return clean.length <= limit ? clean : `${clean.slice(0, limit - 1).trimEnd()}…`;
};

const hashtags = (text) => [...new Set(text.match(/#\p{L}+/gu) ?? [])].map((tag) => tag.toLowerCase()).sort();

step(
  'CaptionTrim.Trim',
  {
    description: 'Cuts the caption of a photo to the length of a channel.',
    input: object({ caption: string(), limit: optional(integer({ minimum: 8, maximum: 2200 })) }),
    output: object({ caption: string(), tags: array(string()), cut: schema.boolean() }),
  },
  ({ caption, limit = 32 }) => {
    if (caption.trim() === '') throw new Failure('INVALID_INPUT', 'the caption is empty');
    const short = clip(caption, limit);
    return { caption: short, tags: hashtags(caption), cut: short.endsWith('…') };
  },
);
