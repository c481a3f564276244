import type { Request } from 'express';
import { badOption } from '../../errors/errors.js';

/** By facilitator, then by server: what the gate sells that was reached at a site and scope. */
const known = new WeakMap<object, WeakMap<object, Map<string, string>>>();
/** Scopes of gates of no route have paths of clients in them. */
const MOST_SCOPES = 5_000;

/** A gate that sells passes for where it is reached. */
export interface SellingGate {
  /** The facilitator. */
  readonly owner: object;
  readonly site: string;
  /** Prices and what they buy: the same for gates that sell the same. */
  readonly sells: string;
}

/**
 * Makes sure that a pass is for what was sold: that gates which are reached at one scope of one server sell the same there, whichever of
 * them was made when. Asked with each request, as only that tells where a gate stands.
 * @throws TollhouseError `bad_option` where another gate sells something else there
 */
export function soldOnce(where: string, { owner, site, sells }: SellingGate): (req: Request, scope: string) => void {
  const servers = known.get(owner) ?? new WeakMap<object, Map<string, string>>();
  known.set(owner, servers);
  return (req, scope) => {
    const server = serverOf(req) ?? owner;
    const gates = servers.get(server) ?? new Map<string, string>();
    servers.set(server, gates);
    const at = `${site}\n${scope}`;
    const before = gates.get(at);
    if (before === sells) return;
    if (before !== undefined) throw soldOtherwise(where, scope);
    const [oldest] = gates.size < MOST_SCOPES ? [] : gates.keys();
    if (oldest !== undefined) gates.delete(oldest);
    gates.set(at, sells);
  };
}

/** Whoever changes what is sold without an end of the process serves it anew. Adapters for functions in a cloud have no server. */
function serverOf({ socket }: Request): object | undefined {
  const server: unknown = Reflect.get(socket, 'server');
  return typeof server === 'object' && server !== null ? server : undefined;
}

function soldOtherwise(where: string, scope: string): Error {
  const detail = `another gate sells passes for "${scope}" at other prices or for something else, and the passes of the cheaper one would cover the dearer: give the pass of each a "group" of its own, or each host its "baseUrl"`;
  return badOption(where, detail, 'pass');
}
