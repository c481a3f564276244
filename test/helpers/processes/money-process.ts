import { until } from '../until.js';
import { type ListeningProcess, startListening } from './listening-process.js';

/** A gateway's process, which can be killed. */
export interface MoneyProcess extends ListeningProcess {
  /** Resolves when it stands still, where `MONEY_STANDS` has it do so. */
  stands(): Promise<void>;
}

/** Starts `money-server.ts`; resolves when it listens. */
export async function startMoneyProcess(env: Readonly<Record<string, string>>): Promise<MoneyProcess> {
  const started = await startListening('test/helpers/processes/money-server.ts', env);
  return { ...started, stands: () => until(() => started.told.includes('stands still')) };
}
