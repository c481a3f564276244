/** The bytes do not have the form that is read. The message says what was read, for a sentence to a person. */
export class ByteReaderError extends Error {
  override readonly name = 'ByteReaderError';
}

/** Reads a byte string from front to back; running over its end is a {@link ByteReaderError}. */
export class ByteReader {
  #offset = 0;

  constructor(readonly bytes: Uint8Array) {}

  get offset(): number {
    return this.#offset;
  }

  get remaining(): number {
    return this.bytes.length - this.#offset;
  }

  /** The next byte without moving on. */
  peek(what: string): number {
    const value = this.bytes[this.#offset];
    if (value === undefined) throw new ByteReaderError(`it ends before its ${what}`);
    return value;
  }

  /** The next byte. */
  byte(what: string): number {
    const value = this.peek(what);
    this.#offset += 1;
    return value;
  }

  /** Moves over the next `length` bytes and answers where they begin. */
  skip(length: number, what: string): number {
    if (length > this.remaining) throw new ByteReaderError(`it ends inside its ${what}`);
    const start = this.#offset;
    this.#offset += length;
    return start;
  }

  /** The next `length` bytes, not copied. */
  take(length: number, what: string): Uint8Array {
    const start = this.skip(length, what);
    return this.bytes.subarray(start, this.#offset);
  }

  /** As many as `length` things that `read` reads one after the other. */
  list<T>(length: number, read: () => T): T[] {
    const list: T[] = [];
    while (list.length < length) list.push(read());
    return list;
  }

  /** A compact-u16, in its shortest form only: the runtime refuses longer ones, and two spellings would be two hashes. */
  compactU16(what: string): number {
    let value = 0;
    for (let index = 0; index < 3; index += 1) {
      const byte = this.byte(what);
      value |= (byte & 0x7f) << (7 * index);
      if ((byte & 0x80) !== 0) continue;
      if (index > 0 && byte === 0) break;
      if (value > 0xffff) break;
      return value;
    }
    throw new ByteReaderError(`the length of its ${what} is malformed`);
  }
}
