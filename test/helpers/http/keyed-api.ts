import { type AppServer, serveApp } from './app-server.js';

/** An API that ran before anybody sold it: all of it but its health asks for a key of its own, and it knows of no gateway. */
export interface KeyedApi extends AppServer {
  /** What its header `X-Api-Key` must be. */
  readonly key: string;
  /** Its OpenAPI document: two free operations, one with a price of its own, one that says nothing. */
  readonly document: object;
  /** Paths that it has served, in their order. */
  readonly served: readonly string[];
}

const KEY = 'of-the-api-itself-3f8a';

/** Starts one on a free port. */
export async function startKeyedApi(): Promise<KeyedApi> {
  const served: string[] = [];
  const server = await serveApp((app) => {
    app.get('/health', (_req, res) => void res.json({ ok: true }));
    app.use((req, res, next) => {
      if (req.get('x-api-key') !== KEY) return void res.status(401).json({ error: 'no key' });
      served.push(req.path);
      next();
    });
    app.get('/towns', (_req, res) => void res.json(['berlin', 'rome']));
    app.get('/weather/:town', (req, res) => void res.json({ town: req.params.town, sun: true }));
    app.get('/forecast/:town', (req, res) => void res.json({ town: req.params.town, days: 7 }));
  });
  const free = { price: { mode: 'free' } };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Weather of towns', version: '1' },
    servers: [{ url: server.url }],
    security: [{ key: [] }],
    paths: {
      '/health': { get: { security: [], responses: {} } },
      '/towns': { get: { 'x-payment-info': free, responses: {} } },
      '/weather/{town}': { get: { responses: {} } },
      '/forecast/{town}': {
        get: { 'x-payment-info': { price: { mode: 'fixed', currency: 'USD', amount: '0.05' } }, responses: {} },
      },
    },
  };
  return { ...server, key: KEY, document, served };
}
