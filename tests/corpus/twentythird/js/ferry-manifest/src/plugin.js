import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, boolean, integer, object, string } = schema;

/** Codes with which the booking system asks for patience. */
const BUSY = new Set(['RATE_LIMIT', 'TEMPORARY_PROVIDER_ERROR', 'NETWORK_TIMEOUT']);

/** The booking system has at most this number of pages for one sailing. */
const MAX_PAGES = 40;

/** Reads one page of the bookings. The system is busy before a departure, so a busy page is asked for again. */
function readPage(sailing, page) {
  for (;;) {
    try {
      return tools.call('Booking.List', { sailing, page });
    } catch (error) {
      if (!(error instanceof Failure) || !BUSY.has(error.code)) throw error;
      console.warn(`page ${page} of ${sailing}: ${error.message}`);
    }
  }
}

/** Reads the bookings of all pages, up to the page that is marked as the last one. */
function readAll(sailing) {
  const bookings = [];
  for (let page = 1; page <= MAX_PAGES; page++) {
    const answer = readPage(sailing, page);
    if (!Array.isArray(answer?.bookings)) {
      throw new Failure('DEPENDENCY_UNAVAILABLE', `page ${page} of ${sailing} has no list of bookings`);
    }
    bookings.push(...answer.bookings);
    if (answer.last !== false) return bookings;
  }
  throw new Failure('DEPENDENCY_UNAVAILABLE', `${sailing} has more than ${MAX_PAGES} pages`);
}

const count = (value) => (Number.isInteger(value) && value >= 0 && value <= 1000 ? value : 0);

step(
  'Manifest.Write',
  {
    description: 'Writes the manifest of a ferry sailing from the bookings.',
    input: object({
      sailing: string({ pattern: '^[A-Z]{3}-[0-9]{8}-[0-9]{4}$' }),
      seats: integer({ minimum: 1, maximum: 3000 }),
      lane_metres: integer({ minimum: 0, maximum: 3000 }),
    }),
    output: object({
      sailing: string(),
      passengers: integer(),
      lane_metres: integer(),
      with_assistance: array(string()),
      unnamed: integer(),
      fits: boolean(),
    }),
    determinism: 'external',
  },
  ({ sailing, seats, lane_metres }) => {
    let passengers = 0;
    let metres = 0;
    let unnamed = 0;
    const withAssistance = [];

    for (const booking of readAll(sailing)) {
      if (booking?.cancelled === true) continue;
      passengers += count(booking?.passengers);
      metres += count(booking?.lane_metres);
      if (typeof booking?.name !== 'string' || booking.name === '') unnamed += 1;
      else if (booking.assistance === true) withAssistance.push(booking.name);
    }

    return {
      sailing,
      passengers,
      lane_metres: metres,
      with_assistance: withAssistance.sort(),
      unnamed,
      fits: passengers <= seats && metres <= lane_metres,
    };
  },
);
