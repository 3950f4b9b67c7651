import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, object, optional, string } = schema;

const TEXTS = {
  en: { open: 'Open from {from} to {to}', closed: 'Closed: {reason}', fallback: 'maintenance' },
  de: { open: 'Geöffnet von {from} bis {to}', closed: 'Geschlossen: {reason}', fallback: 'Wartung' },
  fr: { open: 'Ouvert de {from} à {to}', closed: 'Fermé : {reason}', fallback: 'entretien' },
};

const CLOCK = /^([01]\d|2[0-3]):[0-5]\d$/;

function fill(template, values) {
  return template.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

// "de-AT" uses the texts of "de". A language without texts gets English.
function texts(locale, context) {
  const language = locale.toLowerCase().split('-')[0];
  if (Object.hasOwn(TEXTS, language)) return TEXTS[language];
  console.warn(`no texts for ${locale} in step ${context.stepId}, English is used`);
  return TEXTS.en;
}

function minutes(clock) {
  const [hour, minute] = clock.split(':').map(Number);
  return hour * 60 + minute;
}

step(
  'Locale.Banner',
  {
    description: 'Writes the banner of a public building in several languages.',
    input: object({
      locales: array(string({ minLength: 2 }), { minItems: 1, maxItems: 100 }),
      from: optional(string()),
      to: optional(string()),
      reason: optional(string()),
    }),
    output: object({ lines: array(object({ locale: string(), text: string() })) }),
    determinism: 'pure',
  },
  (input, context) => {
    const hours = input.from !== undefined && input.to !== undefined;
    if (hours) {
      if (!CLOCK.test(input.from) || !CLOCK.test(input.to)) {
        throw new Failure('INVALID_INPUT', 'an hour has the form 09:30');
      }
      if (minutes(input.from) >= minutes(input.to)) {
        throw new Failure('INVALID_INPUT', `${input.from} is not before ${input.to}`);
      }
    }
    const lines = input.locales.map((locale) => {
      const words = texts(locale, context);
      const text = hours
        ? fill(words.open, { from: input.from, to: input.to })
        : fill(words.closed, { reason: input.reason ?? words.fallback });
      return { locale, text };
    });
    return { lines };
  },
);
