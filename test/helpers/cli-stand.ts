import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Keypair } from '@solana/web3.js';
import { runCli } from '../../src/cli/run-cli.js';
import { readConfiguration } from '../../src/server/configuration/configuration.js';
import { type RunningServer, startServer } from '../../src/server/start-server.js';
import type { Ended } from './run-file.js';

/** What a command printed: `out` on standard output alone, `text` on both. */
export interface Ran extends Ended {
  readonly out: string;
}

/** A server, and users of the command line that have a folder of their own. */
export interface CliStand {
  readonly server: RunningServer;
  /** Folder of the user's configuration. */
  readonly folder: string;
  /** Runs the command line in this process, against {@link CliStand.folder}. One at a time. */
  run(...args: readonly string[]): Promise<Ran>;
  /** A wallet as a key file. */
  keyFile(wallet: Keypair): string;
  close(): Promise<void>;
}

/** Starts a server with a sandbox chain of its own, and everything in memory. */
export async function openCliStand(): Promise<CliStand> {
  const folder = mkdtempSync(join(tmpdir(), 'tollhouse-cli-'));
  const before = process.env['XDG_CONFIG_HOME'];
  process.env['XDG_CONFIG_HOME'] = folder;
  const settings = { PORT: '0', LOG_LEVEL: 'silent', DATABASE_URL: 'memory:', RATE_LIMIT_SCALE: '100' };
  const server = await startServer(readConfiguration(settings));
  return {
    server,
    folder,
    run: (...args) => runHere(args),
    keyFile(wallet) {
      const path = join(folder, `${wallet.publicKey.toBase58()}.json`);
      writeFileSync(path, JSON.stringify([...wallet.secretKey]), { mode: 0o600 });
      return path;
    },
    async close() {
      if (before === undefined) delete process.env['XDG_CONFIG_HOME'];
      else process.env['XDG_CONFIG_HOME'] = before;
      rmSync(folder, { recursive: true, force: true });
      await server.close();
    },
  };
}

/** Runs the command line, and reads what it prints. */
async function runHere(args: readonly string[]): Promise<Ran> {
  let [out, text] = ['', ''];
  const print = (line: string) => {
    out += line;
    text += line;
  };
  const spies = [
    jest.spyOn(console, 'log').mockImplementation((line) => print(`${line}\n`)),
    jest.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
      print(String(chunk));
      return true;
    }),
    jest.spyOn(console, 'error').mockImplementation((line) => {
      text += `${line}\n`;
    }),
  ];
  try {
    const code = await runCli(args);
    return { code, out, text };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
