import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { isClientGone, onceOver } from '../../lib/http/connection-events.js';

/** A response whose writer comes to its end though its client has gone. */
export interface FlowingResponse {
  /** Resolves when something that was piped into it has ended early and nobody was there any more: nobody is left to end it. */
  readonly isLost: Promise<void>;
  /** Ends it: what is piped into the response is let go of, as Node does it when a client has gone. */
  letGo(): void;
}

interface Flow {
  readonly res: ServerResponse;
  goesOnAlone(): boolean;
  end(): void;
}

/** Who reads each source; one may be read by many, as long as it likes. */
const flowsOf = new WeakMap<Readable, Set<Flow>>();

/**
 * Lets whoever writes a response come to its end though its client has gone: Node stops what is piped into it then, and leaves
 * waiting who was told to wait for room.
 * @param isWanted - whether what is still to come can be of use to anybody
 */
export function flowOn(res: ServerResponse, isWanted: () => boolean): FlowingResponse {
  const sources = new Set<Readable>();
  let isOver = false;
  let lose: () => void = () => {};
  const isLost = new Promise<void>((resolve) => {
    // Whoever hears of the end by its error answers first.
    lose = () => void setImmediate(resolve);
  });
  const flow: Flow = {
    res,
    goesOnAlone: () => !isOver && isClientGone(res) && !res.writableEnded && isWanted(),
    end: () => {
      if (isClientGone(res)) lose();
    },
  };
  function letGo(): void {
    isOver = true;
    if (isClientGone(res)) for (const source of [...sources]) source.unpipe(res);
  }

  res.on('pipe', (source: Readable) => {
    sources.add(source);
    readersOf(source).add(flow);
  });
  res.on('unpipe', (source: Readable) => {
    sources.delete(source);
    flowsOf.get(source)?.delete(flow);
    if (!source.readableEnded) flow.end();
  });
  goOnWriting(flow, letGo);
  return { isLost, letGo };
}

/** Who waits for room in a response whose client has gone is told to go on, in the next turn: others have theirs between. */
function goOnWriting({ res, goesOnAlone }: Flow, letGo: () => void): void {
  const { write } = res;
  let isWaitedFor = false;
  const goOn = (): void => {
    isWaitedFor = false;
    if (goesOnAlone()) res.emit('drain');
  };
  Reflect.set(res, 'write', (...args: unknown[]) => {
    if (Reflect.apply(write, res, args)) return true;
    if (isClientGone(res) && !goesOnAlone()) letGo();
    else if (!isWaitedFor) {
      isWaitedFor = true;
      if (isClientGone(res)) setImmediate(goOn);
      else onceOver(res, goOn);
    }
    return false;
  });
}

/** The flows that read a source, from which Node takes none of them while it goes on alone. */
function readersOf(source: Readable): Set<Flow> {
  const known = flowsOf.get(source);
  if (known !== undefined) return known;
  const flows = new Set<Flow>();
  const { unpipe } = source;
  source.unpipe = (to) => {
    const stays = !source.destroyed && [...flows].some(({ res, goesOnAlone }) => Object.is(to, res) && goesOnAlone());
    return stays ? source : unpipe.call(source, to);
  };
  source.once('close', () => {
    if (!source.readableEnded) for (const flow of flows) flow.end();
  });
  flowsOf.set(source, flows);
  return flows;
}
