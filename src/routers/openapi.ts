import { z } from 'zod';
import { groupBy } from './group-by.js';
import { problemAnswers, problemSchema } from './openapi-problems.js';
import type { Operation, OperationAnswer } from './operation.js';

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

/** Describes operations, with the schemas that check what comes in and what goes out. */
export function openApiDocument(title: string, version: string, operations: readonly Operation[]): OpenApiDocument {
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  const byPath = groupBy(operations, ({ path }) => openApiPath(path));
  return {
    openapi: '3.1.1',
    info: { title, version, description: DESCRIPTION, license: LICENSE },
    tags: tags.map((name) => ({ name })),
    paths: Object.fromEntries(
      [...byPath].map(([path, some]) => [path, Object.fromEntries(some.map((it) => [it.method, describe(it)]))]),
    ),
    components: { schemas: { Problem: problemSchema() } },
  };
}

/** A path with `:names` as OpenAPI writes it. */
export function openApiPath(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}');
}

/** The parameters that a path's `:names` are. */
export function pathParameters(path: string): object[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function describe(operation: Operation): object {
  const { id, tag, summary, description, query, body, path, errors = [] } = operation;
  const parameters = [...pathParameters(path), ...queryParameters(query)];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: jsonContent(body) } }),
    responses: { ...answersOf(operation), ...problemAnswers(errors, body !== undefined) },
  };
}

function answersOf({ answers }: Operation): Record<string, object> {
  return Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, describeAnswer(answer)]));
}

function describeAnswer({ description, schema, mediaType }: OperationAnswer): object {
  if (schema !== undefined) return { description, content: jsonContent(schema) };
  return {
    description,
    ...(mediaType === undefined ? {} : { content: { [mediaType]: { schema: { type: 'string' } } } }),
  };
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

/** In the direction of the client, so that answers may grow: fields that are not named are not forbidden. */
function jsonSchema(schema: z.core.$ZodType): Readonly<Record<string, unknown>> {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return rest;
}
