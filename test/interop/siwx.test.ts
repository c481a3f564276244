import { createKeyPairSignerFromBytes } from '@solana/kit';
import { Keypair } from '@solana/web3.js';
import { encodePaymentRequiredHeader } from '@x402/core/http';
import {
  createSIWxClientExtension,
  createSIWxPayload,
  encodeSIWxHeader,
  type SIWxSigner,
  wrapFetchWithSIWx,
} from '@x402/extensions/sign-in-with-x';
import { wrapFetchWithPayment, x402Client, x402HTTPClient } from '@x402/fetch';
import type { Request } from 'express';
import { createIdentity, type WalletIdentity } from '../../src/identity/create-identity.js';
import { toCaip2 } from '../../src/protocol/networks/networks.js';
import { type AppServer, serveApp } from '../helpers/http/app-server.js';
import { walletAdapter } from '../helpers/http/official-clients.js';
import { signInInfo } from '../helpers/transactions/wallet-key.js';

const wallet = Keypair.generate();
const address = wallet.publicKey.toBase58();

const adapter = walletAdapter(wallet);

/** A route that asks whoever is not known to sign in or pay, as the protocol has it, and counts what it refused. */
function clubRoute(identity: WalletIdentity) {
  const proofs: string[] = [];
  const requestOf = (req: Request) => ({
    url: `${req.protocol}://${req.get('host')}${req.originalUrl}`,
    header: (name: string) => req.get(name),
  });
  const serve = () =>
    serveApp((app) => {
      app.get('/club', async (req, res) => {
        const proof = await identity.prove(requestOf(req));
        proofs.push(proof.status);
        if (proof.status === 'proven') return void res.json({ wallet: proof.wallet });
        const { extensions } = await identity.challenge(requestOf(req));
        const required = {
          x402Version: 2,
          resource: { url: requestOf(req).url },
          accepts: [
            {
              scheme: 'exact',
              network: toCaip2('solana-devnet'),
              asset: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
              amount: '10000',
              payTo: address,
              maxTimeoutSeconds: 60,
              extra: {},
            },
          ],
          extensions,
        };
        res.setHeader('PAYMENT-REQUIRED', encodePaymentRequiredHeader(required));
        res.status(402).json({ extensions });
      });
    });
  return { proofs, serve };
}

describe('the official SIWX client signs in', () => {
  let server: AppServer;
  let route: ReturnType<typeof clubRoute>;

  beforeEach(async () => {
    route = clubRoute(createIdentity({ network: 'solana-devnet' }));
    server = await route.serve();
  });
  afterEach(() => server.close());

  const welcome = { wallet: { address, by: 'siwx', scopes: [] } };

  test('wrapFetchWithSIWx with a wallet adapter', async () => {
    const answer = await wrapFetchWithSIWx(fetch, adapter)(`${server.url}/club?a=1&b=%20`);

    expect([answer.status, await answer.json()]).toEqual([200, welcome]);
    expect(route.proofs).toEqual(['absent', 'proven']);
  });

  test('wrapFetchWithSIWx with a signer of @solana/kit', async () => {
    const signer = (await createKeyPairSignerFromBytes(wallet.secretKey)) as object as SIWxSigner;
    const answer = await wrapFetchWithSIWx(fetch, signer)(`${server.url}/club`);

    expect([answer.status, await answer.json()]).toEqual([200, welcome]);
  });

  test('the extension of the client of @x402/fetch, which then need not pay', async () => {
    const client = new x402Client().registerExtension(createSIWxClientExtension({ signers: [adapter] }));
    const answer = await wrapFetchWithPayment(fetch, new x402HTTPClient(client))(`${server.url}/club`);

    expect([answer.status, await answer.json()]).toEqual([200, welcome]);
    expect(route.proofs).toEqual(['absent', 'proven']);
  });

  test('a header made by hand from the challenge is good once', async () => {
    const { extensions } = (await (await fetch(`${server.url}/club`)).json()) as { extensions: object };
    const info = signInInfo({ extensions: extensions as Record<string, unknown> });
    const header = encodeSIWxHeader(await createSIWxPayload(info, adapter, `${server.url}/club`));
    const enter = () => fetch(`${server.url}/club`, { headers: { 'SIGN-IN-WITH-X': header } });

    expect([(await enter()).status, (await enter()).status]).toEqual([200, 402]);
    expect(route.proofs).toEqual(['absent', 'proven', 'refused']);
  });
});

test('the official client signs the method and the path that it is asked for, and its header opens nothing else', async () => {
  const identity = createIdentity({ network: 'solana-devnet' });
  const requests: Request[] = [];
  const server = await serveApp((app) => {
    app.all(/.*/, async (req, res) => {
      requests.push(req);
      const { method } = req;
      const asked = {
        url: `${req.protocol}://${req.get('host')}${req.originalUrl}`,
        method,
        header: (name: string) => req.get(name),
      };
      const proof = await identity.prove(asked);
      const { extensions } = await identity.challenge(asked);
      if (proof.status === 'refused') return void res.status(401).json(proof);
      if (proof.status === 'proven') return void res.json(proof);
      const terms = { scheme: 'exact', network: toCaip2('solana-devnet'), asset: address, amount: '1', payTo: address };
      const accepts = [{ ...terms, maxTimeoutSeconds: 60, extra: {} }];
      const required = { x402Version: 2, resource: { url: asked.url }, accepts, extensions };
      res.setHeader('PAYMENT-REQUIRED', encodePaymentRequiredHeader(required));
      res.status(402).end();
    });
  });
  const sent: string[] = [];
  const listening: typeof fetch = async (input, init) => {
    const request = new globalThis.Request(input, init);
    sent.push(request.headers.get('sign-in-with-x') ?? '');
    return fetch(request);
  };
  const answer = await wrapFetchWithSIWx(listening, adapter)(`${server.url}/orders?a=1`, { method: 'DELETE' });
  expect([answer.status, requests.map(({ method }) => method)]).toEqual([200, ['DELETE', 'DELETE']]);

  const asked = async (path: string, method: string) => {
    const fresh = await wrapFetchWithSIWx(listening, adapter)(`${server.url}/orders`, { method: 'DELETE' });
    expect(fresh.status).toBe(200);
    return (await fetch(server.url + path, { method, headers: { 'sign-in-with-x': sent.at(-1) ?? '' } })).json();
  };
  expect(await asked('/orders', 'POST')).toMatchObject({ detail: expect.stringContaining('request id is "DELETE"') });
  expect(await asked('/others', 'DELETE')).toMatchObject({ detail: expect.stringContaining('path "/orders"') });
  expect(await asked('/orders', 'DELETE')).toMatchObject({ code: 'sign_in_replayed' });
  await server.close();
});
