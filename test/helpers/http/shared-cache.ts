import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Where a cache reads how long it may keep a response: the first of these that is there counts alone. */
export interface CacheKind {
  /** Fields that it heeds before `Cache-Control`, in lower case. */
  readonly targeted: readonly string[];
  /** Whether it is one user's own, as a browser's: `private` does not bind it. */
  readonly isPrivate?: boolean;
  /** Whether it does as if there were no `Vary`, as most content delivery networks do. */
  readonly ignoresVary?: boolean;
}

/** A cache before a server, for GET. */
export interface CacheServer {
  readonly url: string;
  /** Answers that it gave without asking the server. */
  readonly hits: () => number;
  close(): Promise<void>;
}

interface Stored {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The request's headers that `Vary` names, as they were. */
  readonly vary: readonly (readonly [name: string, value: unknown])[];
}

/**
 * Starts a cache as a content delivery network runs one, by RFC 9111 and RFC 9213: of an address it keeps what it may keep, and
 * gives it to every request that agrees in what `Vary` names. Nothing gets old in it.
 */
export async function startCache(origin: string, kind: CacheKind): Promise<CacheServer> {
  const stored = new Map<string, Stored[]>();
  let hits = 0;

  const answer: RequestListener = (req, res) => {
    const known = stored.get(req.url ?? '') ?? [];
    const found = req.method === 'GET' ? known.find(({ vary }) => isMatch(vary, req.headers)) : undefined;
    if (found !== undefined) {
      hits += 1;
      return void res.writeHead(found.status, { ...found.headers, age: '1' }).end(found.body);
    }
    const headers = { ...req.headers, host: new URL(origin).host };
    const sent = request(`${origin}${req.url}`, { method: req.method, headers, agent: false });
    sent.on('error', () => res.destroy());
    sent.on('response', async (given) => {
      const body = Buffer.concat(await given.toArray());
      const status = given.statusCode ?? 0;
      if (req.method === 'GET' && mayKeep(given.headers, kind)) {
        const names = kind.ignoresVary ? [] : namesIn(given.headers.vary);
        const vary = names.map((name) => [name, req.headers[name]] as const);
        stored.set(req.url ?? '', [...known, { status, headers: given.headers, body, vary }]);
      }
      res.writeHead(status, given.headers).end(body);
    });
    req.pipe(sent);
  };

  const server = createServer(answer).listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hits: () => hits,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** `*` matches nothing (RFC 9110 §12.5.5). */
function isMatch(vary: Stored['vary'], headers: IncomingHttpHeaders): boolean {
  return vary.every(([name, value]) => name !== '*' && headers[name] === value);
}

function mayKeep(headers: IncomingHttpHeaders, { targeted, isPrivate = false }: CacheKind): boolean {
  const field = [...targeted, 'cache-control'].find((name) => headers[name] !== undefined);
  const value = String(headers[field ?? ''] ?? '');
  // Seconds and nothing else, as nginx has it.
  if (/^\d+$/.test(value)) return Number(value) > 0;
  const directives = namesIn(value).map((it) => it.split('=', 1)[0]);
  if (directives.includes('no-store') && !directives.includes('must-understand')) return false;
  if (directives.includes('private') && !isPrivate) return false;
  return /(?:max-age|s-maxage|maxage)\s*=\s*[1-9]/.test(value);
}

function namesIn(value: string | undefined): string[] {
  return (value ?? '')
    .split(',')
    .map((it) => it.trim().toLowerCase())
    .filter((it) => it !== '');
}
