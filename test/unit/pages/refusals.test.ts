import { ERRORS } from '../../../src/errors/errors.js';
import { textsFor } from '../../../src/pages/texts/languages.js';
import { type Lack, nearerLack, refusalHeading, refusalInWords } from '../../../src/pages/texts/refusals/lack.js';
import { reasonInWords } from '../../../src/pages/texts/refusals/reason-words.js';
import { REASONS } from '../../../src/protocol/reasons.js';

const LANGUAGES = ['en', 'de', 'es', 'fr', 'zh', 'ja'];
const placesIn = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).toSorted();
const wallet = 'SysvarRent111111111111111111111111111111111';
const amount = (least: string, token = 'USDC'): Lack => ({
  ...{ kind: 'amount', wallet, held: '3' },
  needed: { amount: least, token },
});

describe('what pages say of a refusal', () => {
  test.each(LANGUAGES)('leaves room in %s for what English has room for, and is never empty', (language) => {
    const [english, other] = [textsFor('en'), textsFor(language)];
    for (const name of ['refusals', 'reasons'] as const) {
      // In English these two are told by the sentence for programs, which names the transaction.
      const pairs = Object.entries(english[name]).filter(([key]) => key !== 'other' && key !== 'paidBefore');
      for (const [key, text] of pairs) {
        const said: string = Object(other[name])[key];
        expect([key, placesIn(said)]).toEqual([key, placesIn(text)]);
        if (language !== 'en') expect(said).not.toBe(text);
      }
    }
  });

  test.each(LANGUAGES.slice(1))('tells no sentence for programs in %s, whatever the code', (language) => {
    const { reasons } = textsFor(language);
    for (const code of [...Object.keys(REASONS), ...Object.keys(ERRORS), 'somebody_elses']) {
      const words = reasonInWords({ code, detail: 'This is English.' }, reasons);
      expect([code, words.includes('English'), /[{}]/.test(words)]).toEqual([code, false, false]);
    }
  });

  test('tells a cause that has no words of its own in English as programs are told it', () => {
    const told = { code: 'invalid_payload', detail: 'It is broken.' };
    expect(reasonInWords(told, textsFor('en').reasons)).toBe('It is broken.');
  });

  test('says in its heading when to come back, in hours and minutes that are never too few', () => {
    const heading = (heldMs: number, neededMs: number, language = 'en') =>
      refusalHeading(
        { code: 'held_too_short', detail: '', lack: { kind: 'time', wallet, heldMs, neededMs } },
        textsFor(language),
      );
    expect([heading(0, 86_400_000), heading(1, 86_400_000)]).toEqual(Array(2).fill('Come back in 24 hours'));
    expect(heading(86_340_001, 86_400_000)).toBe('Come back in 1 minute');
    expect(heading(2_700_000, 86_400_000)).toBe('Come back in 23 hours, 15 minutes');
    expect(heading(1, 7 * 86_400_000)).toBe('Come back in 7 days');
    expect(heading(86_400_000 - 10, 7 * 86_400_000)).toBe('Come back in 6 days, 1 hour');
    expect(heading(0, 86_400_000, 'de')).toBe('Noch 24 Stunden Geduld');
    expect(heading(0, 86_400_000, 'fr')).toMatch(/^Revenez dans 24.heures$/);
  });

  test('shortens the wallet, groups thousands and names the tier', () => {
    const lack: Lack = {
      ...{ kind: 'amount', wallet, held: '1234.5' },
      needed: { amount: '10000', token: 'USDC', tier: 'Gold' },
    };
    const say = (language: string) =>
      refusalInWords({ code: 'insufficient_tier', detail: 'English', lack }, textsFor(language));
    expect(say('en')).toBe('The wallet Sysva…11111 has 1,234.50 USDC. It takes 10,000 USDC (tier “Gold”).');
    expect(say('de')).toBe('Die Wallet Sysva…11111 hält 1.234,50 USDC. Nötig: 10.000 USDC (Stufe „Gold“).');
  });

  test('tells the lack that is made up for soonest', () => {
    const time: Lack = { kind: 'time', wallet, heldMs: 0, neededMs: 1 };
    expect(nearerLack(amount('100'), amount('9.5'))).toEqual(amount('9.5'));
    expect(nearerLack(amount('9.5'), amount('100'))).toEqual(amount('9.5'));
    expect(nearerLack(amount('9.5'), amount('100', 'SOL'))).toEqual(amount('100', 'SOL'));
    expect(nearerLack({ kind: 'denied', wallet }, amount('100'))).toEqual(amount('100'));
    expect([nearerLack(time, amount('1')), nearerLack(undefined, time)]).toEqual([time, time]);
  });
});
