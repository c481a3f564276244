/** A form without its boundary: what was between the places where that stood. */
export interface UnboundForm {
  /** How many bytes each piece between two boundaries has. */
  readonly lengths: readonly number[];
  /** All of them, one behind the other. */
  readonly content: Uint8Array;
}

/** RFC 2046 §5.1.1: so many characters, of these. */
const BOUNDARY = /^[\w'()+,\-./:=? ]{0,69}[\w'()+,\-./:=?]$/;
const MAX_BOUNDARY = 70;
/** No form has so many; each costs time. */
const MAX_PIECES = 10_000;
/** Of a form that is cut off its boundaries may take so much, and what is compared of it still does not depend on how long they are. */
const ROOM_FOR_BOUNDARIES = 64 * 1024;

/** The boundary that a Content-Type names; undefined where it is for no form, or where two readers of it could find different ones. */
export function boundaryOf(contentType = ''): string | undefined {
  if (contentType === '') return undefined;
  const [type = '', ...parameters] = contentType.split(';').map((it) => it.trim());
  if (type.toLowerCase() !== 'multipart/form-data') return undefined;
  const [given, ...others] = parameters.filter((it) => !/^charset="?[\w-]+"?$/i.test(it));
  const value = /^boundary=(?:"([^"]*)"|([^" ]*))$/i.exec(given ?? '');
  const boundary = value?.[1] ?? value?.[2] ?? '';
  return others.length === 0 && BOUNDARY.test(boundary) ? boundary : undefined;
}

/**
 * Takes the boundary out of a form: clients make a new one each time that they write the same form. Two forms that are alike without
 * it are alike for every parser, since it stands nowhere but in delimiters, each on a line of its own: one that holds it
 * elsewhere, or has anything before, behind or beside its parts, is not taken apart.
 * @param isWhole - whether that is all of the form, or its beginning
 */
export function unboundForm(body: Uint8Array, boundary: string, isWhole: boolean): UnboundForm | undefined {
  const pieces = piecesOf(Buffer.from(body.buffer, body.byteOffset, body.byteLength), boundary);
  if (pieces === undefined || !isEnd(pieces.at(-1), isWhole)) return undefined;
  const total = pieces.reduce((sum, { length }) => sum + length, 0);
  // A boundary that is cut off is not found: so much of the end may be one.
  const counted = isWhole ? total : Math.min(body.length - ROOM_FOR_BOUNDARIES, total - MAX_BOUNDARY);
  if (counted <= 0) return undefined;
  const lengths: number[] = [];
  for (let left = counted; left > 0; left -= lengths.at(-1) ?? left) {
    lengths.push(Math.min(pieces[lengths.length]?.length ?? left, left));
  }
  return { lengths, content: Buffer.concat(pieces, counted) };
}

/** What is behind the last boundary. */
function isEnd(piece: Buffer | undefined, isWhole: boolean): boolean {
  const text = piece?.toString('latin1', 0, 5) ?? '';
  return (isWhole ? /^--(?:\r\n)?$/ : /^(?:\r\n|\r?$)/).test(text);
}

/** What is between the boundaries; undefined where one of them is in no delimiter, but for what is behind the last. */
function piecesOf(bytes: Buffer, boundary: string): Buffer[] | undefined {
  const pieces: Buffer[] = [];
  let from = 0;
  for (let at = bytes.indexOf(boundary); at !== -1; at = bytes.indexOf(boundary, from)) {
    const piece = bytes.subarray(from, at);
    if (!isBeforeDelimiter(piece, pieces.length === 0) || pieces.length === MAX_PIECES) return undefined;
    pieces.push(piece);
    from = at + boundary.length;
  }
  return pieces.length === 0 ? undefined : [...pieces, bytes.subarray(from)];
}

/** The first delimiter begins the body; each other one stands behind a part, which begins a line. */
function isBeforeDelimiter(piece: Buffer, isFirst: boolean): boolean {
  if (isFirst) return piece.toString('latin1', 0, 3) === '--';
  return piece.toString('latin1', 0, 2) === '\r\n' && piece.toString('latin1', piece.length - 4) === '\r\n--';
}
