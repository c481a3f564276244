import type { ReasonTexts, RefusalTexts } from './refusal-texts.js';

/** Spanish. */
export const ES_REFUSALS: RefusalTexts = {
  comeBackIn: 'Vuelva dentro de {time}',
  comeBackLater: 'Vuelva más tarde',
  notLetIn: 'Esta cartera no puede entrar',
  holdsTooLittle: 'La cartera {wallet} tiene {held}. Se necesita: {needed}.',
  heldTooShort: 'La cartera {wallet} tiene suficiente y podrá entrar cuando lo haya mantenido durante {needed}.',
  otherCameIn:
    'Otra cartera ha entrado en nombre de {wallet} en el plazo de {needed}. Esta podrá entrar cuando pase ese tiempo.',
  denied: 'La cartera {wallet} no puede entrar aquí.',
};

/** Spanish. */
export const ES_REASONS: ReasonTexts = {
  suspended: 'El operador de este sitio ha suspendido esta cartera. Pregúntele.',
  tooLarge: 'Esta cartera tiene demasiadas cuentas de tokens para revisarlas. Use otra cartera.',
  noFunds: 'La cartera no tiene el importe. Recárguela y pague de nuevo.',
  ranOut: 'El pago llegó demasiado tarde. No se ha pagado nada; inténtelo de nuevo.',
  failed: 'El pago falló en la red. No se ha pagado nada.',
  notAsAsked: 'La cartera ha firmado algo distinto de lo que se pedía. Inténtelo de nuevo o use otra cartera.',
  mustWait:
    'Demasiados pagos de esta cartera están en camino o han fallado. No se ha pagado nada; inténtelo más tarde.',
  used: 'Este pago ya se ha usado.',
  paidBefore: 'Esto ya está pagado, pero aquí no consta. No pague otra vez y muestre su transacción al vendedor.',
  priceChanged: 'Mientras tanto, el precio ha cambiado.',
  passOver: 'Lo que compró ha caducado.',
  passUsedUp: 'Lo que compró está agotado.',
  passElsewhere: 'Lo que compró no vale para esta página.',
  signInOld: 'El inicio de sesión ha caducado. Inicie sesión de nuevo.',
  signInWrong: 'La firma no demuestra de quién es la cartera. Inténtelo de nuevo o use otra cartera.',
  tooMany: 'Ha habido demasiados intentos. Espere un momento e inténtelo de nuevo.',
  away: 'El sitio no puede hacerlo ahora. Inténtelo de nuevo en un momento.',
  notSetUp: 'El sitio no está configurado para esto. Avise a su responsable.',
  other: 'No ha sido posible ({code}).',
};
