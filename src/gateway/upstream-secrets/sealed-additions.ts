import { type FieldFault, TollhouseError } from '../../errors/errors.js';
import { defined } from '../../lib/defined.js';
import { trimEnd } from '../../lib/trim-end.js';
import type { ProjectRecord, ProjectUpstream, SealedTexts } from '../../storage/projects/projects.js';
import type { UpstreamAdditions } from '../proxy/upstream-additions.js';
import { hasDotSegments } from '../proxy/upstream-target.js';
import {
  ADDITION_KINDS,
  type AdditionKind,
  additionFaults,
  type WrittenSecret,
  type WrittenSecrets,
} from './addition-rules.js';
import { keyIdOf, type SecretBox } from './secret-box.js';

type Sealed = Pick<ProjectUpstream, AdditionKind>;
type Written = { readonly [Kind in AdditionKind]?: WrittenSecrets | undefined };

/**
 * Faults of what an owner wants to be added to calls. A secret is its upstream's: elsewhere it has to be given anew, so that who may
 * change an address learns no secret by it.
 */
export function writtenFaults(
  written: Written & Pick<ProjectUpstream, 'url'>,
  before?: ProjectUpstream,
): readonly FieldFault[] {
  const stays = before !== undefined && isBelow(written.url, before.url);
  return ADDITION_KINDS.flatMap((kind) => {
    const whyNotKept = (name: string): string | undefined => {
      if (!Object.hasOwn(before?.[kind] ?? {}, name)) return 'is not set yet: give its value';
      return stays ? undefined : 'was given for another address: give its value again, or null to remove it';
    };
    return additionFaults(kind, named(kind, written[kind] ?? {}), whyNotKept);
  });
}

/**
 * Encrypts what an owner wants to be added to calls: new values, and of those that stay what was encrypted with an older key.
 * @param id - the project, which what is sealed is bound to
 * @throws TollhouseError `secrets_key_missing`, `secrets_key_unknown`
 */
export function sealWritten(box: SecretBox, id: string, written: Written, before: Sealed = {}): Sealed {
  const sealed = (kind: AdditionKind): SealedTexts | undefined => {
    const entries = Object.entries(named(kind, written[kind] ?? {}));
    if (entries.length === 0) return undefined;
    return Object.fromEntries(
      entries.map(([name, value]) => {
        const place = placeOf(id, kind, name);
        return [name, typeof value === 'string' ? box.seal(value, place) : resealed(box, before[kind]?.[name], place)];
      }),
    );
  };
  return defined({ headers: sealed('headers'), query: sealed('query') });
}

/** What a draft says of secrets that are set: that they are. */
export function writtenOf(sealed: SealedTexts | undefined): WrittenSecrets | undefined {
  if (sealed === undefined) return undefined;
  return Object.fromEntries(Object.keys(sealed).map((name): [string, WrittenSecret] => [name, { set: true }]));
}

/**
 * What is added to the calls of a project, as plain text: to be used at once, and neither kept nor shown.
 * @throws TollhouseError `secrets_key_unknown`
 */
export function openAdditions(
  box: SecretBox,
  { id, upstream }: Pick<ProjectRecord, 'id' | 'upstream'>,
): UpstreamAdditions {
  const opened = (kind: AdditionKind) =>
    Object.fromEntries(
      Object.entries(upstream[kind] ?? {}).map(([name, it]) => [name, box.open(it, placeOf(id, kind, name))]),
    );
  return { headers: opened('headers'), query: opened('query') };
}

/** Whether a project adds anything to its calls. */
export function hasAdditions({ upstream }: Pick<ProjectRecord, 'upstream'>): boolean {
  return upstream.headers !== undefined || upstream.query !== undefined;
}

/**
 * The same upstream with all that it has under the present key.
 * @throws TollhouseError `secrets_key_missing`, `secrets_key_unknown`
 */
export function resealUpstream(
  box: SecretBox,
  { id, upstream }: Pick<ProjectRecord, 'id' | 'upstream'>,
): ProjectUpstream {
  const written = { headers: writtenOf(upstream.headers), query: writtenOf(upstream.query) };
  return { ...upstream, ...sealWritten(box, id, written, upstream) };
}

function resealed(box: SecretBox, sealed: string | undefined, place: string): string {
  if (sealed === undefined) throw new TollhouseError('secrets_key_unknown', 'There is nothing to be kept.');
  return keyIdOf(sealed) === box.keyId ? sealed : box.seal(box.open(sealed, place), place);
}

/** Names of header fields are the same in capitals. */
function named(kind: AdditionKind, written: WrittenSecrets): WrittenSecrets {
  if (kind === 'query') return written;
  const lower = Object.entries(written).map(([name, value]) => [name.toLowerCase(), value] as const);
  // Two of one name stay, so that they are found to be two.
  return new Set(lower.map(([name]) => name)).size < lower.length ? written : Object.fromEntries(lower);
}

/** Whether an address is another one, or what is below it however a server reads it. A query may say where it leads (`?target=`). */
function isBelow(url: string, other: string): boolean {
  if (url === other) return true;
  if (!URL.canParse(url) || !URL.canParse(other)) return false;
  const [it, root] = [new URL(url), new URL(other)];
  if (hasDotSegments(it.pathname) || hasDotSegments(root.pathname)) return false;
  const path = trimEnd(root.pathname, '/');
  return (
    it.origin === root.origin &&
    it.search === root.search &&
    (it.pathname === path || it.pathname.startsWith(`${path}/`))
  );
}

function placeOf(projectId: string, kind: AdditionKind, name: string): string {
  return `${projectId} ${kind} ${name}`;
}
