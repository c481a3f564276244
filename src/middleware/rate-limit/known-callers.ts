import type { Request, RequestHandler, Response } from 'express';
import type { KeyAuthenticator, KeyCheck } from '../../identity/service-keys/service-key-types.js';
import { SIWX_HEADER } from '../../identity/sign-in/siwx.js';
import type { Identity, ProvenWallet } from '../../identity/types.js';
import { createRequestNote } from '../../lib/http/request-note.js';
import { onHeaders } from '../../lib/http/write-head.js';
import { isPending, whenKnown, whenKnownOr } from '../../lib/maybe-promise.js';
import { noteBeyondLimit } from '../gate/locked-out.js';
import { sendError } from '../gate/respond.js';
import { type SignInWanted, signInsWanted } from '../gate/sign-ins-wanted.js';
import { checkServiceKey, keyError } from '../service-key/read-service-key.js';
import type { CallerParts } from '../wallet/caller-request.js';
import { provenWallet } from '../wallet/wallet-auth.js';
import type { Tries } from './tries.js';

const countedElsewhere = createRequestNote<Response, true>();

/** Notes that a request belongs to somebody known, who is counted: where it is welcome it does not count against its address as well. */
export function countElsewhere(res: Response): void {
  countedElsewhere.put(res, true);
}

/** Whether {@link countElsewhere} was told of a response. */
export function isCountedElsewhere(res: Response): boolean {
  return countedElsewhere.of(res) === true;
}

/**
 * A limit by address for those whom nobody knows: a request with a good service key passes it by, and is counted by its key
 * alone; above the key's own limit it is refused here. A key that is wrong, or cannot be looked up, counts by its address.
 */
export function unlessKeyed(limit: RequestHandler, keys: KeyAuthenticator): RequestHandler {
  return (req, res, next) => {
    const checking = checkServiceKey(req, res, keys);
    if (checking === undefined) return void limit(req, res, next);
    const known = whenKnownOr<KeyCheck, KeyCheck | undefined>(
      () => checking,
      (check) => check,
      () => undefined,
    );
    const passing = whenKnown(known, (check) => {
      if (check?.ok) return next();
      if (check?.rate === undefined) return void limit(req, res, next);
      sendError(res, keyError(check));
    });
    if (isPending(passing)) passing.catch(next);
  };
}

const wallets = createRequestNote<Request, string>();

/** The wallet that {@link unlessProven} has found. */
export function walletCounted(req: Request): string | undefined {
  return wallets.of(req);
}

/** What {@link unlessProven} works with. */
export interface ProvenParts {
  /** For everybody else. */
  readonly refuse: RequestHandler;
  /** For a wallet with an access token, which {@link walletCounted} tells. */
  readonly forToken: RequestHandler;
  /** For a wallet with SIGN-IN-WITH-X: whoever makes up wallets has as many of those as he likes. */
  readonly forSignIn: RequestHandler;
  /** Asked where no gate on the route says whom it asks. */
  readonly identity: Identity | undefined;
  readonly tries: Tries;
  /** Names the client of a request. */
  readonly clientOf: (req: Request) => string;
}

/**
 * What becomes of a request beyond the limit of its address: one whose proof is good is counted in another way, for somebody
 * else may have used up what the address has. Nobody but those is asked for a proof here.
 */
export function unlessProven({ refuse, forToken, forSignIn, identity, tries, clientOf }: ProvenParts): RequestHandler {
  return (req, res, next) => {
    const isBare = req.headers.authorization === undefined && req.headers[SIGN_IN_HEADER] === undefined;
    const callers = isBare ? [] : callersOf(req, identity);
    const client = clientOf(req);
    if (callers.length === 0 || !tries.take(client)) return void refuse(req, res, next);
    const known = whenKnownOr<ProvenWallet | undefined, ProvenWallet | undefined>(
      () => provenWallet(req, callers),
      (wallet) => wallet,
      () => undefined,
    );
    const passing = whenKnown(known, (wallet) => {
      if (wallet === undefined) return void refuse(req, res, next);
      tries.giveBack(client);
      wallets.put(req, wallet.address);
      void (wallet.by === 'jwt' ? forToken : forSignIn)(req, res, next);
    });
    if (isPending(passing)) passing.catch(next);
  };
}

/** Who would ask for a proof: the gates on the route, or else one who may stand behind it, whatever that takes. */
function callersOf(req: Request, identity: Identity | undefined): CallerParts[] {
  const wanted = signInsWanted(req);
  const other = identity === undefined || wanted.some((it) => it.identity === identity) ? [] : [{ identity, ...SITE }];
  return [...wanted, ...other].flatMap(({ baseUrl, scope, ...caller }) =>
    scope === 'site'
      ? [
          { ...caller, baseUrl },
          { ...caller, baseUrl, scope },
        ]
      : [{ ...caller, baseUrl }],
  );
}

const SITE: Omit<SignInWanted, 'identity'> = { scope: 'site' };
const SIGN_IN_HEADER = SIWX_HEADER.toLowerCase();

/**
 * For a route that serves nobody but who shows something right: what becomes of a request beyond the limit of its address. It goes on, and
 * is told 429 where it fails.
 * @param refuse - for those who have tried too often
 * @param limit - for those who may try; counts successes
 */
export function onlyWhatIsRight({ refuse, limit, tries, clientOf }: RightParts): RequestHandler {
  return (req, res, next) => {
    const client = clientOf(req);
    if (!tries.take(client)) return void refuse(req, res, next);
    const seconds = Number(res.getHeader('Retry-After') ?? 1);
    res.removeHeader('Retry-After');
    noteBeyondLimit(res, seconds);
    onHeaders(res, () => {
      if (res.statusCode < 400) tries.giveBack(client);
    });
    void limit(req, res, next);
  };
}

/** What {@link onlyWhatIsRight} works with. */
export interface RightParts extends Pick<ProvenParts, 'refuse' | 'tries' | 'clientOf'> {
  readonly limit: RequestHandler;
}
