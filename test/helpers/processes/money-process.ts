import { createInterface } from 'node:readline';
import { until } from '../until.js';
import { runFile } from './run-file.js';

/** A gateway's process, which can be killed. */
export interface MoneyProcess {
  readonly port: number;
  /** Resolves when it stands still, where `MONEY_STANDS` has it do so. */
  stands(): Promise<void>;
  /** Ends it with SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

/** Starts `money-server.ts`; resolves when it listens. */
export async function startMoneyProcess(env: Readonly<Record<string, string>>): Promise<MoneyProcess> {
  const child = runFile('test/helpers/processes/money-server.ts', [], env);
  if (child.stdout === null || child.stderr === null) throw new Error('the server has no output');
  const told: string[] = [];
  let over = false;
  createInterface({ input: child.stdout }).on('line', (line) => told.push(line));
  createInterface({ input: child.stderr }).on('line', (line) => told.push(`stderr ${line}`));
  child.once('close', () => {
    over = true;
  });
  const port = () => told.find((it) => it.startsWith('listening '))?.slice('listening '.length);
  await until(() => over || port() !== undefined);
  if (over) throw new Error(`the server did not start:\n${told.join('\n')}`);
  return {
    port: Number(port()),
    stands: () => until(() => told.includes('stands still')),
    async kill() {
      // The runner and what it runs are one group: both end at once.
      process.kill(-(child.pid ?? 0), 'SIGKILL');
      await until(() => over);
    },
  };
}
