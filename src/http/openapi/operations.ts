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
 * when it is first asked for.
 */
export function openApiParts(parts: ServiceDocumentParts): OpenApiParts {
  const loading = loadedFromHere(import('./service-document.js'));
  let made: Promise<ServiceDocument> | undefined;
  const make = (): Promise<ServiceDocument> => {
    made ??= loading.then(({ serviceDocument }) => serviceDocument(parts));
    return made;
  };
  return {
    documentFor: async (req) => (await make()).document(req),
    writtenFor: async (req) => (await make()).written(req),
  };
}

/** The page of it, for {@link DOCS_OPERATIONS}. */
export function docsPageParts(): Pick<DocsParts, 'loadingPage'> {
  return { loadingPage: loadedFromHere(import('../../pages/docs/docs-page.js')) };
}

/**
 * Code that is loaded from here on, not with the package, and not with the first request either: the files of the package may be those
 * of another version by then. That it cannot be loaded is told to those who ask for it.
 */
function loadedFromHere<T>(loading: Promise<T>): Promise<T> {
  loading.catch(() => undefined);
  return loading;
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
  /** What writes the page. */
  readonly loadingPage: Promise<typeof import('../../pages/docs/docs-page.js')>;
}

const getDocs = defineOperation({
  method: 'get',
  path: DOCS_PATH,
  id: 'getDocs',
  tag: 'Service',
  summary: 'This document as a page, to be tried out',
  responses: { 200: { description: 'A page.', mediaType: 'text/html' } },
  async handler({ req, res }, { documentFor, shellFor, loadingPage }: DocsParts) {
    const [document, { docsPage }] = await Promise.all([documentFor(req), loadingPage]);
    sendPage(res, docsPage(shellFor(req), document));
  },
});

/** The document that describes the service. */
export const OPENAPI_OPERATIONS = [getOpenApi];

/** The same for people. */
export const DOCS_OPERATIONS = [getDocs];
