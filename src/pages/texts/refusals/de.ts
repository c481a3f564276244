import type { ReasonTexts, RefusalTexts } from './refusal-texts.js';

/** German. */
export const DE_REFUSALS: RefusalTexts = {
  comeBackIn: 'Noch {time} Geduld',
  comeBackLater: 'Bitte kommen Sie später wieder',
  notLetIn: 'Diese Wallet wird nicht eingelassen',
  holdsTooLittle: 'Die Wallet {wallet} hält {held}. Nötig: {needed}.',
  heldTooShort: 'Die Wallet {wallet} hält genug. Sie wird eingelassen, sobald sie es so lange gehalten hat: {needed}.',
  otherCameIn:
    'Für {wallet} ist schon eine andere Wallet eingelassen worden. Diese kann es nach Ablauf der Frist: {needed}.',
  denied: 'Die Wallet {wallet} wird hier nicht eingelassen.',
};

/** German. */
export const DE_REASONS: ReasonTexts = {
  suspended: 'Der Betreiber dieser Seite hat diese Wallet gesperrt. Fragen Sie ihn.',
  tooLarge: 'Diese Wallet hat zu viele Token-Konten, um geprüft zu werden. Nehmen Sie eine andere Wallet.',
  noFunds: 'Die Wallet hat den Betrag nicht. Laden Sie sie auf, und zahlen Sie noch einmal.',
  ranOut: 'Die Zahlung kam zu spät. Es wurde nichts bezahlt; versuchen Sie es noch einmal.',
  failed: 'Die Zahlung ist im Netz fehlgeschlagen. Es wurde nichts bezahlt.',
  notAsAsked:
    'Die Wallet hat etwas anderes unterschrieben, als verlangt war. Versuchen Sie es noch einmal, oder nehmen Sie eine andere Wallet.',
  mustWait:
    'Zu viele Zahlungen dieser Wallet sind unterwegs oder fehlgeschlagen. Es wurde nichts bezahlt; versuchen Sie es später noch einmal.',
  used: 'Diese Zahlung wurde schon verwendet.',
  paidBefore:
    'Das ist schon bezahlt, steht hier aber nicht in den Büchern. Zahlen Sie nicht noch einmal, und zeigen Sie dem Verkäufer Ihre Transaktion.',
  priceChanged: 'Der Preis hat sich inzwischen geändert.',
  passOver: 'Was Sie gekauft haben, ist abgelaufen.',
  passUsedUp: 'Was Sie gekauft haben, ist aufgebraucht.',
  passElsewhere: 'Was Sie gekauft haben, gilt nicht für diese Seite.',
  signInOld: 'Die Anmeldung ist abgelaufen. Melden Sie sich noch einmal an.',
  signInWrong:
    'Die Unterschrift weist die Wallet nicht aus. Versuchen Sie es noch einmal, oder nehmen Sie eine andere Wallet.',
  tooMany: 'Es waren zu viele Versuche. Warten Sie einen Augenblick, und versuchen Sie es noch einmal.',
  away: 'Das geht auf dieser Seite gerade nicht. Versuchen Sie es gleich noch einmal.',
  notSetUp: 'Diese Seite ist dafür nicht eingerichtet. Sagen Sie es ihrem Betreiber.',
  other: 'Es hat nicht geklappt ({code}).',
};
