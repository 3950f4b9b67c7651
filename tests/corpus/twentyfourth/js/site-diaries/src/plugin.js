// Daily diaries of building sites. A diary has a page for the day and, if wanted, an annex with the list of photographs.
import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, optional, string } = schema;

const pageOf = (diary) => `page/${diary}`;
const annexOf = (diary) => `annex/${diary}`;

tool(
  'Diary.File',
  {
    description: 'Files the diary of one day.',
    input: object({
      site: string({ minLength: 1, maxLength: 80 }),
      day: string({ pattern: '^20[0-9]{2}-[0-9]{2}-[0-9]{2}$' }),
      summary: string({ minLength: 1, maxLength: 4000 }),
      annex: optional(string({ maxLength: 200000 })),
    }),
    output: object({ diary: string(), characters: integer() }),
    effects: ['internal_write'],
  },
  ({ site, day, summary, annex }, { externalKey }) => {
    if (summary.trim() === '') throw new Failure('INVALID_INPUT', 'the summary is blank');
    kv.set(pageOf(externalKey), JSON.stringify({ site, day, summary, annex: annex !== undefined }));
    if (annex !== undefined) kv.set(annexOf(externalKey), JSON.stringify({ annex }));
    return new Output(
      { diary: externalKey, characters: summary.length + (annex?.length ?? 0) },
      { changes: [{ resourceType: 'diary', resourceId: externalKey, operation: 'create' }] },
    );
  },
);

tool(
  'Diary.Read',
  {
    description: 'Reads the page of a diary.',
    input: object({ diary: string({ pattern: '^[A-Za-z0-9_:/~-]{1,128}$' }) }),
    output: object({ site: string(), day: string(), summary: string() }),
  },
  ({ diary }) => {
    const text = kv.text(pageOf(diary));
    if (text === undefined) throw new Failure('INVALID_INPUT', `there is no diary ${diary}`);
    const { site, day, summary } = JSON.parse(text);
    return { site, day, summary };
  },
);
