import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { trimEnd } from '../../lib/trim-end.js';
import { readSecretFile } from '../../server/configuration/secret-file.js';
import { CommandError, UsageError } from '../command.js';
import { writeOwn } from '../state/write-own.js';
import { userFolder } from '../user-folder.js';
import { DEFAULT_SERVER } from './server-client.js';

const signInSchema = z.object({
  wallet: z.string(),
  access_token: z.string(),
  refresh_token: z.string(),
  expires_at: z.number(),
  /** Names the request that renews it. Not made of the refresh token: whoever comes by a used one must not be told what came of it. */
  renewal_key: z.string().default(() => randomUUID()),
});

const fileSchema = z.object({ current: z.string().optional(), servers: z.record(z.string(), signInSchema) });

/** A wallet that is signed in at a server. `expires_at`: of the access token, milliseconds since the epoch. */
export type SignIn = z.output<typeof signInSchema>;

/** One that was just made. */
export type NewSignIn = z.input<typeof signInSchema>;

type Credentials = z.output<typeof fileSchema>;

/** Where sign-ins are kept: `tollhouse/credentials.json` in `XDG_CONFIG_HOME`, or in `~/.config`. */
export function credentialsPath(): string {
  return join(userFolder('XDG_CONFIG_HOME', '.config'), 'tollhouse', 'credentials.json');
}

/** The server that is meant: the one named, else the one signed in to last, else a local one. Without a `/` at its end. */
export function serverOf(named: string | undefined): string {
  if (named === undefined) return read().current ?? DEFAULT_SERVER;
  const url = URL.canParse(named) ? new URL(named) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search + url.hash !== '') {
    throw new UsageError(`--server "${named}" is not the address of a server, such as ${DEFAULT_SERVER}`);
  }
  return trimEnd(url.href, '/');
}

/** Who is signed in at a server. */
export function signInAt(server: string): SignIn | undefined {
  const { servers } = read();
  return Object.hasOwn(servers, server) ? servers[server] : undefined;
}

/** Every server that somebody is signed in at. */
export function signedInServers(): readonly string[] {
  return Object.keys(read().servers);
}

/** Keeps a sign-in in a file that only its owner can read. The server is the one that is meant from now on. */
export function keepSignIn(server: string, signIn: NewSignIn): void {
  write({ current: server, servers: { ...read().servers, [server]: signInSchema.parse(signIn) } });
}

/** Puts new tokens in the place of used ones. */
export function renewSignIn(server: string, signIn: NewSignIn): SignIn {
  const known = read();
  const kept = signInSchema.parse(signIn);
  write({ ...known, servers: { ...known.servers, [server]: kept } });
  return kept;
}

/** Forgets a sign-in. */
export function forgetSignIn(server: string): void {
  const { current, servers } = read();
  const rest = Object.fromEntries(Object.entries(servers).filter(([it]) => it !== server));
  write({ servers: rest, ...(current === undefined || current === server ? {} : { current }) });
}

function read(): Credentials {
  const path = credentialsPath();
  if (!existsSync(path)) return { servers: {} };
  try {
    return fileSchema.parse(JSON.parse(readSecretFile(path) ?? ''));
  } catch {
    throw new CommandError(`${path} cannot be read; put it right or delete it, and sign in again`);
  }
}

/** A refresh that could not be written down is had again by its key. */
function write(credentials: Credentials): void {
  const advice = 'put that right, and run the command again';
  writeOwn(credentialsPath(), `${JSON.stringify(credentials, undefined, 2)}\n`, advice);
}
