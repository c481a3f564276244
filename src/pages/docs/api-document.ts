import { z } from 'zod';

/** JSON Schema, of which only what is shown is named. */
export interface ShownSchema {
  readonly $ref?: string | undefined;
  readonly type?: string | readonly string[] | undefined;
  readonly const?: unknown;
  readonly enum?: readonly unknown[] | undefined;
  readonly default?: unknown;
  readonly format?: string | undefined;
  readonly description?: string | undefined;
  readonly properties?: Readonly<Record<string, ShownSchema>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly additionalProperties?: ShownSchema | boolean | undefined;
  readonly items?: ShownSchema | boolean | undefined;
  readonly prefixItems?: readonly ShownSchema[] | undefined;
  readonly anyOf?: readonly ShownSchema[] | undefined;
  readonly oneOf?: readonly ShownSchema[] | undefined;
  readonly allOf?: readonly ShownSchema[] | undefined;
}

const schema: z.ZodType<ShownSchema> = z.lazy(() =>
  z.looseObject({
    $ref: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    enum: z.array(z.unknown()).optional(),
    format: z.string().optional(),
    description: z.string().optional(),
    properties: z.record(z.string(), schema).optional(),
    required: z.array(z.string()).optional(),
    additionalProperties: z.union([z.boolean(), schema]).optional(),
    items: z.union([z.boolean(), schema]).optional(),
    prefixItems: z.array(schema).optional(),
    anyOf: z.array(schema).optional(),
    oneOf: z.array(schema).optional(),
    allOf: z.array(schema).optional(),
  }),
);

const content = z.record(z.string(), z.object({ schema: schema.optional() }));

const operation = z.object({
  operationId: z.string().optional(),
  tags: z.array(z.string()).default([]),
  summary: z.string().default(''),
  description: z.string().optional(),
  security: z.array(z.record(z.string(), z.array(z.string()))).default([]),
  servers: z.array(z.object({ url: z.string() })).default([]),
  parameters: z
    .array(
      z.object({
        name: z.string(),
        in: z.enum(['path', 'query', 'header']),
        required: z.boolean().default(false),
        description: z.string().optional(),
        schema: schema.optional(),
      }),
    )
    .default([]),
  requestBody: z.object({ content }).optional(),
  responses: z.record(z.string(), z.object({ description: z.string(), content: content.optional() })),
});

/** An operation of an OpenAPI document, as far as it is shown. */
export type ApiOperation = z.output<typeof operation>;

/** An OpenAPI document, as far as it is shown. */
export interface ApiDocument {
  readonly info: object;
  /** By path, then by method. */
  readonly paths: Readonly<Record<string, object>>;
  readonly components: object;
}

/** An operation and where it is. */
export interface PlacedOperation {
  readonly path: string;
  readonly method: string;
  readonly operation: ApiOperation;
}

const info = z.object({ version: z.string(), description: z.string().default('') });
const components = z.object({ schemas: z.record(z.string(), schema) });
const schemes = z.object({ securitySchemes: z.record(z.string(), z.object({ name: z.string().optional() })) });

const read = new WeakMap<object, ApiOperation>();

/** The operations of a document. Each is read once: documents are made anew for each reader, of the same operations. */
export function operationsOf({ paths }: ApiDocument): readonly PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, given]) => ({ path, method, operation: readOperation(given) })),
  );
}

function readOperation(given: object): ApiOperation {
  const known = read.get(given) ?? operation.parse(given);
  read.set(given, known);
  return known;
}

/** What a document says of itself. */
export function infoOf(document: ApiDocument): z.output<typeof info> {
  return info.parse(document.info);
}

/** The headers that credentials go into, by the names that operations ask for them. */
export function credentialHeadersOf(document: ApiDocument): Readonly<Record<string, string>> {
  const { securitySchemes } = schemes.parse(document.components);
  return Object.fromEntries(Object.entries(securitySchemes).map(([id, { name = 'Authorization' }]) => [id, name]));
}

/** The schemas that operations name. */
export function schemasOf(document: ApiDocument): Readonly<Record<string, ShownSchema>> {
  return components.parse(document.components).schemas;
}
