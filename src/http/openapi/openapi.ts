import { z } from 'zod';
import { groupBy } from '../../lib/group-by.js';
import { CALLER_ERRORS } from '../framework/api-caller.js';
import {
  BY_PAYMENT,
  type OperationDescription,
  type OperationResponse,
  type SecurityRequirement,
  schemesIn,
  scopeOf,
  securityFor,
} from '../framework/operation.js';
import { pathParameterNames } from '../framework/path.js';
import { problemResponses, problemSchema } from './problems.js';

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  readonly openapi: '3.1.1';
  readonly info: object;
  readonly servers?: readonly object[];
  readonly tags: readonly object[];
  /** By path, then by method. */
  readonly paths: Readonly<Record<string, object>>;
  readonly components: object;
}

const LICENSE = { name: 'Apache-2.0', identifier: 'Apache-2.0' };
const JSON_TYPE = 'application/json';
const DESCRIPTION = [
  'Gates routes by payment, token balance or membership tier, and settles payments on Solana.',
  'Errors are problem bodies (RFC 9457); `code` says which, and the schema `Problem` lists all of them.',
  'A path that is not here is answered 404 `not_found`, a method that is not here 405 `method_not_allowed` with `Allow`.',
].join(' ');

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Names this request; take a UUID. The same request under the same key is run once and answered the same for 24 hours.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
};
const REPLAYED = {
  'Idempotency-Replayed': {
    description: '`true` for an answer that was given before under the same Idempotency-Key.',
    schema: { type: 'string', const: 'true' },
  },
};

/** Describes operations, with the schemas that check what comes in and what goes out. */
export function openApiDocument(
  title: string,
  version: string,
  operations: readonly OperationDescription[],
): OpenApiDocument {
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  const byPath = groupBy(operations, ({ path }) => openApiPath(path));
  return {
    openapi: '3.1.1',
    info: { title, version, description: DESCRIPTION, license: LICENSE },
    tags: tags.map((name) => ({ name })),
    paths: Object.fromEntries(
      [...byPath].map(([path, some]) => [path, Object.fromEntries(some.map((it) => [it.method, describe(it)]))]),
    ),
    components: {
      schemas: { Problem: problemSchema() },
      // Paid routes are listed beside the operations, whatever these ask for.
      securitySchemes: schemesIn([...BY_PAYMENT, ...operations.flatMap(securityOf)]),
    },
  };
}

/** A path with `:names` as OpenAPI writes it. */
export function openApiPath(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}');
}

/** The parameters that a path's `:names` are. */
export function pathParameters(path: string): object[] {
  return pathParameterNames(path).map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
}

function describe(operation: OperationDescription): object {
  const { id, tag, summary, description, query, headers, path, errors = [] } = operation;
  const key = takesKey(operation);
  const body = bodyOf(operation);
  const ofCaller = scopeOf(operation) === undefined ? [] : CALLER_ERRORS;
  const parameters = [
    ...pathParameters(path),
    ...queryParameters(query),
    ...headerParameters(headers),
    ...(key ? [IDEMPOTENCY_KEY] : []),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    security: securityOf(operation),
    ...(description === undefined ? {} : { description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: jsonContent(body) } }),
    responses: {
      ...responsesOf(operation),
      ...problemResponses([...ofCaller, ...errors], { body: body !== undefined, key }),
    },
  };
}

function securityOf(operation: OperationDescription): readonly SecurityRequirement[] {
  return operation.security ?? securityFor(scopeOf(operation));
}

function takesKey({ method, takesKey: given }: OperationDescription): boolean {
  return given ?? method === 'post';
}

function bodyOf({ body, bodies }: OperationDescription): z.ZodType | undefined {
  return bodies === undefined ? body : z.union(bodies);
}

function responsesOf(operation: OperationDescription): Record<string, object> {
  const headers = takesKey(operation) ? { headers: REPLAYED } : {};
  return Object.fromEntries(
    Object.entries(operation.responses).map(([status, it]) => [status, { ...describeResponse(it), ...headers }]),
  );
}

function describeResponse({ description, schema, mediaType }: OperationResponse): object {
  const content = {
    ...(schema === undefined ? {} : jsonContent(schema)),
    ...(mediaType === undefined ? {} : { [mediaType]: { schema: { type: 'string' } } }),
  };
  return { description, ...(schema === undefined && mediaType === undefined ? {} : { content }) };
}

function jsonContent(schema: z.ZodType): object {
  return { [JSON_TYPE]: { schema: jsonSchema(schema) } };
}

function queryParameters(query: z.ZodObject | undefined): object[] {
  return Object.entries(query?.shape ?? {}).map(([name, schema]) => {
    const { description, ...rest } = jsonSchema(schema);
    return {
      name,
      in: 'query',
      required: !z.safeParse(schema, undefined).success,
      ...(description === undefined ? {} : { description }),
      schema: rest,
    };
  });
}

function headerParameters(headers: OperationDescription['headers'] = {}): object[] {
  return Object.entries(headers).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  }));
}

/** In the direction of the client, so that responses may grow: fields that are not named are not forbidden. */
function jsonSchema(schema: z.core.$ZodType): Readonly<Record<string, unknown>> {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return rest;
}
