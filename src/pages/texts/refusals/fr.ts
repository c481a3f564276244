import type { ReasonTexts, RefusalTexts } from './refusal-texts.js';

/** French. */
export const FR_REFUSALS: RefusalTexts = {
  comeBackIn: 'Revenez dans {time}',
  comeBackLater: 'Revenez plus tard',
  notLetIn: 'Ce portefeuille n’est pas admis',
  holdsTooLittle: 'Le portefeuille {wallet} a {held}. Il faut : {needed}.',
  heldTooShort: 'Le portefeuille {wallet} a ce qu’il faut, et entrera après l’avoir détenu pendant {needed}.',
  otherCameIn:
    'Un autre portefeuille est entré au nom de {wallet} en moins de {needed}. Celui-ci le pourra une fois ce temps passé.',
  denied: 'Le portefeuille {wallet} n’est pas admis ici.',
};

/** French. */
export const FR_REASONS: ReasonTexts = {
  suspended: 'L’exploitant de ce site a suspendu ce portefeuille. Adressez-vous à lui.',
  tooLarge: 'Ce portefeuille a trop de comptes de jetons pour être examiné. Prenez un autre portefeuille.',
  noFunds: 'Le portefeuille n’a pas la somme. Approvisionnez-le, puis payez de nouveau.',
  ranOut: 'Le paiement est arrivé trop tard. Rien n’a été payé ; réessayez.',
  failed: 'Le paiement a échoué sur le réseau. Rien n’a été payé.',
  notAsAsked:
    'Le portefeuille a signé autre chose que ce qui était demandé. Réessayez, ou prenez un autre portefeuille.',
  mustWait:
    'Trop de paiements de ce portefeuille sont en route ou ont échoué. Rien n’a été payé ; réessayez plus tard.',
  used: 'Ce paiement a déjà été utilisé.',
  paidBefore:
    'C’est déjà payé, mais il n’y en a pas de trace ici. Ne payez pas de nouveau, et montrez votre transaction au vendeur.',
  priceChanged: 'Le prix a changé entre-temps.',
  passOver: 'Ce que vous avez acheté a expiré.',
  passUsedUp: 'Ce que vous avez acheté est épuisé.',
  passElsewhere: 'Ce que vous avez acheté ne vaut pas pour cette page.',
  signInOld: 'La connexion a expiré. Connectez-vous de nouveau.',
  signInWrong: 'La signature ne prouve pas le portefeuille. Réessayez, ou prenez un autre portefeuille.',
  tooMany: 'Il y a eu trop d’essais. Attendez un instant, puis réessayez.',
  away: 'Le site ne le peut pas pour le moment. Réessayez dans un instant.',
  notSetUp: 'Le site n’est pas configuré pour cela. Prévenez son responsable.',
  other: 'Cela n’a pas été possible ({code}).',
};
