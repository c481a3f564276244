import { z } from 'zod';
import { type Parsed, parsed, unparsed } from '../../lib/parsed.js';
import type { NetworkId, Token } from '../../protocol/types.js';
import { createMintPolicy, type MintPolicy } from '../../solana/accounts/mint-policy.js';
import { RpcError, type SolanaRpc } from '../../solana/rpc/rpc.js';
import { isOnCurve } from '../../solana/transaction/on-curve.js';
import { type SetupFinding, setupError, setupWarning } from '../setup/setup-finding.js';
import type { PaymentNeed } from '../setup/setup-target.js';
import { checkEndpoints } from '../setup-check/setup-endpoints.js';
import { checkRecipients } from '../setup-check/setup-recipients.js';
import { OtherNetworkFault, type Remote } from './remote.js';
import { RemoteFault } from './remote-client.js';

/** What gates in front of another facilitator are checked with. */
export interface RemoteSetupParts {
  readonly network: NetworkId;
  readonly tokens: readonly Token[];
  readonly remotes: readonly Remote[];
  /** Our own way to the chain; without it, recipients are looked at as far as their addresses tell. */
  readonly rpc: SolanaRpc | undefined;
  /** Longest wait for a response, in milliseconds. */
  readonly timeoutMs: number;
}

/** As far as it is read; Tollhouse's own, and nobody has to have it. */
const healthResponse = z.object({ status: z.string(), networks: z.record(z.string(), z.string()) });

/** Checks what can be known from here: the other facilitators, our own RPC if there is one, and who is to be paid. */
export async function checkRemoteSetup(
  parts: RemoteSetupParts,
  needs: readonly PaymentNeed[],
): Promise<readonly SetupFinding[]> {
  const [remotes, recipients] = await Promise.all([checkRemotes(parts), checkPayees(parts, needs)]);
  return [...remotes, ...recipients];
}

async function checkRemotes({ remotes, ...parts }: RemoteSetupParts): Promise<readonly SetupFinding[]> {
  await Promise.all(remotes.map((remote) => remote.renew(0)));
  const isAnyWell = remotes.some((it) => it.well());
  const found = await Promise.all(
    remotes.map((remote) => (remote.well() ? checkHealth(remote, parts) : [faultFinding(remote, parts, isAnyWell)])),
  );
  return found.flat();
}

function faultFinding(
  remote: Remote,
  { network }: Pick<RemoteSetupParts, 'network'>,
  isOneOfSeveral: boolean,
): SetupFinding {
  const fault = remote.fault();
  const { host } = remote.client;
  const detail = `the facilitator cannot be used: ${fault?.message ?? 'it has not answered'}`;
  const finding =
    fault instanceof OtherNetworkFault
      ? {
          code: 'facilitator_other_network' as const,
          fix: `name a facilitator that settles on ${network}, or its network`,
        }
      : {
          code: 'facilitator_unreachable' as const,
          fix: `see that ${host} answers GET /supported under the url that was given`,
        };
  const whole = { about: host, detail, ...finding };
  return isOneOfSeveral ? setupWarning(whole) : setupError(whole);
}

/** Nothing follows from a facilitator that has no such address. */
async function checkHealth(
  { client }: Remote,
  { network, timeoutMs }: Pick<RemoteSetupParts, 'network' | 'timeoutMs'>,
): Promise<readonly SetupFinding[]> {
  const health = await client.ask('health', undefined, timeoutMs, readHealth).catch(unsaid);
  const state = health?.networks[network];
  if (state !== 'degraded' && state !== 'down') return [];
  const finding = setupWarning({
    code: 'facilitator_degraded',
    about: client.host,
    detail: `the facilitator ${client.host} says that ${network} is ${state}`,
    fix: 'tell its operator, or name another facilitator',
  });
  return [finding];
}

function readHealth(body: unknown): Parsed<z.output<typeof healthResponse>> {
  const { data } = healthResponse.safeParse(body);
  return data === undefined ? unparsed('it has another shape') : parsed(data);
}

function unsaid(error: unknown): undefined {
  if (error instanceof RemoteFault) return undefined;
  throw error;
}

async function checkPayees(
  { rpc, network, tokens }: RemoteSetupParts,
  needs: readonly PaymentNeed[],
): Promise<readonly SetupFinding[]> {
  if (rpc === undefined) return offCurve(needs);
  const { usable, findings } = await checkEndpoints({ network, rpc });
  if (!usable) return [...findings, ...offCurve(needs)];
  try {
    return [...findings, ...(await checkRecipients({ rpc, network, tokens, mintPolicy: keepsNoFee(rpc) }, needs))];
  } catch (error) {
    if (error instanceof RpcError) return findings;
    throw error;
  }
}

/** Which extensions are taken is the other's decision; what arrives is ours. */
function keepsNoFee(rpc: SolanaRpc): MintPolicy {
  const policy = createMintPolicy({ rpc, allowedMints: new Set(), trustedMints: new Set() });
  return async (mint, program) => {
    const reason = await policy(mint, program);
    return reason === 'invalid_exact_svm_mint_not_accepted' ? undefined : reason;
  };
}

function offCurve(needs: readonly PaymentNeed[]): readonly SetupFinding[] {
  const wallets = new Set(needs.flatMap(({ payTo }) => payTo ?? []));
  return [...wallets]
    .filter((it) => !isOnCurve(it))
    .map((wallet) =>
      setupWarning({
        code: 'recipient_not_wallet',
        about: wallet,
        detail: `payTo ${wallet} is the address of a program's account, not of a key: right for the vault of a multisig, wrong for a token account`,
        fix: 'set payTo to the wallet itself; with rpcUrl it can be looked at',
      }),
    );
}
