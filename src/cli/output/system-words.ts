import { SystemError } from '../command.js';

type Advice = Readonly<Record<string, string>>;

/** What a code of the system means for a file. */
const FILES: Advice = {
  ENOENT: 'there is no such file, or no such folder',
  ENOTDIR: 'a part of the path is a file and no folder',
  EISDIR: 'it is a folder and no file',
  EEXIST: 'it is there already',
  EACCES: 'this user may not',
  EPERM: 'this user may not',
  EROFS: 'nothing can be written there',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full for this user',
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'its links go round in a circle',
  EMFILE: 'this process has too many files open',
  EPIPE: 'whoever reads it has gone',
};

/** What one means for a connection. */
const CONNECTIONS: Advice = {
  ENOTFOUND: 'no machine has that name',
  EAI_AGAIN: 'its name cannot be looked up at the moment; is there a network?',
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  EHOSTUNREACH: 'no way leads there',
  ENETUNREACH: 'no way leads there; is there a network?',
  ETIMEDOUT: 'nobody answers there',
  UND_ERR_CONNECT_TIMEOUT: 'nobody answers there',
  UND_ERR_HEADERS_TIMEOUT: 'no response came in time',
  UND_ERR_BODY_TIMEOUT: 'the response stopped',
  UND_ERR_SOCKET: 'the connection was cut',
  EADDRNOTAVAIL: 'this machine cannot connect to such an address',
  EPROTO: 'it does not speak TLS there; is it http:// and not https://?',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS there; is it http:// and not https://?',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by nobody that is known here',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is signed by nobody that is known here',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
};

/** Why a file cannot be read or written, in words and with the code of the system; what was thrown says it where that is unknown. */
export function fileFault(error: unknown): string {
  return inWords(error, FILES);
}

/** The same of a connection. */
export function connectionFault(error: unknown): string {
  return inWords(error, CONNECTIONS);
}

/** The error for a file that a flag names and that cannot be written. */
export function unwritable(flag: string, path: string, error: unknown): SystemError {
  return new SystemError(
    codeOf(error),
    `${flag}: "${path}" cannot be written (${fileFault(error)}); name a file in a folder that is there, and that you may write to`,
  );
}

function inWords(error: unknown, words: Advice): string {
  const code = codeOf(error);
  const known = Object.hasOwn(words, code) ? words[code] : undefined;
  if (known !== undefined) return `${known}: ${code}`;
  const told = error instanceof Error ? error.message : String(error);
  // Where a name has several addresses the message is empty.
  return told === '' ? code : told;
}

function codeOf(error: unknown): string {
  return String(Reflect.get(Object(error), 'code'));
}
