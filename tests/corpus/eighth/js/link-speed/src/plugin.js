import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { object, string, number, integer } = schema;

step(
  'Link.Measure',
  {
    description: 'Measures the speed of a link with a probe of a known size.',
    input: object({ link: string(), kilobytes: integer({ minimum: 1, maximum: 10_000 }) }),
    output: object({ link: string(), seconds: number(), kilobytes_per_second: number() }),
    determinism: 'external',
  },
  ({ link, kilobytes }) => {
    const started = Date.now();
    const probe = tools.call('Probe.Send', { link, bytes: kilobytes * 1024 });
    const seconds = (Date.now() - started) / 1000;
    if (probe.lost > 0) throw new Failure('DEPENDENCY_UNAVAILABLE', `${link} lost ${probe.lost} packets`);
    console.log(`${link}: ${kilobytes} KB in ${seconds} s`);
    return { link, seconds, kilobytes_per_second: Math.round((kilobytes / seconds) * 10) / 10 };
  },
);
