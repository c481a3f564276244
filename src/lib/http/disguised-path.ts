import { isUtf8 } from 'node:buffer';

/** What servers take apart a path at. */
const SPECIAL = /[%./;?#\\]/g;
/** Escapes of old Microsoft servers. */
export const WIDE_ESCAPE = /%u([\da-f]{4})/i;
const ALL_WIDE = new RegExp(WIDE_ESCAPE, 'gi');
/** ASCII in more bytes than it takes, which some servers read all the same. */
const OVERLONG = /(?:[\xc0\xc1]|\xe0[\x80\x81]|\xf0\x80[\x80\x81])[\x80-\xbf]/g;

/** The text of a path whose characters are bytes. */
export function utf8TextOf(path: string): string {
  return Buffer.from(path, 'latin1').toString('utf8');
}

/** Whether there are bytes of no text in it, which servers replace or drop, or letters that some of them take for separators. */
export function isDisguised(path: string): boolean {
  if (!isUtf8(Buffer.from(path, 'latin1'))) return true;
  const text = utf8TextOf(path);
  return separatorsIn(text.normalize('NFKC')) > separatorsIn(text);
}

/** A path as the most lenient servers read it: `%u002e`, overlong bytes and full-width letters become what they stand for. */
export function undisguised(path: string): string {
  const short = path.replace(OVERLONG, (bytes) => {
    const [high, low] = [bytes.charCodeAt(bytes.length - 2), bytes.charCodeAt(bytes.length - 1)];
    return String.fromCharCode((high % 2) * 64 + (low % 64));
  });
  const text = utf8TextOf(short).replace(ALL_WIDE, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return text.normalize('NFKC');
}

function separatorsIn(text: string): number {
  return text.match(SPECIAL)?.length ?? 0;
}
