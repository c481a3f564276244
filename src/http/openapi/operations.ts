import type { Request } from 'express';
import { z } from 'zod';
import { defineOperation } from '../framework/operation.js';
import { type ShellFor, sendPage } from '../framework/service-pages.js';
import type { OpenApiDocument } from './openapi.js';
import type { ServiceDocument, ServiceDocumentParts, WrittenDocument } from './service-document.js';

/** What {@link OPENAPI_OPERATIONS} work with. */
export interface OpenApiParts {
  /** The document for the server that a request was sent to. */
  readonly documentFor: (req: Request) => Promise<OpenApiDocument>;
  /** The same as it goes over the wire. */
  readonly writtenFor: (req: Request) => Promise<WrittenDocument>;
}

/**
 * Makes the OpenAPI document: the operations, and the gated routes on this facilitator that were given `discovery`. It is made
 * when it is first asked for, and so is the code that makes it loaded.
 */
export function openApiParts(parts: ServiceDocumentParts): OpenApiParts {
  let made: Promise<ServiceDocument> | undefined;
  const make = (): Promise<ServiceDocument> => {
    made ??= import('./service-document.js').then(({ serviceDocument }) => serviceDocument(parts));
    return made;
  };
  return {
    documentFor: async (req) => (await make()).document(req),
    writtenFor: async (req) => (await make()).written(req),
  };
}

const getOpenApi = defineOperation({
  method: 'get',
  path: '/openapi.json',
  id: 'getOpenApi',
  tag: 'Service',
  summary: 'This document',
  responses: { 200: { description: 'OpenAPI 3.1.', schema: z.looseObject({ openapi: z.string() }) } },
  async handler({ req, res }, { writtenFor }: OpenApiParts): Promise<void> {
    const { begin, rest, tag } = await writtenFor(req);
    res.set('ETag', tag);
    if (req.fresh) return void res.status(304).end();
    res.set({
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': String(begin.length + rest.length),
    });
    res.write(begin);
    res.end(rest);
  },
});

/** Where people read the document. */
export const DOCS_PATH = '/docs';

/** What {@link DOCS_OPERATIONS} work with. */
export interface DocsParts extends OpenApiParts {
  readonly shellFor: ShellFor;
}

const getDocs = defineOperation({
  method: 'get',
  path: DOCS_PATH,
  id: 'getDocs',
  tag: 'Service',
  summary: 'This document as a page, to be tried out',
  responses: { 200: { description: 'A page.', mediaType: 'text/html' } },
  async handler({ req, res }, { documentFor, shellFor }: DocsParts) {
    const [document, { docsPage }] = await Promise.all([documentFor(req), import('../../pages/docs/docs-page.js')]);
    sendPage(res, docsPage(shellFor(req), document));
  },
});

/** The document that describes the service. */
export const OPENAPI_OPERATIONS = [getOpenApi];

/** The same for people. */
export const DOCS_OPERATIONS = [getDocs];
