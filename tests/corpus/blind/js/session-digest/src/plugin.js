import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer, array } = schema;

step(
  'SessionDigest.Write',
  {
    description: 'Writes the digest of a session of a conference.',
    input: object({ session: string(), talks: array(integer()) }),
    output: object({ title: string(), lines: array(string()), minutes: integer() }),
    determinism: 'external',
  },
  ({ session, talks }) => {
    if (talks.length === 0) throw new Failure('INVALID_INPUT', 'the session has no talks');
    const answers = tools.callAll(talks.map((id) => ({ operator: 'Talk.Get', args: { id } })));
    const found = answers.map(({ ok }) => ({ title: ok.title, speaker: ok.speaker ?? 'N. N.', minutes: ok.minutes ?? 0 }));
    found.sort((a, b) => (a.title < b.title ? -1 : a.title > b.title ? 1 : 0));
    return {
      title: `${session} (${found.length})`,
      lines: found.map(({ title, speaker }) => `${title}, ${speaker}`),
      minutes: found.reduce((sum, one) => sum + one.minutes, 0),
    };
  },
);
