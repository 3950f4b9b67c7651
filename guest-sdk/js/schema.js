// Short constructors for JSON Schemas: object({ text: string(), copies: optional(integer()) }).

const OPTIONAL = Symbol('optional');

/** An object with these properties and no others. All properties are required except those marked optional. */
export function object(properties, more = {}) {
  const required = Object.keys(properties).filter((key) => !properties[key][OPTIONAL]);
  return { type: 'object', properties, required, additionalProperties: false, ...more };
}
/** Marks a property as optional. */
export const optional = (schema) => Object.defineProperty({ ...schema }, OPTIONAL, { value: true });
export const string = (more = {}) => ({ type: 'string', ...more });
/** An integer that a JavaScript number holds exactly. */
export const integer = (more = {}) => ({ type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER, ...more });
export const number = (more = {}) => ({ type: 'number', ...more });
export const boolean = (more = {}) => ({ type: 'boolean', ...more });
export const array = (items, more = {}) => ({ type: 'array', items, ...more });
export const oneOf = (...values) => ({ enum: values });
export const nullable = (schema) => ({ anyOf: [schema, { type: 'null' }] });
export const any = () => ({});
