import { isOfMoney, type OfMoney } from '../sql/of-money.js';

/** Which payments of a wallet are asked for. Default: all. */
export interface WantedPayments extends OfMoney {
  /** For calls of this project. */
  readonly projectId?: string;
  /** For calls under this service key. */
  readonly keyId?: string;
}

/** The values that {@link isWanted} compares with, in its order; an empty one asks for all. */
export function wantedValues({ projectId, keyId, network, mode }: WantedPayments = {}) {
  return [projectId ?? '', keyId ?? '', network ?? '', mode ?? ''] as const;
}

/** Whether the payment of the table `p` is one that is asked for. */
export function isWanted(projectId: string, keyId: string, network: string, mode: string): string {
  return `${projectId} in ('', p.project_id) and (${keyId} = '' or ${isUnderKey(keyId)}) and ${isOfMoney(network, mode)}`;
}

/**
 * A payment for a call has the key at the end of what it is bound to; where that is a payment request, the request has it. Ids of keys
 * are no patterns and have no marks of JSON, so that a text is looked for, not a field: a memo may hold what JSON of databases does not.
 */
function isUnderKey(keyId: string): string {
  return `(p.project_id is not null and (${holds('p.binding', `' ' || ${keyId} || '|'`)}
    or exists (select 1 from tollhouse_payment_request r
      where r.attempt = p.id and ${holds('r.details', `'"keyId":"' || ${keyId} || '"'`)})))`;
}

/** As `like` does, without patterns, and the same on every database. */
function holds(column: string, text: string): string {
  return `replace(${column}, ${text}, '') <> ${column}`;
}
