// What the overview says of accounts, in Japanese.

import type { account as english } from '../en/account.ts';
import type { PartlyTranslated } from '../texts.ts';

export const account: PartlyTranslated<typeof english> = {
  empty: 'アカウントはまだありません',
  emptyHint:
    'アカウントとは、モデルプロバイダーへのサインインまたは API キーです。リクエストは追加したすべてのアカウントに分散され、クォータが尽きたり失敗したりすると、クライアントに気付かれずに次のアカウントが引き継ぎます。',
  reasons: {
    'invalid-grant': 'サインインの期限切れ',
    forbidden: 'アップストリームが拒否',
    manual: '手動で無効化',
    'standing-by': 'サンドボックスのアカウント（他のアカウントがある間は待機）',
    'no-upstream': 'アップストリームの設定がありません',
    verification: '確認が必要',
    'invalid-key': 'キーが無効になりました',
    'refused-grant': 'サインインが拒否されました',
    'refused-key': 'キーが拒否されました',
  },
  waysOut: {
    'invalid-grant': 'このアカウントに再度サインインしてください。',
    forbidden:
      'アカウントが API を使用できること、プロジェクトが正しいことをアップストリームで確認し、有効にしてください。',
    manual: '再び使うには有効にしてください。',
    'standing-by':
      '他のアカウントとアップストリームを削除すると再び有効になります。今すぐ使うには有効にしてください。',
    'no-upstream':
      '設定で同じ ID のアップストリームを再度追加するか、アカウントを削除してください。',
    verification:
      'アップストリームでアカウントにサインインし、確認を完了してください。ゲートウェイは自動的に再試行します。今すぐ再試行するには有効にしてください。',
    'invalid-key':
      'アカウントに新しいキーを設定してください。ゲートウェイはときどき自動的に再試行します。今すぐ再試行するには有効にしてください。',
    'refused-grant':
      'このアカウントに再度サインインしてください。ゲートウェイは自動的に再試行し、3 回拒否されるとアカウントを無効にします。',
    'refused-key':
      'アカウントに新しいキーを設定してください。ゲートウェイは自動的に再試行し、3 回拒否されるとアカウントを無効にします。',
  },
};
