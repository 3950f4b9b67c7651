// Draws the members of a tasting panel for the meads of a club evening.

import { events, Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

step(
  'Mead.Panel',
  {
    description: 'Draws a tasting panel from the members of a club.',
    input: object({ club: string({ minLength: 1 }), meads: array(string(), { minItems: 1, maxItems: 30 }), tasters: integer({ minimum: 1, maximum: 12 }) }),
    output: object({
      club: string(),
      panel: array(string()),
      flights: array(object({ mead: string(), glass: string(), first: string() })),
    }),
    // The panel is drawn with random numbers, so each job has another one.
    determinism: 'stable',
  },
  ({ club, meads, tasters }) => {
    const { members } = tools.call('Club.Members', { club });
    const able = members.filter(({ present, brewer }) => present && !brewer).map(({ name }) => name);
    if (able.length < tasters) throw new Failure('MISSING_REQUIRED_CONTEXT', `${club} has ${able.length} tasters present, not ${tasters}`);
    const panel = shuffled(able).slice(0, tasters);
    const glasses = shuffled(meads.map((_, at) => glass(at)));
    const flights = meads
      .map((mead, at) => ({ mead, glass: glasses[at], first: panel[at % panel.length] }))
      .sort((a, b) => (a.glass < b.glass ? -1 : 1));
    events.emit('panel-drawn', { club, tasters: panel.length });
    return { club, panel, flights };
  },
);

/** Two letters are enough for the meads of an evening. */
function glass(at) {
  return at < 26 ? String.fromCharCode(65 + at) : `A${String.fromCharCode(65 + at - 26)}`;
}

/** Returns a copy in random order, by Fisher and Yates. */
function shuffled(list) {
  const copy = [...list];
  for (let at = copy.length - 1; at > 0; at -= 1) {
    const other = Math.floor(Math.random() * (at + 1));
    [copy[at], copy[other]] = [copy[other], copy[at]];
  }
  return copy;
}
