import { badOption } from '../../errors/errors.js';
import { type PriceInput, readCost } from '../../protocol/money/money.js';
import type { Token } from '../../protocol/types.js';
import { amountText, type CreditCost } from '../terms/credit-costs.js';
import type { Adjusted, CreditMeter, PassParts, PassTrouble } from './pass-types.js';

/** What a meter works with. */
export interface MeterParts {
  /** What it takes from, for people: `the pass pas_1`. */
  readonly whose: string;
  readonly cost: CreditCost;
  readonly tokens: readonly Token[];
  readonly giveBack: PassParts['giveBack'];
  /** What is left where `cost` was taken; missing where that is not known. */
  readonly left?: bigint | undefined;
  /** Whether an earlier run of the same request may have ended with another amount than `cost`. Default: no. */
  readonly isTakenBefore?: boolean;
  /** Makes it so much that the request has taken in all. */
  readonly adjust: (amount: bigint) => Promise<Adjusted>;
  /** Whether nobody waits for the response any more. */
  readonly isGone: () => boolean;
  /** Ends a response that nobody waits for: its handler has been told to stop, and may leave it open. */
  readonly endGone: () => void;
  /** Ends the response, as nothing more can be taken. */
  readonly end: (because: PassTrouble) => Promise<void>;
}

const WHERE = 'chargeCredit';

/** Measures what a request takes from credit, of which `cost` is taken. Charges at the same time are taken one after the other. */
export function createCreditMeter(parts: MeterParts): CreditMeter {
  return new MeterOfRequest(parts);
}

class MeterOfRequest implements CreditMeter {
  readonly #parts: MeterParts;
  #cost: CreditCost;
  #taken: bigint;
  #left: bigint | undefined;
  #charged: bigint | undefined;
  /** Whether another amount may be taken than is known: a store that did not answer may have done what it was asked. */
  #isUncertain = false;
  readonly #isTakenBefore: boolean;
  #isOut = false;
  /** Whether it was ended as one whose response has no price. */
  #isFree = false;
  #ending: Promise<void> | undefined;
  #line: Promise<unknown> = Promise.resolve();

  constructor(parts: MeterParts) {
    const { cost, left, isTakenBefore = false } = parts;
    this.#parts = parts;
    this.#cost = cost;
    this.#taken = cost.amount;
    this.#left = left;
    this.#isTakenBefore = isTakenBefore;
  }

  get isCharged(): boolean {
    return this.#charged !== undefined;
  }

  get taken(): bigint {
    return this.#taken;
  }

  get due(): bigint {
    return this.#charged ?? this.#taken;
  }

  get isKept(): boolean {
    return this.#cost.stream && this.#charged !== undefined;
  }

  get left(): bigint | undefined {
    return this.#left;
  }

  readonly charge = (amount: PriceInput | bigint): Promise<boolean> => {
    const charging = this.#charge(amount);
    // Whoever does not wait for it must not end the process by that.
    charging.catch(() => undefined);
    return charging;
  };

  raise(cost: CreditCost): Promise<Adjusted> {
    return this.#inTurn(async () => {
      const isMore = cost.amount > this.#taken;
      const result = isMore ? await this.#take(cost.amount) : ({ ok: true, left: this.#left ?? 0n } as const);
      if (result.ok && cost.amount > this.#cost.amount) this.#cost = cost;
      return result;
    });
  }

  end(isSpent: boolean): Promise<void> {
    if (this.#ending === undefined) {
      this.#isFree = !isSpent;
      this.#ending = this.#inTurn(() => this.#settle(isSpent ? this.due : this.#cost.amount));
    }
    return this.#ending;
  }

  async #charge(input: PriceInput | bigint): Promise<boolean> {
    const [cost, { tokens }] = [this.#cost, this.#parts];
    const amount = readCharge(input, cost, tokens);
    if (this.#isOut) return false;
    // What has no price goes on all the same.
    if (this.#isFree) return !this.#stopsIfGone(this.#parts.isGone());
    if (this.#ending !== undefined) {
      warnOfLateCharge(amountText(amount, cost.mint, tokens));
      return false;
    }
    if (!cost.stream) return this.#chargeUpToCost(amount);
    const isGone = this.#parts.isGone();
    return this.#inTurn(() => this.#chargeMore(amount, isGone));
  }

  #chargeUpToCost(amount: bigint): boolean {
    const sum = (this.#charged ?? 0n) + amount;
    if (sum > this.#cost.amount) throw beyondCost(amount, this.#charged, this.#cost, this.#parts.tokens);
    this.#charged = sum;
    return true;
  }

  async #chargeMore(amount: bigint, isGone: boolean): Promise<boolean> {
    if (this.#isOut) return false;
    const sum = (this.#charged ?? 0n) + amount;
    if (sum > this.#taken) {
      if (this.#stopsIfGone(isGone)) return false;
      const result = await this.#take(sum);
      if (!result.ok) {
        this.#isOut = true;
        await this.#parts.end(result.fault);
        return false;
      }
    }
    this.#charged = sum;
    return true;
  }

  #stopsIfGone(isGone: boolean): boolean {
    if (isGone) this.#parts.endGone();
    return isGone;
  }

  async #settle(amount: bigint): Promise<void> {
    const isKnown = !this.#isTakenBefore || this.#charged === undefined;
    if (amount === this.#taken && isKnown && !this.#isUncertain) return;
    await this.#parts.giveBack(this.#parts.whose, () => this.#take(amount));
  }

  async #take(amount: bigint): Promise<Adjusted> {
    const before = this.#isUncertain;
    this.#isUncertain = true;
    const result = await this.#parts.adjust(amount);
    this.#isUncertain = !result.ok && before;
    if (result.ok) [this.#taken, this.#left] = [amount, result.left];
    return result;
  }

  /** In the order in which it is asked for: an amount stands for the whole of what is taken. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#line.then(work);
    this.#line = turn.catch(() => undefined);
    return turn;
  }
}

/** @throws TollhouseError `bad_option` for what is no amount of the credit's token */
function readCharge(input: PriceInput | bigint, { mint }: CreditCost, tokens: readonly Token[]): bigint {
  const read = readCost(typeof input === 'bigint' ? { amount: input, asset: mint } : input, tokens);
  if (!read.ok) throw badOption(WHERE, read.detail, 'amount');
  const { asset, amount } = read.value;
  if (asset === mint) return amount;
  const name = tokens.find((it) => it.mint === mint)?.symbol ?? mint;
  throw badOption(WHERE, `${amountText(amount, asset, tokens)} cannot be taken from credit in ${name}`, 'amount');
}

function beyondCost(amount: bigint, charged: bigint | undefined, cost: CreditCost, tokens: readonly Token[]) {
  const text = (it: bigint) => amountText(it, cost.mint, tokens);
  const before = charged === undefined ? '' : ` after ${text(charged)}`;
  const detail = `${text(amount)}${before} is more than a request costs here at most, ${text(cost.amount)}: raise "cost" of the pass, or sell streams with stream: true`;
  return badOption(WHERE, detail, 'amount');
}

let hasWarned = false;

/** Once: a handler that does it does it with every request. */
function warnOfLateCharge(text: string): void {
  if (hasWarned) return;
  hasWarned = true;
  const detail = `${text} were charged after the response had ended, and are not taken: charge before its end`;
  process.emitWarning(detail, { code: 'TOLLHOUSE_LATE_CHARGE' });
}
