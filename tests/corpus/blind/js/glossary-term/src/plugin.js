import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

const change = (key, version) => ({ resourceType: 'term', resourceId: key, operation: 'create', version });

function afterFirst(write) {
  try {
    write();
  } catch (error) {
    throw new Failure('DEPENDENCY_UNAVAILABLE', `the term was written in part: ${error.message}`, { applied: 'unknown' });
  }
}

tool(
  'GlossaryTerm.Propose',
  {
    description: 'Proposes a term of the glossary in two languages.',
    input: object({ english: string({ minLength: 1, maxLength: 500 }), german: string({ minLength: 1, maxLength: 500 }) }),
    output: object({ proposal: string() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: 3600,
    verify: ({ resourceId, version }) => {
      const found = kv.text(resourceId);
      if (found === undefined) return 'the term is missing';
      return found === version || `the term is ${found} now`;
    },
  },
  ({ english, german }, { externalKey }) => {
    if (english.trim() === '' || german.trim() === '') throw new Failure('INVALID_INPUT', 'a term is empty');
    const names = [`en/${externalKey}`, `de/${externalKey}`];
    kv.set(names[0], english);
    afterFirst(() => kv.set(names[1], german));
    return new Output({ proposal: externalKey }, { changes: [change(names[0], english), change(names[1], german)] });
  },
);
