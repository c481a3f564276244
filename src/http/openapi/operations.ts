import type { Request } from 'express';
import { z } from 'zod';
import { defineOperation } from '../framework/operation.js';
import type { OpenApiDocument } from './openapi.js';
import type { ServiceDocumentParts } from './service-document.js';

/** What {@link OPENAPI_OPERATIONS} work with. */
export interface OpenApiParts {
  /** The document for the server that a request was sent to. */
  readonly documentFor: (req: Request) => Promise<OpenApiDocument>;
}

/**
 * Makes the OpenAPI document: the operations, and the gated routes on this facilitator that were given `discovery`. It is made
 * when it is first asked for, and so is the code that makes it loaded.
 */
export function openApiParts(parts: ServiceDocumentParts): OpenApiParts {
  let document: Promise<(req: Request) => OpenApiDocument> | undefined;
  return {
    async documentFor(req) {
      document ??= import('./service-document.js').then(({ serviceDocument }) => serviceDocument(parts));
      return (await document)(req);
    },
  };
}

const getOpenApi = defineOperation({
  method: 'get',
  path: '/openapi.json',
  id: 'getOpenApi',
  tag: 'Service',
  summary: 'This document',
  responses: { 200: { description: 'OpenAPI 3.1.', schema: z.looseObject({ openapi: z.string() }) } },
  handler: async ({ req }, { documentFor }: OpenApiParts) => ({ ...(await documentFor(req)) }),
});

/** The document that describes the service. */
export const OPENAPI_OPERATIONS = [getOpenApi];
