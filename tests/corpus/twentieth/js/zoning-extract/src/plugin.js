// Extracts the rules of one plot from the zoning file of a town.

import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, boolean, number, object, optional, string } = schema;

/** Splits a line such as `12/4; residential; 0.4; 9.5` into its fields. */
function fields(line) {
  return line.split(';').map((field) => field.trim());
}

function read(line, number) {
  const [plot, use, coverage, height] = fields(line);
  const rule = { plot, use, coverage: Number(coverage), height_m: Number(height) };
  if (!plot || !use || !Number.isFinite(rule.coverage) || !Number.isFinite(rule.height_m)) {
    throw new Failure('INVALID_INPUT', `line ${number} of the zoning file is not a rule`);
  }
  return rule;
}

function rules(text) {
  return text
    .split('\n')
    .map((line, at) => [line.trim(), at + 1])
    .filter(([line]) => line !== '' && !line.startsWith('#'))
    .map(([line, number]) => read(line, number));
}

step(
  'Zoning.Extract',
  {
    description: 'Extracts the zoning rules of a plot from the file of the town.',
    input: object({
      file: object({
        path: string({ minLength: 1, maxLength: 200 }),
        sha256: optional(string({ pattern: '^[0-9a-f]{64}$' })),
      }),
      plot: string({ minLength: 1, maxLength: 20 }),
    }),
    output: object({
      plot: string(),
      rules: array(object({ use: string(), coverage: number(), height_m: number() })),
      strictest_height_m: number(),
      mixed_use: boolean(),
    }),
    determinism: 'pure',
  },
  ({ file, plot }) => {
    const answer = tools.call('File.Read', { path: file.path });
    // A plan that names the digest gets the rules of exactly this edition.
    if (file.sha256 !== undefined && answer.sha256 !== file.sha256) {
      throw new Failure('INVALID_INPUT', `${file.path} is not the edition with the digest ${file.sha256}`);
    }
    const found = rules(answer.text).filter((rule) => rule.plot === plot);
    if (found.length === 0) throw new Failure('MISSING_REQUIRED_CONTEXT', `${file.path} has no rule for ${plot}`);
    return {
      plot,
      rules: found.map(({ use, coverage, height_m }) => ({ use, coverage, height_m })),
      strictest_height_m: Math.min(...found.map(({ height_m }) => height_m)),
      mixed_use: new Set(found.map(({ use }) => use)).size > 1,
    };
  },
);
