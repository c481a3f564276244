import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { isClientGone, onceOver } from '../../lib/http/connection-events.js';

/**
 * Lets whoever writes a response come to its end though its client has gone: Node stops what is piped into it then, and leaves
 * waiting who was told to wait for room.
 * @param isWanted - whether what is still to come can be of use to anybody
 * @param onLost - called when what was piped into it has ended early while nobody was there any more: nobody is left to end it
 * @returns what a write tells its writer, who need not wait for a client that is gone
 */
export function flowOn(
  res: ServerResponse,
  isWanted: () => boolean,
  onLost: () => void,
): (isTaken: boolean) => boolean {
  const goesOnAlone = (): boolean => isClientGone(res) && !res.writableEnded && isWanted();
  let isWaitedFor = false;
  // Whoever is told of the end by its error answers first.
  const lose = (source: Readable): void => {
    if (isClientGone(res) && !source.readableEnded) setImmediate(onLost);
  };

  res.on('pipe', (source: Readable) => {
    const { unpipe } = source;
    source.unpipe = (to) => {
      const stays = (to === undefined || Object.is(to, res)) && !source.destroyed && goesOnAlone();
      return stays ? source : unpipe.call(source, to);
    };
    source.once('close', () => lose(source));
  });
  res.on('unpipe', lose);

  return (isTaken) => {
    if (isTaken || goesOnAlone()) return true;
    if (isWaitedFor) return false;
    isWaitedFor = true;
    onceOver(res, () => {
      if (goesOnAlone()) res.emit('drain');
    });
    return false;
  };
}
