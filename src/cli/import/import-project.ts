import type { z } from 'zod';
import { fillPath } from '../../http/framework/path.js';
import { PROJECTS_PATHS, projectItemResponse, projectResponse } from '../../http/projects/schemas.js';
import { defined } from '../../lib/defined.js';
import { routeName } from '../../storage/projects/project-routes.js';
import { onlyOne, readArguments, SERVER_FLAGS } from '../arguments/arguments.js';
import { hasPrice, type PricesArgument } from '../arguments/prices-argument.js';
import { changesFrom, PROJECT_FLAGS, type ProjectChanges, patchOf } from '../arguments/project-flags.js';
import type { RouteArgument } from '../arguments/route-argument.js';
import { CommandError, UsageError } from '../command.js';
import { pricesText } from '../output/price-text.js';
import { printJson, printStep } from '../output/terminal.js';
import { serverOf, signInAt } from '../session/credentials.js';
import { namingFlags } from '../session/name-flags.js';
import { openSession, type ServerSession, understood } from '../session/session.js';
import { neededRoutes, type ReadDocument, readOpenApi } from './openapi-routes.js';
import { argumentText, printImport, printOperations } from './print-import.js';
import { readDocumentFile } from './read-document.js';
import { warnOfShallowDenials, warnOfShallowRoutes } from './shallow-denials.js';

const { file: _file, 'no-routes': _none, ...PROJECT } = PROJECT_FLAGS;
const FLAGS = {
  ...PROJECT,
  'dry-run': { type: 'boolean' },
  'without-document': { type: 'boolean' },
  ...SERVER_FLAGS,
} as const;

const FIELDS = { '/slug': '--slug', '/upstream/url': '--upstream', '/pricing/network': '--network' };

const USAGE = 'tollhouse projects import <openapi.json> --slug <slug> [--upstream <url>] [--price <price>] [--dry-run]';

type Document = Extract<ReadDocument, { readonly ok: true }>;
type Project = z.output<typeof projectItemResponse>;

/** `tollhouse projects import`: makes or updates a project from an OpenAPI document, its operations with their prices. */
export async function importProject(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, FLAGS);
  const file = onlyOne(positionals, USAGE);
  const json = readDocumentFile(file);
  const read = readOpenApi(json);
  if (!read.ok) throw new CommandError(`"${file}" cannot be imported: ${read.faults.join('; ')}`);
  const { slug, server, 'dry-run': isDry, 'without-document': isWithout, json: asJson, ...flags } = values;
  const changes = changesFrom(flags);
  const isAlone = isDry && (slug === undefined || signInAt(serverOf(server)) === undefined);
  if (isAlone) {
    warnOfShallowRoutes(changes.routes ?? []);
    printOperations(read, hasPrice(changes.pricing) ? argumentText(changes.pricing) : undefined);
    return 0;
  }
  if (slug === undefined) throw new UsageError(`--slug is needed; usage: ${USAGE}`);
  const session = openSession(server);
  const found = await findProject(session, slug);
  const body = bodyOf(read, { slug, changes, found, openapi: isWithout ? undefined : json });
  if (isDry) {
    warnOfShallowRoutes(body.routes ?? []);
    // No more of it: it may have secrets of the upstream.
    if (asJson) printJson({ operations: read.routes, routes: body.routes });
    else printImport(read, body, found);
    return 0;
  }
  const made = await namingFlags(FIELDS, send(session, found, body));
  warnOfShallowDenials(body, made);
  if (asJson) printJson(made);
  else {
    const { name, url, pricing } = understood(projectResponse, made);
    printOperations(read, pricesText(pricing));
    printStep(found === undefined ? 'made' : 'updated', `${name} (${slug}), called at ${url}`);
  }
  return 0;
}

function send(session: ServerSession, found: Project | undefined, body: ProjectChanges): Promise<unknown> {
  if (found === undefined) return session.post(PROJECTS_PATHS.all, body);
  return session.patch(fillPath(PROJECTS_PATHS.one, { id: found.id }), patchOf(body));
}

async function findProject(session: ServerSession, slug: string): Promise<Project | undefined> {
  const projects = (await session.list(PROJECTS_PATHS.all)).map((it) => understood(projectItemResponse, it));
  return projects.find((it) => it.slug === slug);
}

interface Wanted {
  readonly slug: string;
  readonly changes: ProjectChanges;
  readonly found: Project | undefined;
  readonly openapi: object | undefined;
}

/** What is asked of the server: a project, or the patch of one. */
function bodyOf(read: Document, { slug, changes, found, openapi }: Wanted): ProjectChanges {
  const { title, server } = read;
  const own = hasPrice(changes.pricing) ? changes.pricing : ownPrice(found);
  const routes = routesOf(read, changes.routes ?? [], own);
  if (found !== undefined) return { ...changes, ...defined({ openapi }), routes };
  if (!hasPrice(changes.pricing)) throw new UsageError(`--price is needed for a new project; usage: ${USAGE}`);
  const upstream = { ...defined({ url: server }), ...changes.upstream };
  if (!('url' in upstream)) {
    throw new UsageError('--upstream is needed: the document names no server with a whole address');
  }
  const named: ProjectChanges = { slug, name: title };
  return { ...named, ...changes, upstream, ...defined({ openapi }), routes };
}

function ownPrice(found: Project | undefined): PricesArgument | undefined {
  if (found === undefined || found.pricing.pass !== null) return undefined;
  const { amount, token, prices } = found.pricing;
  return { amount, token, prices: prices.map((it) => ({ amount: it.amount, token: it.token })) };
}

/** What was given beside the document goes before it, and in the place of what the document says of the same calls. */
function routesOf(
  { routes }: Document,
  given: readonly RouteArgument[],
  own: PricesArgument | undefined,
): readonly RouteArgument[] {
  const names = new Set(given.map(routeName));
  const imported = neededRoutes(routes).filter((it) => !names.has(routeName(it)));
  return [...given, ...imported.map((it) => importedRoute(it, own))];
}

function importedRoute(
  { method, path, price }: Document['routes'][number],
  own: PricesArgument | undefined,
): RouteArgument {
  if (price.kind === 'free') return { method, path, free: true };
  if (price.kind === 'price') return { method, path, price: { amount: price.amount, token: price.token } };
  if (own?.amount === undefined)
    throw new UsageError(`--price is needed: the project has none of single calls; usage: ${USAGE}`);
  const { amount, token, prices = [] } = own;
  return { method, path, price: { amount, ...defined({ token }), ...(prices.length === 0 ? {} : { prices }) } };
}
