import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer, array, optional } = schema;

step(
  'Command.Depth',
  {
    description: 'Computes how many superiors each person of an organization has.',
    input: object({ people: array(object({ id: string(), boss: optional(string()) })) }),
    output: object({ deepest: string(), levels: integer() }),
    determinism: 'pure',
  },
  ({ people }) => {
    if (people.length === 0) throw new Failure('INVALID_INPUT', 'nobody works here');
    const bosses = new Map(people.map(({ id, boss }) => [id, boss]));
    const known = new Map();

    function level(id) {
      if (known.has(id)) return known.get(id);
      const boss = bosses.get(id);
      const found = boss === undefined || !bosses.has(boss) ? 0 : level(boss) + 1;
      known.set(id, found);
      return found;
    }

    let deepest = people[0].id;
    for (const { id } of people) if (level(id) > level(deepest)) deepest = id;
    return { deepest, levels: level(deepest) };
  },
);
