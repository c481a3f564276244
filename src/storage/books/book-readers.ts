import type { SqlDatabase } from '../sql/sql-database.js';
import { createFigureReader, type FigureReader } from './figure-reader.js';
import { createOwedReader, type OwedReader } from './owed-reader.js';
import { createPassReader, type PassReader } from './pass-reader.js';
import { createPaymentReader, type PaymentReader } from './payment-reader.js';
import { createRefundReader, type RefundReader } from './refund-reader.js';
import { createRequestReader, type RequestReader } from './request-reader.js';
import { createToldReader, type ToldReader } from './told-reader.js';

/** All that can be read of the books by those who look after them. */
export interface BookReaders {
  readonly reader: PaymentReader;
  readonly requests: RequestReader;
  readonly owed: OwedReader;
  readonly told: ToldReader;
  readonly figures: FigureReader;
  readonly passes: PassReader;
  readonly refunds: RefundReader;
}

/** Makes the readers of a database. */
export function createBookReaders(database: SqlDatabase): BookReaders {
  return {
    reader: createPaymentReader(database),
    requests: createRequestReader(database),
    owed: createOwedReader(database),
    told: createToldReader(database),
    figures: createFigureReader(database),
    passes: createPassReader(database),
    refunds: createRefundReader(database),
  };
}
