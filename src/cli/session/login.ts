import { AUTH_PATHS } from '../../http/auth/schemas.js';
import { parseSiwsMessage } from '../../identity/sign-in/siws-message.js';
import type { Ed25519Signer } from '../../lib/ed25519/ed25519.js';
import { addressOf, signatureText } from '../../protocol/address.js';
import { readKeypair } from '../../solana/keypair.js';
import { readArguments, readWallet } from '../arguments/arguments.js';
import { type Command, CommandError, UsageError } from '../command.js';
import { printJson, printStep } from '../output/terminal.js';
import { credentialsPath, keepSignIn, type NewSignIn, serverOf } from './credentials.js';
import { DEFAULT_SERVER, postJson } from './server-client.js';
import { signInFrom } from './session.js';

/** Nobody can pay himself. */
const DEMO_SELLER = 1;
const DEMO_BUYER = 0;

/** `tollhouse login`: signs in with a wallet. */
export const login: Command = {
  help: `tollhouse login (--keypair <file> | --demo [--buyer]) [--server <url>] [--print]

Signs in at a server with a wallet (Sign In With Solana), for the commands projects, keys,
analytics and webhooks of those who sell, and keys, passes, calls, receipt, spending and events of those who buy.
They go to the server that you signed in to last, unless --server names another; tokens are renewed by themselves.

  --keypair <file>      key file of the wallet (the JSON array of solana-keygen)
  --demo                a public demo wallet of the sandbox chain; another one than that which pays with --demo
  --buyer               with --demo: the one that pays
  --server, --url <url> Tollhouse server (default: the one signed in to last, else ${DEFAULT_SERVER})
  --print               shows an access token, good for 15 minutes, and keeps nothing
  --json                for programs

Tokens are kept in $XDG_CONFIG_HOME/tollhouse/credentials.json (default ~/.config), readable by you only.`,
  async run(args) {
    const { values, positionals } = readArguments(args, {
      keypair: { type: 'string' },
      demo: { type: 'boolean' },
      buyer: { type: 'boolean' },
      server: { type: 'string' },
      url: { type: 'string' },
      print: { type: 'boolean' },
      json: { type: 'boolean' },
    });
    if (positionals.length > 0)
      throw new UsageError(`"${positionals.join(' ')}" is not understood; npx tollhouse login --help`);
    if (values.buyer && !values.demo) throw new UsageError('--buyer goes with --demo');
    const wallet = readWallet(values.keypair, values.demo, values.buyer ? DEMO_BUYER : DEMO_SELLER);
    if (wallet === undefined) {
      throw new UsageError('say which wallet signs in: --keypair <file>, or --demo on the sandbox chain');
    }
    const server = serverOf(values.server ?? values.url);
    const signIn = await signInAs(readKeypair(wallet, 'tollhouse login'), server);
    if (values.print) {
      if (values.json) printJson({ wallet: signIn.wallet, server, access_token: signIn.access_token });
      else console.log(signIn.access_token);
      return 0;
    }
    keepSignIn(server, signIn);
    if (values.json) printJson({ wallet: signIn.wallet, server, kept_in: credentialsPath() });
    else {
      printStep('signed in', `${signIn.wallet} at ${server}`);
      printStep('kept in', credentialsPath());
    }
    return 0;
  },
};

async function signInAs(signer: Ed25519Signer, server: string): Promise<NewSignIn> {
  const wallet = addressOf(signer.publicKey);
  const { message, nonce } = await postJson(server, AUTH_PATHS.challenge, { wallet });
  const text = String(message);
  checkMessage(text, { server, wallet });
  const signature = signatureText(signer.sign(Buffer.from(text)));
  return signInFrom(wallet, await postJson(server, AUTH_PATHS.token, { wallet, nonce, signature }));
}

/** A server could have the sign-in of another site signed, or something that is none, and use it elsewhere. */
function checkMessage(text: string, { server, wallet }: { readonly server: string; readonly wallet: string }): void {
  const message = parseSiwsMessage(text);
  if (!message.ok) throw new CommandError(`${server} asks to sign what is no sign-in: ${message.detail}`);
  const { domain, address } = message.value;
  const { host } = new URL(server);
  if (address !== wallet) throw new CommandError(`${server} asks to sign in as ${address}, not as ${wallet}`);
  if (domain === host) return;
  throw new CommandError(
    `${server} asks to sign in at ${domain}, not at ${host}; if that is the same server, name it so with --server`,
  );
}
