import type { ReasonTexts, RefusalTexts } from './refusal-texts.js';

/** Chinese. */
export const ZH_REFUSALS: RefusalTexts = {
  comeBackIn: '请在 {time}后再来',
  comeBackLater: '请稍后再来',
  notLetIn: '此钱包不能进入',
  holdsTooLittle: '钱包 {wallet} 持有 {held}，需要 {needed}。',
  heldTooShort: '钱包 {wallet} 持有的数量已足够，持有满 {needed}后即可进入。',
  otherCameIn: '已有另一个钱包在 {needed}内代表 {wallet} 进入。过了这段时间，此钱包才可以进入。',
  denied: '钱包 {wallet} 不能进入此处。',
};

/** Chinese. */
export const ZH_REASONS: ReasonTexts = {
  suspended: '本站运营者已停用此钱包。请与运营者联系。',
  tooLarge: '此钱包的代币账户过多，无法查看。请换一个钱包。',
  noFunds: '钱包余额不足以支付。请充值后再付。',
  ranOut: '付款到得太晚。没有付款，请重试。',
  failed: '付款在网络上失败。没有付款。',
  notAsAsked: '钱包签署的内容与要求不符。请重试，或换一个钱包。',
  mustWait: '此钱包有过多付款正在处理或已失败。没有付款，请稍后再试。',
  used: '这笔付款已经用过。',
  paidBefore: '已经付款，但本站没有记录。请勿再次付款，请向卖家出示您的交易。',
  priceChanged: '价格在此期间已变化。',
  passOver: '您购买的内容已到期。',
  passUsedUp: '您购买的内容已用完。',
  passElsewhere: '您购买的内容不适用于此页面。',
  signInOld: '登录已过期。请重新登录。',
  signInWrong: '签名不能证明此钱包。请重试，或换一个钱包。',
  tooMany: '尝试次数过多。请稍候再试。',
  away: '网站暂时无法处理。请稍后再试。',
  notSetUp: '网站尚未为此完成设置。请告知网站所有者。',
  other: '未能完成（{code}）。',
};
