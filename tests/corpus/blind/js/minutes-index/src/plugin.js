import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer, array } = schema;

const short = (text) => {
  const characters = [...text];
  return characters.length > 16 ? `${characters.slice(0, 15).join('')}…` : text;
};

const compare = (a, b) => (a.title < b.title ? -1 : a.title > b.title ? 1 : a.id - b.id);

step(
  'MinutesIndex.Make',
  {
    description: 'Makes an index of the minutes of meetings.',
    input: object({ meetings: array(integer(), { maxItems: 50 }) }),
    output: object({ entries: array(object({ id: integer(), title: string() })), missing: array(integer()) }),
    determinism: 'external',
  },
  ({ meetings }) => {
    const wanted = [...new Set(meetings)];
    if (wanted.length === 0) throw new Failure('INVALID_INPUT', 'no meeting is named');
    const answers = tools.callAll(wanted.map((id) => ({ operator: 'Minutes.Read', args: { id } })));
    const entries = [];
    const missing = [];
    answers.forEach(({ ok, failure }, i) => {
      if (failure || typeof ok?.title !== 'string') missing.push(wanted[i]);
      else entries.push({ id: wanted[i], title: short(ok.title) });
    });
    if (entries.length === 0) throw new Failure('DEPENDENCY_UNAVAILABLE', 'no minutes could be read');
    return { entries: entries.sort(compare), missing };
  },
);
