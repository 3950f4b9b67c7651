import { Failure, happened, kv, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

const slugOf = (title) => title.toLowerCase().replace(/[^a-z0-9]+/g, '-').slice(0, 80);

tool(
  'Article.Publish',
  {
    description: 'Publishes an article under its title.',
    input: object({ title: string({ minLength: 1 }), text: string({ maxLength: 20_000 }) }),
    output: object({ slug: string() }),
    effects: ['internal_write'],
    reconcile: ({ title }, key) => {
      const slug = slugOf(title);
      return kv.text(`log/${key}`) === undefined ? 'did-not-happen' : happened({ slug });
    },
  },
  ({ title, text }, { externalKey }) => {
    const slug = slugOf(title);
    kv.set(`article/${slug}`, JSON.stringify({ title, text, by: externalKey }));
    try {
      kv.set(`log/${externalKey}`, slug);
    } catch {
      throw new Failure('DEPENDENCY_UNAVAILABLE', `the publication of ${slug} is not logged`, { applied: 'unknown' });
    }
    return { slug };
  },
);

tool(
  'Article.Read',
  {
    description: 'Reads a published article.',
    input: object({ slug: string() }),
    output: object({ title: string(), text: string() }),
    effects: ['read_only'],
  },
  ({ slug }) => {
    const article = kv.text(`article/${slug}`);
    if (article === undefined) throw new Failure('INVALID_INPUT', `there is no article ${slug}`);
    const { title, text } = JSON.parse(article);
    return { title, text };
  },
);
