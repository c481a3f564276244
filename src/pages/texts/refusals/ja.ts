import type { ReasonTexts, RefusalTexts } from './refusal-texts.js';

/** Japanese. */
export const JA_REFUSALS: RefusalTexts = {
  comeBackIn: '{time}後にもう一度お越しください',
  comeBackLater: '後でもう一度お越しください',
  notLetIn: 'このウォレットでは入れません',
  holdsTooLittle: 'ウォレット {wallet} の保有は {held} です。必要なのは {needed} です。',
  heldTooShort: 'ウォレット {wallet} の保有量は足りています。{needed}保有し続けると入れます。',
  otherCameIn: '{needed}以内に別のウォレットが {wallet} の代わりに入りました。その時間が過ぎると入れます。',
  denied: 'ウォレット {wallet} はここに入れません。',
};

/** Japanese. */
export const JA_REASONS: ReasonTexts = {
  suspended: 'このサイトの運営者がこのウォレットを停止しました。運営者にお問い合わせください。',
  tooLarge: 'このウォレットはトークンアカウントが多すぎて確認できません。別のウォレットを使ってください。',
  noFunds: 'ウォレットの残高が足りません。入金してからもう一度お支払いください。',
  ranOut: 'お支払いの到着が遅すぎました。お支払いはされていません。もう一度お試しください。',
  failed: 'ネットワーク上でお支払いに失敗しました。お支払いはされていません。',
  notAsAsked: 'ウォレットが求められたものとは違う内容に署名しました。もう一度試すか、別のウォレットを使ってください。',
  mustWait:
    'このウォレットのお支払いが多数処理中か、失敗しています。お支払いはされていません。後でもう一度お試しください。',
  used: 'このお支払いはすでに使われています。',
  paidBefore: 'すでに支払われていますが、こちらに記録がありません。もう一度支払わず、取引を販売者に示してください。',
  priceChanged: 'その間に価格が変わりました。',
  passOver: '購入した内容の期限が切れました。',
  passUsedUp: '購入した内容を使い切りました。',
  passElsewhere: '購入した内容はこのページには使えません。',
  signInOld: 'サインインの期限が切れました。もう一度サインインしてください。',
  signInWrong: '署名でウォレットを確認できません。もう一度試すか、別のウォレットを使ってください。',
  tooMany: '試行回数が多すぎます。しばらくしてからもう一度お試しください。',
  away: 'サイトでは今処理できません。しばらくしてからもう一度お試しください。',
  notSetUp: 'サイトの設定が済んでいません。サイトの管理者にお知らせください。',
  other: '完了できませんでした（{code}）。',
};
