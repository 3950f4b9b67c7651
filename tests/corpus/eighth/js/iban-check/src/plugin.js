import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

// Support finds the message of a user by its reference.
const refused = (why) => {
  const reference = Math.floor(Math.random() * 0xffffff).toString(16).padStart(6, '0');
  return new Failure('INVALID_INPUT', `${why} (reference ${reference})`);
};

step(
  'Iban.Check',
  {
    description: 'Checks an IBAN and prints it in groups of four.',
    input: object({ iban: string() }),
    output: object({ country: string(), printed: string() }),
    determinism: 'pure',
  },
  ({ iban }) => {
    const plain = iban.replaceAll(' ', '').toUpperCase();
    if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(plain)) throw refused('this is no IBAN');
    const digits = [...plain.slice(4) + plain.slice(0, 4)].map((c) => parseInt(c, 36)).join('');
    let rest = 0;
    for (const digit of digits) rest = (rest * 10 + Number(digit)) % 97;
    if (rest !== 1) throw refused('the check digits are wrong');
    return { country: plain.slice(0, 2), printed: plain.match(/.{1,4}/g).join(' ') };
  },
);
