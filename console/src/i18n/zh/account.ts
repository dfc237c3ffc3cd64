// What the overview says of accounts, in Chinese.

import type { account as english } from '../en/account.ts';
import type { Translated } from '../texts.ts';

export const account: Translated<typeof english> = {
  empty: '还没有账号',
  emptyHint:
    '账号是在模型提供方的登录或密钥。请求分摊到您添加的所有账号；某个账号配额用尽或失败时，下一个会接替，客户端不会察觉。',
  reasons: {
    'invalid-grant': '登录已过期',
    forbidden: '被上游拒绝',
    manual: '手动停用',
    'standing-by': '沙盒账号：有其他账号时待命',
    'no-upstream': '其上游已不在配置中',
    verification: '需要验证',
    'invalid-key': '密钥已失效',
    'refused-grant': '登录被拒绝',
    'refused-key': '密钥被拒绝',
  },
  waysOut: {
    'invalid-grant': '请重新登录此账号。',
    forbidden: '请在上游确认此账号可以使用 API 且项目正确，然后启用。',
    manual: '启用后即可再次使用。',
    'standing-by': '其他账号和上游移除后会自动恢复。也可以启用它，照常使用。',
    'no-upstream': '请在设置中以相同 ID 重新添加其上游，或移除此账号。',
    verification: '请在上游登录此账号并完成验证。网关会自动重试；启用则立即重试。',
    'invalid-key': '请为此账号设置新的密钥。网关会不时自动重试；启用则立即重试。',
    'refused-grant': '请重新登录此账号。网关会自动重试，被拒绝三次后停用。',
    'refused-key': '请为此账号设置新的密钥。网关会自动重试，被拒绝三次后停用。',
  },
};
