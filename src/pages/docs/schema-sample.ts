import type { ShownSchema } from './api-document.js';

const MAX_DEPTH = 4;

/** A value to begin with for who writes one by a schema: what must be there, empty. */
export function schemaSample(schema: ShownSchema, depth = 0): unknown {
  const { anyOf, oneOf, allOf, properties = {}, required = [] } = schema;
  if ('const' in schema) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum !== undefined) return schema.enum[0];
  const [first] = anyOf ?? oneOf ?? allOf ?? [];
  if (first !== undefined) return schemaSample(first, depth);
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.[0];
  if (type === 'array' || depth > MAX_DEPTH) return [];
  if (type === 'object') {
    const fields = Object.entries(properties).filter(([name]) => required.includes(name));
    return Object.fromEntries(fields.map(([name, it]) => [name, schemaSample(it, depth + 1)]));
  }
  if (type === 'boolean') return false;
  return type === 'number' || type === 'integer' ? 0 : '';
}
