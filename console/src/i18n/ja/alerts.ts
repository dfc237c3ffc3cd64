// Webhooks that are told what needs attention, in Japanese.

import type { alerts as english } from '../en/alerts.ts';
import type { PartlyTranslated } from '../texts.ts';

export const alerts: PartlyTranslated<typeof english> = {
  title: 'Webhook',
  hint: '概要で要確認となった項目を、始まったとき、続いている間の再通知、終わったときに通知します。',
  name: '名前',
  nameHint: '例：ops',
  webhook: 'Webhook URL',
  webhookHint: '再表示されません。ローカルネットワーク内でも構いません。',
  format: '形式',
  formats: { json: 'JSON', slack: 'Slack', discord: 'Discord' },
  severity: '通知する内容',
  severities: { warning: '警告とエラー', error: 'エラーのみ' },
  marks: { warning: '警告', error: 'エラー' },
  add: 'Webhook を追加',
  added: '{{name}} を追加しました。テストを送信して届くことを確認してください。',
  remove: '{{name}} を削除',
  removed: '{{name}} を削除しました',
  test: 'テストを送信',
  tested: 'テストは {{name}} に届きました',
  testFailed: 'テストは {{name}} に届きませんでした：{{reason}}',
  firing: '発生中のアラート',
  firingHint: 'まだ解消していないアラート。',
  deliveries: '最近の配信',
  deliveriesHint: 'ゲートウェイ起動後の直近 50 件。',
  outcomes: { delivered: '配信済み', retried: '再試行中', failed: '失敗' },
};
