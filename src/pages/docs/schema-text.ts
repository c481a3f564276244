import type { ShownSchema } from './api-document.js';

const INDENT = '  ';
/** Deeper than this nobody reads on. */
const MAX_DEPTH = 6;

/** A schema as TypeScript would write the type, with what is said of each field behind it. */
export function schemaText(schema: ShownSchema, depth = 0): string {
  const { $ref, anyOf, oneOf, allOf } = schema;
  if (depth > MAX_DEPTH) return 'unknown';
  if ($ref !== undefined) return $ref.slice($ref.lastIndexOf('/') + 1);
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((it) => JSON.stringify(it)).join(' | ');
  const some = anyOf ?? oneOf;
  if (some !== undefined) return some.map((it) => schemaText(it, depth)).join(' | ');
  if (allOf !== undefined) return allOf.map((it) => schemaText(it, depth)).join(' & ');
  return typesOf(schema)
    .map((type) => typeText(type, schema, depth))
    .join(' | ');
}

function typesOf({ type, properties }: ShownSchema): readonly string[] {
  if (type === undefined) return [properties === undefined ? 'unknown' : 'object'];
  return typeof type === 'string' ? [type] : type;
}

function typeText(type: string, schema: ShownSchema, depth: number): string {
  if (type === 'array') return arrayText(schema, depth);
  if (type === 'object') return objectText(schema, depth);
  return type;
}

function arrayText({ items, prefixItems }: ShownSchema, depth: number): string {
  if (prefixItems !== undefined) return `[${prefixItems.map((it) => schemaText(it, depth + 1)).join(', ')}]`;
  return `Array<${typeof items === 'object' ? schemaText(items, depth) : 'unknown'}>`;
}

function objectText({ properties = {}, required = [], additionalProperties }: ShownSchema, depth: number): string {
  const inner = INDENT.repeat(depth + 1);
  const names = Object.entries(properties);
  if (names.length === 0) {
    const values = typeof additionalProperties === 'object' ? schemaText(additionalProperties, depth) : 'unknown';
    return `Record<string, ${values}>`;
  }
  const lines = names.map(([name, it]) => {
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
    const note = it.description === undefined ? '' : `  // ${it.description.replace(/\s+/g, ' ')}`;
    return `${inner}${key}${required.includes(name) ? '' : '?'}: ${schemaText(it, depth + 1)}${note}\n`;
  });
  return `{\n${lines.join('')}${INDENT.repeat(depth)}}`;
}
