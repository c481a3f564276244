import type { Request, RequestHandler, Response } from 'express';
import type { z } from 'zod';
import { ERRORS, type ErrorCode, TollhouseError } from '../../errors/errors.js';
import { PASS_HEADER } from '../../middleware/gate/pass-headers.js';
import type { RenderedPage } from '../../pages/layout/page.js';
import { SERVICE_PAYMENT_HEADER } from '../../protocol/wire/service-payment.js';
import { type ApiCaller, type CallerScope, callerOf } from './api-caller.js';
import { type DeepReadonly, isName } from './fields.js';
import type { PathParams } from './path.js';
import { type FaultCodes, readInput } from './read-input.js';
import { sendPage, wantsPageInstead } from './service-pages.js';

/** What an operation responds with when all is well. */
export interface OperationResponse {
  readonly description: string;
  /** Default: there is no body, or one that is no JSON. */
  readonly schema?: z.ZodType;
  /** Media type of a body that is no JSON; with a schema, of one that can be asked for in place of JSON. */
  readonly mediaType?: string;
}

/** Who may call: callers that have a scope, let in by access token or service key; or `public`, which is anybody. */
export type OperationScope = CallerScope | 'public';

/** What is declared of one method of one path, but for how it is carried out. */
export interface OperationDescription {
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** As it is mounted, with Express's `:names`. */
  readonly path: string;
  /** Unique name, for generated clients. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Who may call. Default `public`; under `/api/v1` there is none, and {@link createRoutes} throws where it is not said. */
  readonly scope?: OperationScope;
  /** What a request shows, in any one of these ways. Default: by the scope an access token or a service key, and nothing without one. */
  readonly security?: readonly SecurityRequirement[];
  /** Whether it may read much: callers take turns at it then, see `OwnerTurns`, as they do where a request brings much. Default false. */
  readonly takesTurns?: boolean;
  readonly query?: z.ZodObject;
  /** Header fields that it reads, each with what it is. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: z.ZodType;
  /** In place of `body`, where there are several shapes: the handler tells them apart, and checks them. */
  readonly bodies?: readonly z.ZodType[];
  /** Whether it can be named with an Idempotency-Key. Default: every POST can. */
  readonly takesKey?: boolean;
  /** By status. The first is that of what the handler returns. */
  readonly responses: Readonly<Record<number, OperationResponse>>;
  /** Its own errors; those of every operation, of a body and of a scope are added. */
  readonly errors?: readonly ErrorCode[];
  /** Under which head, and at which place there, `GET /` lists the path. Default: it does not. */
  readonly listed?: { readonly under: 'core' | 'facilitation' | 'token_gateway'; readonly place: number };
}

/** A request whose caller may call, with its input checked. */
export interface OperationRequest<Path extends string, Query, Body, Access> {
  readonly req: Request;
  readonly res: Response;
  readonly params: PathParams<Path>;
  /** By the schema `query`. */
  readonly query: Query;
  /** By the schema `body`. */
  readonly body: Body;
  /** Who has the `scope`; undefined where none is asked for. */
  readonly caller: CallerWith<Access>;
}

type CallerWith<Access> = Access extends CallerScope ? ApiCaller : undefined;

/** One operation, as its feature declares it. */
export interface OperationDeclaration<
  Path extends string,
  Parts,
  Query,
  Body,
  Access extends OperationScope | undefined,
  Result,
> extends OperationDescription {
  readonly path: Path;
  readonly scope?: Access & OperationScope;
  readonly query?: z.ZodObject & z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  readonly responses: Readonly<Record<number, OperationResponse & { readonly schema?: z.ZodType<Result> }>>;
  /** Whether a request without a body counts as one with `{}`. Default false. */
  readonly bodyMayBeMissing?: boolean;
  /** Codes of faults in query and body. Default: `validation_failed` for all. */
  readonly faults?: FaultCodes;
  /** Whether the response is kept out of caches. Default: where a `scope` is asked for, and for every error. */
  readonly noStore?: boolean;
  /** Throws for a caller who may not call although it has the scope. Comes before a kept answer is given, and before the input is checked. */
  readonly admit?: (caller: ApiCaller, params: PathParams<Path>) => void;
  /** Responds to HEAD in place of the handler. Default: the handler does, and its body is left out. */
  readonly head?: RequestHandler;
  /**
   * Carries the operation out with what its feature works with. What it returns is sent as JSON with the first status of
   * `responses`; where it returns nothing it has responded, unless that status is 204.
   */
  readonly handler: (
    request: OperationRequest<Path, Query, Body, Access>,
    parts: Parts,
  ) => Promise<DeepReadonly<NoInfer<Result>> | undefined> | Promise<void>;
  /**
   * Makes a page of what the handler returns, for a browser that wants one; undefined where there are no pages. Default: everybody
   * gets JSON.
   */
  readonly page?: (
    request: OperationRequest<Path, Query, Body, Access>,
    result: DeepReadonly<NoInfer<Result>>,
    parts: Parts,
  ) => RenderedPage | undefined | Promise<RenderedPage | undefined>;
}

/** A declared operation, for {@link createRoutes} and the OpenAPI document. */
export interface Operation<Parts> extends OperationDescription {
  readonly noStore: boolean;
  readonly head?: RequestHandler;
  /** Throws for a caller with the scope who may not call. */
  readonly admit?: (req: Request) => void;
  /** Checks what an admitted request brings, and responds to it. Rejects with what is wrong. */
  readonly run: (req: Request, res: Response, parts: Parts) => Promise<void>;
}

const NO_CONTENT = 204;

/** The scope that a caller of an operation must have; undefined where anybody may call. */
export function scopeOf({ scope }: Pick<OperationDescription, 'scope'>): CallerScope | undefined {
  return scope === 'public' ? undefined : scope;
}

/** Declares an operation: its route, its checks and its part of the OpenAPI document are made of this. */
export function defineOperation<
  const Path extends string,
  Parts,
  Query,
  Body,
  const Access extends OperationScope | undefined = undefined,
  Result = undefined,
>(declared: OperationDeclaration<Path, Parts, Query, Body, Access, Result>): Operation<Parts> {
  const { admit, handler, page, bodyMayBeMissing, faults, ...described } = declared;
  const status = Number(Object.keys(declared.responses)[0]);
  return {
    ...described,
    noStore: declared.noStore ?? scopeOf(declared) !== undefined,
    ...(admit === undefined ? {} : { admit: (req) => admit(callerOf(req), req.params as PathParams<Path>) }),
    async run(req, res, parts) {
      const params = req.params as PathParams<Path>;
      const caller = scopeOf(declared) === undefined ? undefined : callerOf(req);
      refuseNameless(params, declared);
      const query = declared.query && readInput(declared.query, req.query, { ...faults, whole: 'the query' });
      const given: unknown = bodyMayBeMissing ? (req.body ?? {}) : req.body;
      const body = declared.body === undefined ? given : readInput(declared.body, given, faults);
      const request = { req, res, params, query, body, caller } as OperationRequest<Path, Query, Body, Access>;
      const returned = await handler(request, parts);
      const isForEyes = page !== undefined && wantsPageInstead(req, res);
      const made = isForEyes && returned !== undefined ? await page(request, returned, parts) : undefined;
      if (made !== undefined) sendPage(res.status(status), made);
      else if (returned !== undefined) res.status(status).json(returned);
      else if (status === NO_CONTENT) res.status(status).end();
    },
  };
}

/** What an address cannot name is not there, as anything else that is not; where nothing is looked up it is for the handler. */
function refuseNameless(params: Readonly<Record<string, string>>, { errors = [] }: OperationDescription): void {
  const notThere = errors.find((code) => ERRORS[code].status === 404);
  const nameless = Object.keys(params).find((name) => !isName(params[name] ?? ''));
  if (notThere === undefined || nameless === undefined) return;
  throw new TollhouseError(notThere, `${nameless} in the path must be one line of text, without control characters.`);
}

const inHeader = (name: string, description: string) => ({ type: 'apiKey', in: 'header', name, description }) as const;

/** Everything that a request can show, by the name that operations ask for it; security schemes of OpenAPI. */
export const SECURITY_SCHEMES = {
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'The `access_token` of a wallet that has signed in: `POST /api/v1/auth/challenge`, sign the message, `POST /api/v1/auth/token`.',
  },
  serviceKey: inHeader(
    'X-Service-Key',
    'The public half of a service key, `api_key` in the answer that made it. What is named beside it is the scope that the key must have.',
  ),
  serviceSecret: inHeader('X-Service-Secret', 'Its secret, `api_secret` in that answer.'),
  payment: inHeader(
    'PAYMENT-SIGNATURE',
    'A payment of x402, version 2. The 402 of the same request without it says what is to be paid.',
  ),
  paymentV1: inHeader('X-PAYMENT', 'A payment of x402, version 1.'),
  servicePayment: inHeader(SERVICE_PAYMENT_HEADER, 'The signature of a payment that has landed.'),
  pass: inHeader(PASS_HEADER, 'The token of a pass that was bought with an earlier call.'),
} as const;

/** The name of one of the {@link SECURITY_SCHEMES}. */
export type SecurityScheme = keyof typeof SECURITY_SCHEMES;

/** What is shown together, each with what its owner must be allowed; nothing for nobody in particular. */
export type SecurityRequirement = Partial<Readonly<Record<SecurityScheme, readonly string[]>>>;

/** Of an operation that a service key does not carry out. */
export const BY_TOKEN_ALONE: readonly SecurityRequirement[] = [{ accessToken: [] }];

/** A service key as it is, whatever it may. */
export const ANY_KEY: SecurityRequirement = { serviceKey: [], serviceSecret: [] };

/** Of what is paid for over x402. */
export const BY_PAYMENT: readonly SecurityRequirement[] = [{ payment: [] }, { paymentV1: [] }];

/** What is asked for a scope: a wallet may everything by its token, and operators are wallets. */
export function securityFor(scope: string | undefined): readonly SecurityRequirement[] {
  if (scope === undefined) return [];
  if (scope === 'operator') return [{ accessToken: [scope] }];
  return [{ accessToken: [] }, { serviceKey: [scope], serviceSecret: [] }];
}

/** The schemes that some requirements name. */
export function schemesIn(requirements: readonly SecurityRequirement[]): object {
  const named = new Set(requirements.flatMap((it) => Object.keys(it)));
  return Object.fromEntries(Object.entries(SECURITY_SCHEMES).filter(([name]) => named.has(name)));
}
