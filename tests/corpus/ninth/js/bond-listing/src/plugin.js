import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, object, string, integer, number } = schema;

step(
  'Bond.List',
  {
    description: 'Lists the bonds of an issuer by their maturity.',
    input: object({ issuer: string({ minLength: 1, maxLength: 80 }), most: integer({ minimum: 1, maximum: 500 }) }),
    output: object({
      bonds: array(object({ isin: string(), matures: string(), coupon: number() })),
      pages: integer(),
      failed: integer(),
    }),
    determinism: 'external',
  },
  (input) => {
    const bonds = [];
    let page = 1;
    let failed = 0;
    let more = true;
    while (more && bonds.length < input.most) {
      let answer;
      try {
        answer = tools.call('Exchange.Bonds', { issuer: input.issuer, page });
      } catch (failure) {
        if (failure.code === 'INVALID_INPUT' || failure.code === 'AUTH_FORBIDDEN') throw failure;
        // The exchange is often busy at the close.
        console.warn(`page ${page}: ${failure.message}`);
        failed += 1;
        continue;
      }
      if (!Array.isArray(answer.bonds)) {
        throw new Failure('SCHEMA_VALIDATION_FAILED', `page ${page} has no list of bonds`);
      }
      for (const { isin, matures, coupon } of answer.bonds) {
        bonds.push({ isin: String(isin), matures: String(matures), coupon: Number(coupon) || 0 });
      }
      more = answer.bonds.length > 0 && answer.more === true;
      page += 1;
    }
    bonds.sort((a, b) => (a.matures < b.matures ? -1 : a.matures > b.matures ? 1 : 0));
    return { bonds: bonds.slice(0, input.most), pages: page - 1, failed };
  },
);
