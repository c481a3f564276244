import type { z } from 'zod';
import type { projectItemResponse } from '../../http/projects/schemas.js';
import { routeName } from '../../storage/projects/project-routes.js';
import type { PricesArgument } from '../arguments/prices-argument.js';
import type { ProjectChanges } from '../arguments/project-flags.js';
import type { RouteArgument } from '../arguments/route-argument.js';
import { counted } from '../output/counted.js';
import { pricesText, routeCostText } from '../output/price-text.js';
import { printTable } from '../output/table.js';
import { printStep } from '../output/terminal.js';
import type { ImportedRoute, ReadDocument } from './openapi-routes.js';

type Document = Extract<ReadDocument, { readonly ok: true }>;
type Project = z.output<typeof projectItemResponse>;

/**
 * Prints the operations of a document, and what each costs.
 * @param own - what those cost that say nothing of it
 */
export function printOperations({ routes }: Document, own = 'as the project'): void {
  printTable(
    ['method', 'path', 'price'],
    routes.map((it) => [it.method, it.path, operationText(it, own)]),
  );
}

/** Prints what an import would change, which it has not. */
export function printImport(read: Document, body: ProjectChanges, found: Project | undefined): void {
  printOperations(read, body.pricing === undefined ? found && pricesText(found.pricing) : argumentText(body.pricing));
  console.log('');
  if (found === undefined)
    printStep('would make', `a project with ${counted(body.routes?.length ?? 0, 'route')} of its own`);
  else printChanges(body, found);
}

/** Line by line, what is there no more and what is new. */
function printChanges({ routes = [], ...others }: ProjectChanges, found: Project): void {
  const before = new Map(found.routes.map((it) => [nameOf(it), routeCostText(it)]));
  const after = new Map((routes ?? []).map((it) => [routeName(it), costText(it)]));
  const names = [...new Set([...before.keys(), ...after.keys()])].filter((it) => before.get(it) !== after.get(it));
  for (const name of names) {
    const [was, is] = [before.get(name), after.get(name)];
    if (is === undefined) printStep('takes away', `${name} ${was}`);
    else printStep(was === undefined ? 'adds' : 'changes', `${name} ${was === undefined ? '' : `${was} → `}${is}`);
  }
  const fields = Object.keys(others);
  if (fields.length > 0) printStep('sets', fields.join(', '));
  if (names.length === 0) printStep('routes', 'stay as they are');
}

function nameOf({ method, path }: Project['routes'][number]): string {
  return routeName({ method: method ?? undefined, path });
}

function operationText({ price }: ImportedRoute, own: string): string {
  if (price.kind === 'free') return 'free';
  return price.kind === 'price' ? `${price.amount} ${price.token}` : own;
}

function costText({ price, free, deny }: RouteArgument): string {
  if (free) return 'free';
  return price === undefined ? `not for sale (${deny})` : argumentText(price);
}

/** Prices in the words of `--price`. */
export function argumentText({ amount, token, prices = [], offers = [] }: PricesArgument): string {
  const money = amount === undefined ? [] : [{ amount, token }];
  const singles = [...money, ...prices].map((it) => `${it.amount} ${it.token}`);
  return [...singles, ...offers.map(offerText)].join(' or ');
}

function offerText({ amount, token, pass }: NonNullable<PricesArgument['offers']>[number]): string {
  const { uses, for: time, cost } = pass;
  if (cost !== undefined) return `${amount} ${token} as credit at ${cost}`;
  const bought = uses === undefined ? time : `${counted(uses, 'call')}${time === undefined ? '' : ` in ${time}`}`;
  return `${amount} ${token} for ${bought}`;
}
