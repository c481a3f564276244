import { writeFileSync } from 'node:fs';
import { newKeyFile } from '../../solana/keypair.js';
import { none, readArguments } from '../arguments/arguments.js';
import { type Command, CommandError, UsageError } from '../command.js';
import { unwritable } from '../output/system-words.js';
import { printJson, printStep } from '../output/terminal.js';

const DEFAULT_FILE = 'fee-payer.json';
const OWNER_ONLY = 0o600;

/** `tollhouse keygen`: a new key, in a file that only its owner can read. */
export const keygen: Command = {
  help: `tollhouse keygen [--out <file>] [--json]

Makes a new Solana key, writes it to a file that only you can read (mode 600), and prints its address. A file that is there
is never overwritten. The file has the form of solana-keygen, and is what FACILITATOR_KEYPAIR and --keypair take. Whoever
has it can spend what the address holds; without it nobody can: keep a copy.

  --out <file>   where to write it (default ${DEFAULT_FILE})
  --json         for programs: {"file", "address"}
  --print        print the secret key on standard output instead of writing a file, for the store of secrets that it is piped to`,
  async run(args) {
    const { values, positionals } = readArguments(args, {
      out: { type: 'string' },
      print: { type: 'boolean' },
      json: { type: 'boolean' },
    });
    none(positionals, 'tollhouse keygen [--out <file>]');
    const { out, print, json } = values;
    if (print && out !== undefined) throw new UsageError('--out and --print exclude each other');
    const { address, text } = newKeyFile();
    if (print) {
      process.stdout.write(text);
      console.error(`address ${address}`);
      return 0;
    }
    if (out === '') throw new UsageError('--out must be the name of a file');
    const path = out ?? DEFAULT_FILE;
    write(path, text);
    if (json) {
      printJson({ file: path, address });
      return 0;
    }
    printStep('written', `${path} (mode 600)`);
    printStep('address', address);
    return 0;
  },
};

/** Makes the file with its mode at once, so that nobody can read it before it is set. */
function write(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: 'wx', mode: OWNER_ONLY });
  } catch (error) {
    if (Reflect.get(Object(error), 'code') === 'EEXIST')
      throw new CommandError(
        `the file "${path}" is there already, and a key is never overwritten; name another: --out <file>`,
      );
    throw unwritable('--out', path, error);
  }
}
