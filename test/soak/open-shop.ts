import { randomBytes } from 'node:crypto';
import type { Keypair } from '@solana/web3.js';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import type { PaymentRequirements } from '@x402/core/types';
import bs58 from 'bs58';
import type { Sandbox } from '../../src/sandbox/start-sandbox.js';
import { freePort } from '../helpers/processes/free-port.js';
import { walletKeyOf } from '../helpers/transactions/wallet-key.js';
import type { Chance } from './chance.js';
import type { Findings } from './findings.js';
import { CALL_PRICE_TEXT, PRICE, SLUG, USDC } from './goods.js';
import type { DatabaseKind } from './options.js';
import { createPaymentBook } from './payment-book.js';
import { type SellerProcess, startSeller } from './seller-process.js';
import { type Buyer, type Disturbance, insist, post, type Reply, type Shop } from './shop.js';

/** A shop with its process and its buyers. */
export interface OpenShop extends Shop {
  readonly seller: SellerProcess;
  readonly buyers: readonly Buyer[];
  readonly databaseUrl: string;
  readonly disturbances: Disturbance[];
  /** Pays refunds. */
  readonly refundWallet: Keypair;
  /** What the wallets held before anything was sold, atomic units. */
  readonly before: { readonly feePayer: bigint; readonly payToLamports: bigint; readonly refunds: bigint };
}

/** What a shop is opened with. */
export interface ShopPlan {
  readonly name: DatabaseKind;
  readonly databaseUrl: string;
  readonly sellerFile: string;
  readonly sandbox: Sandbox;
  readonly upstream: string;
  readonly chance: Chance;
  readonly findings: Findings;
  readonly buyers: number;
  blockhash(): string;
}

/** More than the club asks for, less than gold. */
const BUYERS_FUNDS = { usdc: '9000', sol: '1000' };
const REFUNDS_FUNDS = '5000';
/** Limits are not what is tried here. */
const LIMIT_SCALE = '1000000';

/** Starts a seller on a database, with a project behind its gateway and buyers with keys. */
export async function openShop(plan: ShopPlan): Promise<OpenShop> {
  const { name, databaseUrl, sandbox, chance, findings, blockhash } = plan;
  const feePayer = await sandbox.createWallet({ sol: '1000' });
  const payTo = addressOf(await sandbox.createWallet({ usdc: '0', sol: '1' }));
  const owner = await sandbox.createWallet({ usdc: '0' });
  const refundWallet = await sandbox.createWallet({ usdc: REFUNDS_FUNDS });
  const port = await freePort();
  const env = environment(plan, { feePayer, refundWallet, port });
  const seller = await startSeller(plan.sellerFile, { env, payTo, price: String(PRICE) });
  const shop = {
    name,
    url: `http://127.0.0.1:${port}`,
    sandbox,
    chance,
    findings,
    book: createPaymentBook(feePayer.secretKey),
    feePayer,
    payTo,
    owner: addressOf(owner),
    upstream: plan.upstream,
    strangers: [],
    blockhash,
    disturbances: [],
    terms: NO_TERMS,
    callTerms: NO_TERMS,
  };
  const asOwner = await signIn(shop, owner);
  const pricing = { amount: CALL_PRICE_TEXT, token: 'USDC', network: 'solana-devnet' };
  await made(shop, '/api/v1/projects', { slug: SLUG, name: SLUG, upstream: { url: plan.upstream }, pricing }, asOwner);
  const buyers: Buyer[] = [];
  for (let at = 0; at < plan.buyers; at += 1) buyers.push(await newBuyer(shop));
  const [{ key } = { key: {} }] = buyers;
  return {
    ...shop,
    seller,
    buyers,
    refundWallet,
    databaseUrl,
    terms: await termsOf(shop, '/after/terms', {}),
    callTerms: await termsOf(shop, `/v1/${SLUG}/terms`, key),
    before: {
      feePayer: sandbox.balance(addressOf(feePayer)),
      payToLamports: sandbox.balance(payTo),
      refunds: sandbox.tokenBalance(addressOf(refundWallet), USDC),
    },
  };
}

const NO_TERMS: PaymentRequirements = {
  scheme: 'exact',
  network: 'solana:none',
  asset: '',
  amount: '0',
  payTo: '',
  maxTimeoutSeconds: 0,
  extra: {},
};

interface SellerKeys {
  readonly feePayer: Keypair;
  readonly refundWallet: Keypair;
  readonly port: number;
}

function environment({ databaseUrl, sandbox }: ShopPlan, { feePayer, refundWallet, port }: SellerKeys) {
  return {
    HOST: '127.0.0.1',
    PORT: String(port),
    BASE_URL: `http://127.0.0.1:${port}`,
    SOLANA_NETWORK: 'solana-devnet',
    GATEWAY_OWNERS: 'open',
    SOLANA_RPC_URL: sandbox.rpcUrl,
    SOLANA_WS_URL: sandbox.wsUrl,
    FACILITATOR_KEYPAIR: bs58.encode(feePayer.secretKey),
    REFUND_KEYPAIR: bs58.encode(refundWallet.secretKey),
    REFUND_MAX_PER_DAY: `$${REFUNDS_FUNDS}`,
    DATABASE_URL: databaseUrl,
    JWT_SECRET: randomBytes(48).toString('base64url'),
    RATE_LIMIT_SCALE: LIMIT_SCALE,
    ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
    LOG_LEVEL: 'fatal',
  };
}

async function newBuyer(shop: Shop): Promise<Buyer> {
  const wallet = await shop.sandbox.createWallet(BUYERS_FUNDS);
  const grant = await signIn(shop, wallet);
  const { api_key, api_secret } = await made(shop, '/api/v1/keys/generate', { name: 'soak' }, grant);
  return { wallet, key: { 'x-service-key': String(api_key), 'x-service-secret': String(api_secret) } };
}

/** Signs a wallet in: its access token. A challenge whose response was lost in a disturbance is used up: another is asked for. */
export async function signIn(shop: Shop, wallet: Keypair, tries = 5): Promise<Readonly<Record<string, string>>> {
  const { address, sign } = walletKeyOf(wallet.secretKey.subarray(0, 32));
  const { nonce, message } = await made(shop, '/api/v1/auth/challenge', { wallet: address }, {});
  const grant = { wallet: address, nonce, signature: sign(String(message)) };
  const reply = await insist(shop, '/api/v1/auth/token', post(grant, {}));
  if (reply.code === 'sign_in_replayed' && tries > 1) return signIn(shop, wallet, tries - 1);
  return { authorization: `Bearer ${madeBy(reply, '/api/v1/auth/token')['access_token']}` };
}

/** What a POST has made; insists on it. */
export async function made(shop: Shop, path: string, body: unknown, headers: Readonly<Record<string, string>>) {
  return madeBy(await insist(shop, path, post(body, headers)), path);
}

function madeBy({ status, text, body }: Reply, path: string): Reply['body'] {
  if (status !== 200 && status !== 201) throw new Error(`${path} answered ${status}: ${text}`);
  return body;
}

async function termsOf(shop: Shop, path: string, headers: Readonly<Record<string, string>>) {
  const reply = await insist(shop, path, { headers });
  const [terms] = decodePaymentRequiredHeader(reply.headers.get('payment-required') ?? '').accepts;
  if (terms === undefined) throw new Error(`${path} offers no terms`);
  return terms;
}

function addressOf({ publicKey }: Keypair): string {
  return publicKey.toBase58();
}
