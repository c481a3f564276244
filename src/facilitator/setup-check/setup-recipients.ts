import { REASONS } from '../../protocol/reasons.js';
import type { NetworkId, Token } from '../../protocol/types.js';
import type { MintPolicy } from '../../solana/accounts/mint-policy.js';
import type { ReceivingAccounts } from '../../solana/accounts/receiving-accounts.js';
import {
  isFrozen,
  type MintFacts,
  mintFactsOf,
  needsMemo,
  showsScaledAmounts,
  tokenAccountOf,
} from '../../solana/accounts/token-accounts.js';
import type { AccountState, SolanaRpc } from '../../solana/rpc/rpc.js';
import { associatedTokenAddress } from '../../solana/transaction/associated-token.js';
import { type SetupFinding, setupError, setupWarning } from '../setup/setup-finding.js';
import type { PaymentNeed } from '../setup/setup-target.js';
import { localNode } from './local-node.js';
import { walletFault } from './recipients.js';

/** What recipients are looked at with. */
export interface RecipientParts {
  readonly network: NetworkId;
  readonly rpc: Pick<SolanaRpc, 'getAccounts' | 'nodes'>;
  readonly tokens: readonly Token[];
  readonly mintPolicy: MintPolicy;
  /** Told what was seen of the recipients' accounts. Default: nobody is. */
  readonly receiving?: Pick<ReceivingAccounts, 'isForeign'>;
}

/** A recipient's token account that is to be there. */
interface Receiving {
  readonly payTo: string;
  readonly asset: string;
  readonly account: string;
}

/** Most addresses in one call (Solana's limit). */
const MAX_ACCOUNTS = 100;

/**
 * Whether tokens can be taken, and whether those who are to be paid can receive them. Two calls to the chain, and one for
 * each Token-2022 mint.
 */
export async function checkRecipients(
  parts: RecipientParts,
  needs: readonly PaymentNeed[],
): Promise<readonly SetupFinding[]> {
  const assets = [...new Set(needs.map(({ asset }) => asset))];
  const wallets = [...new Set(needs.flatMap(({ payTo }) => payTo ?? []))];
  const accounts = await readAccounts(parts.rpc, [...assets, ...wallets]);
  const accountOf = (address: string) => accounts.get(address) ?? null;
  const mints = new Map(assets.map((asset) => [asset, mintFactsOf(accountOf(asset))]));
  const mintFindings = await Promise.all(assets.map((asset) => checkMint(parts, asset, accountOf(asset))));
  const notWallets = wallets.flatMap((it) => notWallet(it, walletFault(it, accountOf(it))));
  const lost = new Set(notWallets.map(({ about }) => about));
  const receiving = needs.flatMap(({ payTo, asset }): readonly Receiving[] => {
    const program = mints.get(asset)?.program;
    if (payTo === undefined || program === undefined || lost.has(payTo)) return [];
    return [{ payTo, asset, account: associatedTokenAddress(payTo, asset, program) }];
  });
  const states = await readAccounts(
    parts.rpc,
    receiving.map(({ account }) => account),
  );
  const unpayable = receiving.flatMap((it) => receivingFault(parts, it, states.get(it.account) ?? null));
  return [...mintFindings.flat(), ...notWallets, ...unpayable];
}

async function readAccounts(rpc: RecipientParts['rpc'], addresses: readonly string[]) {
  const found = new Map<string, AccountState | null>();
  for (let from = 0; from < addresses.length; from += MAX_ACCOUNTS) {
    const asked = addresses.slice(from, from + MAX_ACCOUNTS);
    const states = await rpc.getAccounts(asked, 'confirmed');
    for (const [index, address] of asked.entries()) found.set(address, states[index] ?? null);
  }
  return found;
}

async function checkMint(
  { network, tokens, mintPolicy }: RecipientParts,
  asset: string,
  account: AccountState | null,
): Promise<readonly SetupFinding[]> {
  const token = tokens.find(({ mint }) => mint === asset);
  const name = token?.symbol ?? asset;
  const facts = mintFactsOf(account);
  if (account === null || facts === undefined) {
    const what = account === null ? `there is no account ${asset} on ${network}` : `${asset} is no token mint`;
    const detail = token === undefined ? `${what}, so that nobody can pay with it` : `${what}, which is to be ${name}`;
    const known = tokens.map(({ symbol, mint }) => `${symbol} ${mint}`).join(', ');
    return [setupError({ code: 'mint_missing', about: asset, detail, fix: `ask for a mint of ${network}: ${known}` })];
  }
  if (token !== undefined && !isSame(token, facts)) return [mismatch(token, facts)];
  const reason = await mintPolicy(asset, facts.program);
  if (reason === undefined) return showsScaledAmounts(account) ? [shownScaled(asset, name, facts)] : [];
  const fix =
    reason === 'invalid_exact_svm_mint_not_accepted'
      ? `if you trust its issuer, name it in allowMints: ['${asset}']; else ask for another token`
      : 'ask for another token';
  return [setupError({ code: 'mint_refused', about: asset, detail: `${name}: ${REASONS[reason]}`, fix })];
}

function isSame(token: Token, { decimals, program }: MintFacts): boolean {
  return token.decimals === decimals && token.program === program;
}

function mismatch({ symbol, mint }: Token, { decimals, program }: MintFacts): SetupFinding {
  return setupError({
    code: 'mint_mismatch',
    about: mint,
    detail: `${symbol} has other decimals or another token program on the chain than in your list of tokens`,
    fix: `in tokens (TOKENS_FILE), set decimals of ${symbol} to ${decimals} and program to ${program}`,
  });
}

function shownScaled(mint: string, name: string, { decimals }: MintFacts): SetupFinding {
  return setupWarning({
    code: 'mint_shown_scaled',
    about: mint,
    detail: `${name} has a multiplier or interest (Token-2022): prices and balances count its own units by its ${decimals} decimals, before any multiplier, and wallets may show another number`,
    fix: `see both numbers with spl-token display ${mint}, and write prices and minBalance of ${name} in its own units`,
  });
}

function notWallet(wallet: string, fault: string | undefined): readonly SetupFinding[] {
  if (fault === undefined) return [];
  const fix = 'set payTo to the address of your wallet: solana address';
  return [setupError({ code: 'recipient_not_wallet', about: wallet, detail: `payTo ${fault}`, fix })];
}

function receivingFault(
  { network, rpc, tokens, receiving }: RecipientParts,
  { payTo, asset, account }: Receiving,
  state: AccountState | null,
): readonly SetupFinding[] {
  const name = tokens.find(({ mint }) => mint === asset)?.symbol ?? asset;
  const about = `${payTo} ${asset}`;
  const found = tokenAccountOf(state);
  receiving?.isForeign({ account, wallet: payTo }, state);
  if (state === null || found === undefined) {
    const detail = `the recipient ${payTo} has no ${name} token account (${account}), so that every payment to it is refused`;
    const local = localNode(rpc);
    const at = local === undefined ? '' : ` --rpc ${local}`;
    const fix = `npx tollhouse accounts create ${payTo} --token ${name} --network ${network}${at} --keypair <file of a wallet with some SOL>`;
    return [setupError({ code: 'recipient_account_missing', about, detail, fix })];
  }
  if (found.owner !== payTo) {
    const detail = `the ${name} token account of ${payTo} (${account}) belongs to ${found.owner} now, who would get the money`;
    return [setupError({ code: 'recipient_account_foreign', about, detail, fix: 'set payTo to another wallet' })];
  }
  if (needsMemo(state)) {
    const detail = `the ${name} token account of ${payTo} (${account}) takes only transfers that a memo stands before, so that most wallets cannot pay`;
    const fix = `spl-token disable-required-transfer-memos ${account}, or set payTo to another wallet`;
    return [setupError({ code: 'recipient_account_needs_memo', about, detail, fix })];
  }
  if (!isFrozen(state)) return [];
  const detail = `the ${name} token account of ${payTo} (${account}) is frozen: it can receive nothing`;
  const fix = `ask the issuer of ${name} to thaw it, or set payTo to another wallet`;
  return [setupError({ code: 'recipient_account_frozen', about, detail, fix })];
}
