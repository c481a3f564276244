import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/** A JSON Schema, or any part of the document. */
type Json = Readonly<Record<string, unknown>>;

/** The part of an OpenAPI document that tests look at. */
export interface OpenApi {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: {
    readonly schemas: { readonly Problem: Json };
    readonly securitySchemes: Readonly<Record<string, Json>>;
  };
}

/** An operation of the document. */
export interface DocumentedOperation {
  readonly operationId?: string;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Json }[];
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

/** Compiles schemas that refer to the same components, each of them once. */
interface Compiler {
  readonly ajv: Ajv2020;
  readonly validators: Map<string, ValidateFunction>;
}

/** Where the files of one worker find what is compiled, by the JSON of its components: their services answer by the same schemas. */
const SHARED = Symbol.for('tollhouse.test.documented');

function compilerOf(schemas: OpenApi['components']['schemas']): Compiler {
  const compilers: Map<string, Compiler> = Reflect.get(process, SHARED) ?? new Map();
  Reflect.set(process, SHARED, compilers);
  const key = JSON.stringify(schemas);
  const known = compilers.get(key) ?? newCompiler(schemas);
  compilers.set(key, known);
  return known;
}

function newCompiler(schemas: OpenApi['components']['schemas']): Compiler {
  const setup = { strict: true, strictRequired: false, allowUnionTypes: true, validateFormats: false };
  // The schema of problems is long, and every error response refers to it.
  const ajv = new Ajv2020({ ...setup, inlineRefs: false });
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(schema, `${COMPONENTS}${name}`);
  return { ajv, validators: new Map() };
}

/** Tells whether answers are as a document says. Objects of 200 answers may have no field that the document does not name. */
export function createConformance(document: OpenApi): (method: string, path: string, answer: Answer) => string[] {
  const { ajv, validators } = compilerOf(document.components.schemas);
  const ofDocument = new Map<string, ValidateFunction>();

  function validatorOf(name: string, schema: Json, closed: boolean): ValidateFunction {
    const found = ofDocument.get(name);
    if (found !== undefined) return found;
    const meant = closed ? close(schema) : schema;
    const key = JSON.stringify(meant);
    const validate = validators.get(key) ?? ajv.compile(meant);
    validators.set(key, validate);
    ofDocument.set(name, validate);
    return validate;
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
