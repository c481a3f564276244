import { type ClientRequest, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { HostileParties } from './hostile-parties.js';

/** Connections that are held, and opened again when they are closed. */
export interface HeldConnections {
  /** How many are held now. */
  count(): number;
  stop(): void;
}

const STALLED_OF_ADDRESS = 20;
const STREAMS_OF_WALLET = 10;
/** One that was closed is opened again after this time. */
const REST_MS = 1_000;

/** Bodies that are announced, begun and never sent, from each of their addresses. */
export function stallBodies(url: string, { addresses }: HostileParties): HeldConnections {
  const { hostname, port } = new URL(url);
  const head =
    'POST /create-payment HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"amount": ';
  const places = addresses.flatMap((address) => Array<string>(STALLED_OF_ADDRESS).fill(address));
  return hold(places, (localAddress, ended) => {
    const socket: Socket = connect({ host: hostname, port: Number(port), localAddress }, () => socket.write(head));
    socket
      .resume()
      .on('error', () => undefined)
      .on('close', ended);
    return socket;
  });
}

/** Event streams of each of their wallets. */
export function openStreams(url: string, { owners, buyers, addresses }: HostileParties): HeldConnections {
  const proofs = [...owners, ...buyers].flatMap(({ proof }) => Array(STREAMS_OF_WALLET).fill(proof));
  const places = proofs.map((headers, at) => ({ headers, localAddress: addresses[at % addresses.length]! }));
  return hold(places, (options, ended) => {
    const sent: ClientRequest = request(`${url}/api/v1/events/stream`, { agent: false, ...options });
    sent.on('response', (answer) => void answer.resume().on('error', () => undefined));
    sent
      .on('error', () => undefined)
      .on('close', ended)
      .end();
    return sent;
  });
}

function hold<Place>(
  places: readonly Place[],
  open: (place: Place, ended: () => void) => { destroy(): unknown },
): HeldConnections {
  const held = new Map<Place | number, { destroy(): unknown }>();
  const resting = new Set<NodeJS.Timeout>();
  let isOver = false;

  function begin(place: Place, at: number): void {
    const ended = () => {
      held.delete(at);
      if (isOver) return;
      const rest = setTimeout(() => {
        resting.delete(rest);
        begin(place, at);
      }, REST_MS);
      resting.add(rest);
    };
    held.set(at, open(place, ended));
  }

  for (const [at, place] of places.entries()) begin(place, at);
  return {
    count: () => held.size,
    stop() {
      isOver = true;
      for (const rest of resting) clearTimeout(rest);
      for (const it of held.values()) it.destroy();
    },
  };
}
