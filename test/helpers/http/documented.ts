import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/** A JSON Schema, or any part of the document. */
type Json = Readonly<Record<string, unknown>>;

/** The part of an OpenAPI document that tests look at. */
export interface OpenApi {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: { readonly schemas: { readonly Problem: Json } };
}

/** An operation of the document. */
export interface DocumentedOperation {
  readonly operationId?: string;
  readonly parameters?: readonly { readonly name: string; readonly schema: Json }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

type Content = Readonly<Record<string, { readonly schema: Json }>>;

/** A response as it came. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const COMPONENTS = '#/components/schemas/';

/** Tells whether answers are as a document says. Objects of 200 answers may have no field that the document does not name. */
export function createConformance(document: OpenApi): (method: string, path: string, answer: Answer) => string[] {
  const validators = new Map<string, ValidateFunction>();
  const setup = { strict: true, strictRequired: false, allowUnionTypes: true, validateFormats: false };
  // The schema of problems is long, and every error response refers to it.
  const ajv = new Ajv2020({ ...setup, inlineRefs: false });
  for (const [name, schema] of Object.entries(document.components.schemas))
    ajv.addSchema(schema, `${COMPONENTS}${name}`);

  function validatorOf(key: string, schema: Json, closed: boolean): ValidateFunction {
    const known = validators.get(key) ?? ajv.compile(closed ? close(schema) : schema);
    validators.set(key, known);
    return known;
  }

  return (method, path, { status, headers, text }) => {
    const found = operationOf(document, method, path);
    if (found === undefined) return [`${method} ${path} is not documented`];
    const answer = found.operation.responses[status];
    const where = `${method} ${found.template} ${status}`;
    if (answer === undefined) return [`${where} is not documented: ${text}`];
    const type = headers.get('content-type')?.split(';')[0] ?? '';
    if (answer.content === undefined) return text === '' || status === 302 ? [] : [`${where} has a body`];
    const schema = answer.content[type]?.schema;
    if (schema === undefined) return [`${where} is not documented as ${type}`];
    if (!/json$/.test(type)) return [];
    const validate = validatorOf(`${where} ${type}`, schema, status < 400);
    return validate(JSON.parse(text)) ? [] : [`${where}: ${ajv.errorsText(validate.errors)}\n${text}`];
  };
}

/** The operation of a method and an actual path; of several templates the one with the fewest names. */
export function operationOf(document: OpenApi, method: string, path: string) {
  const candidates = Object.keys(document.paths).filter((template) => matches(template, path));
  const [template] = candidates.sort((a, b) => a.split('{').length - b.split('{').length);
  const operation = template === undefined ? undefined : document.paths[template]?.[method.toLowerCase()];
  return template === undefined || operation === undefined ? undefined : { template, operation };
}

function matches(template: string, path: string): boolean {
  const pattern = template.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${pattern}$`).test(path.split('?')[0] ?? '');
}

function close(value: unknown): Json {
  return mapObjects(value, (object) =>
    object['type'] === 'object' && 'properties' in object && !('additionalProperties' in object)
      ? { ...object, additionalProperties: false }
      : object,
  ) as Json;
}

function mapObjects(value: unknown, change: (object: Json) => Json): unknown {
  if (Array.isArray(value)) return value.map((it) => mapObjects(it, change));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, it]) => [key, mapObjects(it, change)]);
  return change(Object.fromEntries(entries));
}
