import type { Keypair } from '@solana/web3.js';
import { readSignIn } from '../../identity/sign-in/answer-sign-in.js';
import { readOffers } from '../../protocol/wire/client.js';
import type { Buyer, PayLimits, ProofHeaders } from './buyer.js';
import { headerReader } from './refused-response.js';

const ASKED = new Set([401, 402]);

/**
 * A `fetch` that is a wallet: it signs in where a response offers that, and pays where the next one still asks for it. Whatever is
 * answered then is returned, refusals too.
 */
export function createFetchAs(buyer: Buyer): (wallet: Keypair, limits?: PayLimits) => typeof fetch {
  return (wallet, limits) => async (input, init) => {
    const asked = new Request(input, init);
    const send = (headers: ProofHeaders) => fetch(withHeaders(asked, headers));
    let response = await send({});
    if (ASKED.has(response.status) && readSignIn(readerOf(response)) !== undefined) {
      response = await again(response, () => send(buyer.signInHeaders(wallet, response)));
    }
    if (response.status === 402 && readOffers(readerOf(response), '').ok) {
      response = await again(response, () => send(buyer.paymentHeaders(wallet, response, limits)));
    }
    return response;
  };
}

const readerOf = (response: Response) => headerReader('fetchAs', response);

/** Its body is left unread, and would keep its connection. */
async function again(refused: Response, send: () => Promise<Response>): Promise<Response> {
  const response = await send();
  await refused.body?.cancel();
  return response;
}

/** A request can be sent once, its copy as well. */
function withHeaders(request: Request, headers: ProofHeaders): Request {
  const copy = request.clone();
  for (const [name, value] of Object.entries(headers)) copy.headers.set(name, value);
  return copy;
}
