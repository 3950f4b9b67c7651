import { Failure, kv, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, oneOf, string } = schema;

/** Bolt circles of the common flanges, in millimeters by nominal width. */
const CIRCLES = { 25: 85, 40: 110, 50: 125, 80: 160, 100: 180, 150: 240 };

/** Pressure in bar up to which a material may be used. */
const RATING = { rubber: 10, fiber: 25, graphite: 100 };

/** Returns the ring of a flange. The workshop can keep rings of its own in the map, as `inner x outer x thickness`. */
function ring(width, material) {
  const own = kv.text(`ring/${width}/${material}`);
  if (own !== undefined) {
    const sizes = own.split('x').map((part) => Number(part.trim()));
    if (sizes.length !== 3 || sizes.some((size) => !Number.isInteger(size) || size <= 0)) {
      throw new Failure('MISSING_REQUIRED_CONTEXT', `the ring ${width} of ${material} in the map has no valid sizes`);
    }
    return { inner: sizes[0], outer: sizes[1], thickness: sizes[2] };
  }
  return { inner: width + 8, outer: CIRCLES[width] - 18, thickness: material === 'rubber' ? 3 : 2 };
}

tool(
  'Gasket.Size',
  {
    description: 'Gives the sizes of the gasket for a flange.',
    input: object({
      width: oneOf(25, 40, 50, 80, 100, 150),
      material: oneOf('rubber', 'fiber', 'graphite'),
      pressure: integer({ minimum: 0, maximum: 400 }),
    }),
    output: object({ inner: integer(), outer: integer(), thickness: integer(), order: string() }),
    effects: ['read_only'],
    // The chart depends on the flange alone.
    determinism: 'pure',
  },
  ({ width, material, pressure }) => {
    if (pressure > RATING[material]) {
      throw new Failure('INVALID_INPUT', `${material} is for at most ${RATING[material]} bar, not ${pressure}`);
    }
    const { inner, outer, thickness } = ring(width, material);
    return { inner, outer, thickness, order: `${material.toUpperCase()} ${inner}x${outer}x${thickness}` };
  },
);
