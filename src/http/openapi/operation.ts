import type { z } from 'zod';
import type { ErrorCode } from '../../errors/errors.js';

/** What an operation answers with when all is well. */
export interface OperationResponse {
  readonly description: string;
  /** Default: there is no body, or one that is no JSON. */
  readonly schema?: z.ZodType;
  /** Media type of a body that is no JSON; with a schema, of one that can be asked for in place of JSON. */
  readonly mediaType?: string;
}

/** One method of one path, as the OpenAPI document describes it. */
export interface Operation {
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** As it is mounted, with Express's `:names`. */
  readonly path: string;
  /** Unique name, for generated clients. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: z.ZodObject;
  /** Header fields that it reads, each with what it is. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether it can be named with an Idempotency-Key. Default: every POST can. */
  readonly takesKey?: boolean;
  readonly body?: z.ZodType;
  /** By status. */
  readonly answers: Readonly<Record<number, OperationResponse>>;
  /** Its own errors; those that any operation has, or any with a body, are added. */
  readonly errors?: readonly ErrorCode[];
}
