import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { freePort } from '../processes/free-port.js';

/** A real Redis server of a test's own. */
export interface RedisServer {
  readonly url: string;
  /** Has it do something, such as `'CONFIG', 'SET', 'requirepass', 'x'`. */
  command(name: string, ...values: string[]): Promise<void>;
  /** It hangs from now on: connections stay, and are even made, and nothing is answered. */
  freeze(): void;
  /** It goes on where it was. */
  thaw(): void;
  stop(): Promise<void>;
}

/** Whether this machine has a Redis server that a test can start. */
export const HAS_REDIS = spawnSync('redis-server', ['--version']).status === 0;

/**
 * Starts a server on a port, a free one unless told. It keeps nothing on disk.
 * @param more - further settings, as its command line has them
 */
export async function startRedis(port?: number, more: readonly string[] = []): Promise<RedisServer> {
  const at = port ?? (await freePort());
  const settings = ['--port', `${at}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const child = spawn('redis-server', [...settings, ...more], { stdio: ['ignore', 'pipe', 'inherit'] });
  await ready(child);
  return {
    url: `redis://127.0.0.1:${at}`,
    async command(name, ...values) {
      const driver = new Redis(at, '127.0.0.1', { enableReadyCheck: false });
      await driver.call(name, ...values).finally(() => driver.disconnect());
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    stop: async () => {
      const closed = once(child, 'close');
      child.kill('SIGKILL');
      await closed;
    },
  };
}

async function ready(child: ChildProcess): Promise<void> {
  if (child.stdout === null) throw new Error('the server has no output');
  const lines = createInterface({ input: child.stdout });
  await new Promise<void>((resolve, reject) => {
    lines.on('line', (line) => /Ready to accept connections|Loading RDB/.test(line) && resolve());
    child.once('close', () => reject(new Error('the Redis server did not start')));
  });
}
