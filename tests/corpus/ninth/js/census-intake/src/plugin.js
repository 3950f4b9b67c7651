import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, object, optional, string, integer } = schema;

step(
  'Census.Take',
  {
    description: 'Counts the persons of each district, from its houses, stairs and flats.',
    input: object({
      places: array(
        object({
          id: string({ minLength: 1, maxLength: 20 }),
          // The place that contains this one. A district is in no other place.
          within: optional(string({ maxLength: 20 })),
          persons: integer({ minimum: 0, maximum: 1000 }),
        }),
        { maxItems: 3000 },
      ),
    }),
    output: object({ districts: array(object({ id: string(), places: integer(), persons: integer() })), persons: integer() }),
  },
  (input) => {
    const places = new Map();
    for (const place of input.places) {
      if (places.has(place.id)) throw new Failure('INVALID_INPUT', `place ${place.id} is listed twice`);
      places.set(place.id, place);
    }
    const districtOf = (place) => {
      if (place.within === undefined) return place.id;
      const outer = places.get(place.within);
      if (outer === undefined) throw new Failure('INVALID_INPUT', `place ${place.id} is within ${place.within}, which is not listed`);
      return districtOf(outer);
    };

    const districts = new Map();
    let persons = 0;
    for (const place of input.places) {
      const id = districtOf(place);
      const district = districts.get(id) ?? { id, places: 0, persons: 0 };
      district.places += 1;
      district.persons += place.persons;
      districts.set(id, district);
      persons += place.persons;
    }
    return { districts: [...districts.values()], persons };
  },
);
