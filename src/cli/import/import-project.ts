import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { fillPath } from '../../http/framework/path.js';
import { PROJECTS_PATHS, projectItemResponse, projectResponse } from '../../http/projects/schemas.js';
import { defined } from '../../lib/defined.js';
import { onlyOne, readArguments } from '../arguments/arguments.js';
import { type PricesArgument, pricesArgument, type RouteArgument } from '../arguments/route-argument.js';
import { CommandError, UsageError } from '../command.js';
import { printTable } from '../output/table.js';
import { printJson, printStep } from '../output/terminal.js';
import { openSession, type ServerSession, understood } from '../session/session.js';
import { type ImportedRoute, neededRoutes, type ReadDocument, readOpenApi } from './openapi-routes.js';

const FLAGS = {
  slug: { type: 'string' },
  upstream: { type: 'string' },
  price: { type: 'string' },
  'dry-run': { type: 'boolean' },
  'without-document': { type: 'boolean' },
  server: { type: 'string' },
  json: { type: 'boolean' },
} as const;

const USAGE = 'tollhouse projects import <openapi.json> --slug <slug> [--upstream <url>] [--price <price>] [--dry-run]';

type Document = Extract<ReadDocument, { readonly ok: true }>;

/** `tollhouse projects import`: makes or updates a project from an OpenAPI document, its operations with their prices. */
export async function importProject(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, FLAGS);
  const file = onlyOne(positionals, USAGE);
  const json = readDocument(file);
  const read = readOpenApi(json);
  if (!read.ok) throw new CommandError(`"${file}" cannot be imported: ${read.faults.join('; ')}`);
  const price = values.price === undefined ? undefined : pricesArgument('--price', values.price);
  if (values['dry-run']) return printRoutes(read, price);
  const { slug } = values;
  if (slug === undefined) throw new UsageError(`--slug is needed; usage: ${USAGE}`);
  const session = openSession(values.server);
  const found = await findProject(session, slug);
  const openapi = values['without-document'] ? undefined : json;
  const own = price ?? (found?.pricing.pass === null ? found.pricing : undefined);
  const body = defined({ openapi, routes: routesOf(read, own), pricing: price, upstream: upstreamOf(values.upstream) });
  const made =
    found === undefined
      ? await session.post(PROJECTS_PATHS.all, newProject(slug, read, price, body))
      : await session.patch(fillPath(PROJECTS_PATHS.one, { id: found.id }), changesOf(body));
  if (values.json) printJson(made);
  else printMade(read, understood(projectResponse, made), found === undefined ? 'made' : 'updated');
  return 0;
}

async function findProject(session: ServerSession, slug: string) {
  const projects = (await session.list(PROJECTS_PATHS.all)).map((it) => understood(projectItemResponse, it));
  return projects.find((it) => it.slug === slug);
}

function readDocument(file: string): object {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`"${file}" cannot be read (${error instanceof Error ? error.message : String(error)})`);
  }
  try {
    const json: unknown = JSON.parse(text);
    if (typeof json === 'object' && json !== null) return json;
  } catch {
    // Told below.
  }
  throw new UsageError(`"${file}" is no JSON object; a document in YAML is to be given as JSON`);
}

function newProject(
  slug: string,
  { title, server }: Document,
  price: PricesArgument | undefined,
  body: object,
): object {
  if (price === undefined) throw new UsageError(`--price is needed for a new project; usage: ${USAGE}`);
  if (server === undefined && !('upstream' in body)) {
    throw new UsageError('--upstream is needed: the document names no server with a whole address');
  }
  return { slug, name: title, ...(server === undefined ? {} : { upstream: { url: server } }), ...body };
}

/** A price that is given is the whole of it. */
function changesOf(body: { readonly pricing?: object }): object {
  return body.pricing === undefined ? body : { ...body, pricing: { prices: null, ...body.pricing } };
}

function upstreamOf(url: string | undefined): { readonly url: string } | undefined {
  return url === undefined ? undefined : { url };
}

/** What the project says of the operations. */
function routesOf(
  { routes }: Document,
  own: Pick<PricesArgument, 'amount' | 'token'> | undefined,
): readonly RouteArgument[] {
  return neededRoutes(routes).map(({ method, path, price }): RouteArgument => {
    if (price.kind === 'free') return { method, path, free: true };
    const asked = price.kind === 'price' ? price : own;
    if (asked === undefined)
      throw new UsageError(`--price is needed: the project has none of single calls; usage: ${USAGE}`);
    return { method, path, price: { amount: asked.amount, token: asked.token } };
  });
}

function printRoutes({ routes }: Document, price: PricesArgument | undefined): number {
  const own = price === undefined ? 'as the project' : textOf(price);
  printTable(
    ['method', 'path', 'price'],
    routes.map((it) => [it.method, it.path, priceText(it, own)]),
  );
  return 0;
}

function priceText({ price }: ImportedRoute, own: string): string {
  if (price.kind === 'free') return 'free';
  return price.kind === 'price' ? `${price.amount} ${price.token}` : own;
}

function textOf({ prices = [], ...first }: PricesArgument): string {
  return [first, ...prices].map(({ amount, token }) => `${amount} ${token}`).join(' or ');
}

function printMade(document: Document, project: z.output<typeof projectResponse>, what: string): void {
  const { amount, token } = project.pricing;
  printRoutes(document, { amount, token });
  printStep(what, `${project.name} (${project.slug}), called at ${project.url}`);
}
