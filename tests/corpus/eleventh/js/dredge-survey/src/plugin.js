import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, number, object, string } = schema;

const ROUNDS = 4;
const PASSING = ['NETWORK_TIMEOUT', 'RATE_LIMIT', 'TEMPORARY_PROVIDER_ERROR', 'DEPENDENCY_UNAVAILABLE'];
const station = string({ minLength: 1, maxLength: 60 });

const byStation = (a, b) => (a.station < b.station ? -1 : a.station > b.station ? 1 : 0);

step(
  'Dredge.Survey',
  {
    description: 'Collects the depths of a channel from its sonar stations, and lists the stations without one.',
    input: object({ stations: array(station, { minItems: 1, maxItems: 50 }) }),
    output: object({
      surveyed_at: string(),
      rounds: integer(),
      depths: array(object({ station, depth_m: number() })),
      missing: array(object({ station, why: string() })),
    }),
    determinism: 'external',
  },
  ({ stations }) => {
    const depths = [];
    const missing = [];
    let rounds = 0;
    let open = [...new Set(stations)].map((name) => ({ station: name, why: 'not asked' }));
    while (open.length > 0 && rounds < ROUNDS) {
      rounds += 1;
      const answers = tools.callAll(open.map((one) => ({ operator: 'Sonar.Read', args: { station: one.station } })));
      const again = [];
      answers.forEach(({ ok, failure }, place) => {
        const name = open[place].station;
        if (failure) {
          (PASSING.includes(failure.code) ? again : missing).push({ station: name, why: failure.code });
        } else if (ok?.state === 'measuring') {
          again.push({ station: name, why: 'still measuring' });
        } else if (!Number.isFinite(ok?.depth_m) || Math.abs(ok.depth_m) > 12_000) {
          missing.push({ station: name, why: 'no plausible depth' });
        } else {
          depths.push({ station: name, depth_m: Math.round(ok.depth_m * 10) / 10 });
        }
      });
      open = again;
    }
    missing.push(...open);
    if (depths.length === 0) throw new Failure('DEPENDENCY_UNAVAILABLE', `none of ${missing.length} stations has a depth`);
    return { surveyed_at: new Date().toISOString(), rounds, depths: depths.sort(byStation), missing: missing.sort(byStation) };
  },
);
