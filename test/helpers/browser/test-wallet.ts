import { type Keypair, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import type { BrowserContext } from 'playwright-core';
import { createEd25519Signer } from '../../../src/lib/ed25519/ed25519.js';
import { associatedTokenAddress } from '../../../src/solana/transaction/associated-token.js';
import { PROGRAMS } from '../../../src/solana/transaction/programs.js';
import { buildDraft } from '../transactions/draft.js';
import type { WalletLayout } from '../transactions/wallet-layouts.js';

/** What a wallet in a test's browser is like, and what its owner does. */
export interface TestWalletOptions {
  readonly keypair: Keypair;
  /** Default `Test Wallet`. */
  readonly name?: string;
  /** Default: those that Solana wallets have. */
  readonly chains?: readonly string[];
  /** What it makes of a transaction before it signs. Default: nothing. */
  readonly layout?: WalletLayout;
  /** Mint of what is paid, for the layout. */
  readonly mint?: string;
  /** What comes of a message that it is to sign. Default: a signature. */
  readonly messages?: 'throw' | 'nothing' | 'text';
  /** Asked before each signature; throws where the owner declines. */
  readonly onSign?: () => unknown;
}

/** A wallet that pages of a context find. */
export interface TestWallet {
  /** How many transactions it has signed. */
  readonly signed: () => number;
}

const CHAINS = ['solana:mainnet', 'solana:devnet', 'solana:testnet', 'solana:localnet'];
const ICON =
  'data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHdpZHRoPSI4IiBoZWlnaHQ9IjgiPjxyZWN0IHdpZHRoPSI4IiBoZWlnaHQ9IjgiIGZpbGw9IiM1YjgiLz48L3N2Zz4=';

/** Gives the pages of a context a wallet that registers itself by Wallet Standard and signs with a real key. */
export async function installWallet(context: BrowserContext, options: TestWalletOptions): Promise<TestWallet> {
  const { keypair, name = 'Test Wallet', chains = CHAINS, messages, onSign } = options;
  const id = name.replaceAll(/\W/g, '');
  let signed = 0;
  await context.exposeFunction(`signTransaction${id}`, async (base64: string) => {
    await onSign?.();
    signed += 1;
    return Buffer.from(signTransaction(Buffer.from(base64, 'base64'), options)).toString('base64');
  });
  await context.exposeFunction(`signMessage${id}`, async (base64: string) => {
    await onSign?.();
    const { sign } = createEd25519Signer(keypair.secretKey.subarray(0, 32));
    return Buffer.from(sign(Buffer.from(base64, 'base64'))).toString('base64');
  });
  await context.addInitScript(registerWallet, {
    id,
    name,
    chains,
    messages,
    icon: ICON,
    address: keypair.publicKey.toBase58(),
  });
  return { signed: () => signed };
}

/** Runs in the page, before its scripts. */
function registerWallet(given: {
  id: string;
  name: string;
  chains: readonly string[];
  messages: TestWalletOptions['messages'];
  icon: string;
  address: string;
}) {
  const { id, name, chains, messages, icon, address } = given;
  const toText = (bytes: Uint8Array) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  const toBytes = (text: string) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const call = async (what: string, bytes: Uint8Array) =>
    toBytes(await Reflect.get(globalThis, what + id)(toText(bytes)));
  const account = { address, publicKey: new Uint8Array(32), chains, features: ['solana:signTransaction'] };
  const accounts: object[] = [];
  const wallet = {
    ...{ version: '1.0.0', name, icon, chains, accounts },
    features: {
      'standard:connect': {
        version: '1.0.0',
        connect: async () => {
          accounts[0] = account;
          return { accounts };
        },
      },
      'solana:signTransaction': {
        version: '1.0.0',
        signTransaction: async ({ transaction }: { transaction: Uint8Array }) => [
          { signedTransaction: await call('signTransaction', transaction) },
        ],
      },
      'solana:signMessage': {
        version: '1.0.0',
        // No promise where it is out of order.
        signMessage({ message }: { message: Uint8Array }) {
          if (messages === 'throw') throw { code: 4001 };
          if (messages === 'nothing') return undefined;
          if (messages === 'text') return [{ signedMessage: message, signature: 'a signature' }];
          return call('signMessage', message).then((signature) => [{ signedMessage: message, signature }]);
        },
      },
    },
  };
  const register = (api: { register: (wallet: object) => void }) => api.register(wallet);
  const page = globalThis as typeof globalThis & EventTarget;
  page.addEventListener('wallet-standard:app-ready', (event) => register(Reflect.get(event, 'detail')));
  page.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: register }));
}

function signTransaction(bytes: Uint8Array, { keypair, layout, mint = '' }: TestWalletOptions): Uint8Array {
  const transaction = VersionedTransaction.deserialize(bytes);
  const { instructions, recentBlockhash, payerKey } = TransactionMessage.decompile(transaction.message);
  const authority = keypair.publicKey.toBase58();
  const honest = {
    ...{ version: 0 as const, feePayer: payerKey.toBase58(), blockhash: recentBlockhash, instructions },
    signers: [keypair],
  };
  const source = associatedTokenAddress(authority, mint === '' ? authority : mint, PROGRAMS.token);
  const transfer = { source, mint, destination: source, authority, amount: 0n, decimals: 6, program: PROGRAMS.token };
  return buildDraft(layout === undefined ? honest : layout(honest, transfer));
}
