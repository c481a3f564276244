import type { ReasonTexts, RefusalTexts } from './refusal-texts.js';

/** English. */
export const EN_REFUSALS: RefusalTexts = {
  comeBackIn: 'Come back in {time}',
  comeBackLater: 'Come back later',
  notLetIn: 'This wallet is not let in',
  holdsTooLittle: 'The wallet {wallet} has {held}. It takes {needed}.',
  heldTooShort: 'The wallet {wallet} has enough, and comes in once it has held it for {needed}.',
  otherCameIn: 'Another wallet has come in for {wallet} within {needed}. This one may when that time is over.',
  denied: 'The wallet {wallet} is not let in here.',
};

/** English. */
export const EN_REASONS: ReasonTexts = {
  suspended: 'The operator of this site has suspended this wallet. Ask the operator.',
  tooLarge: 'This wallet has too many token accounts to be looked at. Take another wallet.',
  noFunds: 'The wallet does not hold the amount. Top it up, and pay again.',
  ranOut: 'The payment came too late. Nothing was paid; try again.',
  failed: 'The payment failed on the network. Nothing was paid.',
  notAsAsked: 'The wallet has signed something else than was asked for. Try again, or take another wallet.',
  mustWait: 'Too many payments of this wallet are on their way or have failed. Nothing was paid; try again later.',
  used: 'This payment has been used before.',
  paidBefore: '{detail}',
  priceChanged: 'The price has changed meanwhile.',
  passOver: 'What you bought is over.',
  passUsedUp: 'What you bought is used up.',
  passElsewhere: 'What you bought is not for this page.',
  signInOld: 'The sign-in has run out. Sign in again.',
  signInWrong: 'The signature does not prove the wallet. Try again, or take another wallet.',
  tooMany: 'There were too many tries. Wait a moment, and try again.',
  away: 'The site cannot do it just now. Try again in a moment.',
  notSetUp: 'The site is not set up for this. Tell its owner.',
  other: '{detail}',
};
