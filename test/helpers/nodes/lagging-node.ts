import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { VersionedTransaction } from '@solana/web3.js';
import type { Sandbox } from '../../../src/sandbox/start-sandbox.js';
import { CLOCK_SYSVAR } from '../../../src/solana/accounts/chain-time.js';

/** A node that follows the chain some slots late, for good, and says that it is well. */
export interface LaggingNode {
  readonly url: string;
  /** So many slots it is behind; default 0. */
  slotsBehind: number;
  /** So much earlier than it is the chain's clock is as it shows it, in milliseconds; default 0. */
  clockBehindMs: number;
  /** Methods that it was asked for. */
  readonly calls: string[];
  close(): Promise<void>;
}

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

interface Told {
  result?: unknown;
  error?: unknown;
}

const JSON_HEADERS = { 'content-type': 'application/json' };
const CLOCK_TIME_OFFSET = 32;
const UNKNOWN = { err: 'BlockhashNotFound', logs: [], accounts: null, unitsConsumed: 0, innerInstructions: null };
const PREFLIGHT = {
  code: -32_002,
  message: 'Transaction simulation failed: Blockhash not found',
  data: UNKNOWN,
};

/** Starts one before a chain. It knows the blockhashes that it has been asked for, or seen others ask for, as of its own time. */
export async function startLaggingNode(sandbox: Sandbox): Promise<LaggingNode> {
  const hashes: { readonly slot: number; readonly value: { readonly blockhash: string } }[] = [];
  const ask = async (call: Partial<Call>): Promise<Told> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...call });
    return (await (await fetch(sandbox.rpcUrl, { method: 'POST', headers: JSON_HEADERS, body })).json()) as Told;
  };
  const note = async (): Promise<void> => {
    const { result } = await ask({ method: 'getLatestBlockhash', params: [{ commitment: 'processed' }] });
    const { context, value } = result as { context: { slot: number }; value: { blockhash: string } };
    hashes.push({ slot: context.slot, value });
  };
  const slot = (): number => sandbox.slot() - node.slotsBehind;
  const knows = (text: unknown): boolean => {
    const { recentBlockhash } = VersionedTransaction.deserialize(Buffer.from(String(text), 'base64')).message;
    return node.slotsBehind === 0 || hashes.some((it) => it.value.blockhash === recentBlockhash && it.slot <= slot());
  };

  function lateWord({ method, params: [first, config] }: Call): Told | undefined {
    const asked = Object(config);
    const context = { slot: slot() };
    if (method === 'getHealth') return { result: 'ok' };
    if (method === 'simulateTransaction' && !asked.replaceRecentBlockhash && !knows(first))
      return { result: { context, value: UNKNOWN } };
    if (method === 'sendTransaction' && !asked.skipPreflight && !knows(first)) return { error: PREFLIGHT };
    if (method !== 'getLatestBlockhash' || node.slotsBehind === 0) return undefined;
    return { result: { context, value: (hashes.findLast((it) => it.slot <= slot()) ?? hashes[0])?.value } };
  }

  async function answer(call: Call): Promise<Told> {
    const own = lateWord(call);
    if (own !== undefined) return own;
    const told = await ask(call);
    const result = Object(told.result);
    if (call.method === 'getEpochInfo') {
      result.absoluteSlot -= node.slotsBehind;
      result.blockHeight -= node.slotsBehind;
    }
    if (call.method === 'getSignatureStatuses')
      result.value = result.value.map((it: { slot: number } | null) => (it !== null && it.slot <= slot() ? it : null));
    if (call.method === 'getMultipleAccounts') setClockBack(call.params, result.value, node.clockBehindMs);
    if (result.context !== undefined) result.context.slot = slot();
    return told;
  }

  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const call = JSON.parse(text) as Call;
    node.calls.push(call.method);
    const told = await answer(call);
    response.writeHead(200, JSON_HEADERS).end(JSON.stringify({ ...told, jsonrpc: '2.0', id: call.id }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const node: LaggingNode = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/path?api-key=hidden`,
    slotsBehind: 0,
    clockBehindMs: 0,
    calls: [],
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  await note();
  return node;
}

function setClockBack([addresses]: readonly unknown[], accounts: { data: string[] }[], milliseconds: number): void {
  const clock = accounts[(addresses as string[]).indexOf(CLOCK_SYSVAR)];
  if (clock === undefined) return;
  const data = Buffer.from(clock.data[0] ?? '', 'base64');
  data.writeBigInt64LE(data.readBigInt64LE(CLOCK_TIME_OFFSET) - BigInt(milliseconds / 1_000), CLOCK_TIME_OFFSET);
  clock.data[0] = data.toString('base64');
}
