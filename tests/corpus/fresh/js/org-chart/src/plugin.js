import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, optional, string } = schema;

const DEEPEST = 40;

step(
  'Org.Levels',
  {
    description: 'Counts the people below each person, and their distance from the top.',
    input: object({ people: array(object({ id: string(), boss: optional(string()) })) }),
    output: object({ people: array(object({ id: string(), level: integer(), below: integer() })) }),
    determinism: 'pure',
  },
  ({ people }) => {
    const boss = new Map(people.map((one) => [one.id, one.boss]));
    if (boss.size < people.length) throw new Failure('INVALID_INPUT', 'two people have the same id');
    // Levels that are known already. The values are the same in whatever order they are asked.
    const levels = new Map();
    const level = (id, depth = 0) => {
      if (depth > DEEPEST) throw new Failure('INVALID_INPUT', `more than ${DEEPEST} levels above ${people[0].id}, or a circle`);
      if (!boss.has(id)) throw new Failure('INVALID_INPUT', `there is no person ${id}`);
      if (!levels.has(id)) {
        const above = boss.get(id);
        levels.set(id, above === undefined ? 0 : level(above, depth + 1) + 1);
      }
      return levels.get(id);
    };
    const below = new Map([...boss.keys()].map((id) => [id, 0]));
    for (const id of boss.keys()) {
      level(id);
      for (let above = boss.get(id); above !== undefined; above = boss.get(above)) below.set(above, below.get(above) + 1);
    }
    const made = [...boss.keys()].map((id) => ({ id, level: levels.get(id), below: below.get(id) }));
    return { people: made.sort((a, b) => a.level - b.level || (a.id < b.id ? -1 : 1)) };
  },
);
