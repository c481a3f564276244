import { loadLater } from '../work/load-later.js';

/**
 * Loads what is in use of undici, with the first request and not with the package. Its entry would make a dispatcher of its own
 * that of the whole process, by which Node's own `fetch` and other libraries would then send their requests; its parts do not.
 */
export const loadUndici = loadLater(async () => {
  const [{ default: Agent }, { default: Pool }, { default: Dispatcher }, { default: request }, connect] =
    await Promise.all([
      import('undici/lib/dispatcher/agent.js'),
      import('undici/lib/dispatcher/pool.js'),
      import('undici/lib/dispatcher/dispatcher.js'),
      import('undici/lib/api/api-request.js'),
      import('undici/lib/core/connect.js'),
    ]);
  // As its entry does.
  Object.assign(Dispatcher.prototype, { request });
  return { Agent, Pool, buildConnector: connect.default };
});
