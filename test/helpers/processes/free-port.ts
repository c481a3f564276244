import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those that systems give to whoever asks for any port: a test's own connections and servers never take one of these. */
const [LOWEST, HIGHEST] = [10_000, 30_000];

/** A port that nobody listens on now, for a server that must be told one. */
export async function freePort(): Promise<number> {
  const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
  const listener = createServer().listen(port, '127.0.0.1');
  try {
    await once(listener, 'listening');
  } catch {
    return freePort();
  }
  listener.close();
  await once(listener, 'close');
  return port;
}
