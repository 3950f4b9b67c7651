import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { any, array, integer, object, string } = schema;

step(
  'Outline.Nest',
  {
    description: 'Turns a list of headings into a tree.',
    input: object({ headings: array(object({ title: string(), level: integer({ minimum: 1 }) })) }),
    output: object({ sections: array(any()) }),
    determinism: 'pure',
  },
  ({ headings }) => {
    const sections = [];
    const open = [{ level: 0, sections }];
    for (const { title, level } of headings) {
      while (open.at(-1).level >= level) open.pop();
      if (level > open.at(-1).level + 1) throw new Failure('INVALID_INPUT', `${title} skips a level`);
      const section = { title, sections: [] };
      open.at(-1).sections.push(section);
      open.push({ level, sections: section.sections });
    }
    return { sections };
  },
);
