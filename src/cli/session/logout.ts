import { AUTH_PATHS } from '../../http/auth/schemas.js';
import { none, readArguments, SERVER_FLAGS } from '../arguments/arguments.js';
import { type Command, CommandError } from '../command.js';
import { printJson, printStep } from '../output/terminal.js';
import { forgetSignIn, serverOf, signedInServers, signInAt } from './credentials.js';
import { readResponseText, send } from './server-client.js';

/** `tollhouse logout`: ends a sign-in. */
export const logout: Command = {
  help: `tollhouse logout [--server <url>] [--all]

Ends the sign-in at a server, there and here.

  --server <url>   Tollhouse server (default: the one signed in to last)
  --all            at every server
  --json           for programs`,
  async run(args) {
    const { values, positionals } = readArguments(args, {
      ...SERVER_FLAGS,
      all: { type: 'boolean' },
    });
    none(positionals, 'tollhouse logout [--server <url>] [--all]');
    const servers = values.all ? signedInServers() : [serverOf(values.server)];
    const ended: { readonly server: string; readonly wallet: string | null }[] = [];
    for (const server of servers) {
      const wallet = await endSignIn(server);
      ended.push({ server, wallet: wallet ?? null });
      if (values.json) continue;
      printStep('signed out', wallet === undefined ? `nobody was signed in at ${server}` : `${wallet} at ${server}`);
    }
    if (values.json) printJson(ended);
    return 0;
  },
};

/** Returns who was signed in. The sign-in is forgotten here also when the server is away. */
async function endSignIn(server: string): Promise<string | undefined> {
  const signIn = signInAt(server);
  if (signIn === undefined) return undefined;
  forgetSignIn(server);
  const body = { token: signIn.refresh_token };
  try {
    await readResponseText(await send(server, { method: 'POST', path: AUTH_PATHS.revoke, body }));
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(`forgotten here, but the server was not told: ${error.message}`);
  }
  return signIn.wallet;
}
