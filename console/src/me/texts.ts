// The words of the page of a key's holder, in the languages of the console.

const en = {
  title: 'My usage',
  hint: 'See what your API key used and what is left. The key stays in this tab and is sent to this gateway only.',
  key: 'API key',
  show: 'Show usage',
  forget: 'Forget key',
  refused: 'This key is not accepted. Check that it is complete.',
  failed: 'The gateway cannot be reached or refused the request.',
  loading: 'Loading…',
  budgets: 'Budgets and limits',
  noBudgets: 'No budgets apply to this key.',
  of: (used: string, amount: string, period: string) => `${used} of ${amount} ${period}`,
  left: (left: string, end: string) => `${left} left · renews ${end}`,
  scopes: { key: 'This key', team: 'Your team', gateway: 'Everybody' },
  periods: { day: 'per day', week: 'per week', month: 'per month' },
  units: { requests: 'requests', images: 'images', tokens: 'tokens' },
  soft: 'warns only',
  perMinute: (requests: string, tokens: string) => `Per minute: ${requests}, ${tokens}`,
  requests: 'Requests',
  requestsCount: (count: string) => `${count} requests`,
  tokensCount: (count: string) => `${count} tokens`,
  unlimitedRequests: 'unlimited requests',
  unlimitedTokens: 'unlimited tokens',
  expires: (end: string) => `Key expires ${end}`,
  days: 'Last 31 days',
  noUse: 'Nothing was used in this time.',
  day: 'Day',
  model: 'Model',
  input: 'Input',
  output: 'Output',
  images: 'Images',
  cost: 'Cost',
  total: 'Total',
  models: 'Models you may use',
};

export type MeTexts = typeof en;

const zh: MeTexts = {
  title: '我的用量',
  hint: '查看您的 API 密钥用了多少、还剩多少。密钥只保存在此标签页中，并且只发送给此网关。',
  key: 'API 密钥',
  show: '查看用量',
  forget: '清除密钥',
  refused: '此密钥不被接受。请检查是否完整。',
  failed: '无法连接网关，或请求被拒绝。',
  loading: '正在加载…',
  budgets: '预算与限制',
  noBudgets: '没有适用于此密钥的预算。',
  of: (used, amount, period) => `${period} ${used} / ${amount}`,
  left: (left, end) => `还剩 ${left} · ${end} 重新计算`,
  scopes: { key: '此密钥', team: '您的团队', gateway: '所有人' },
  periods: { day: '每天', week: '每周', month: '每月' },
  units: { requests: '个请求', images: '张图片', tokens: 'Token' },
  soft: '仅提醒',
  perMinute: (requests, tokens) => `每分钟：${requests}，${tokens}`,
  requests: '请求',
  requestsCount: (count) => `${count} 个请求`,
  tokensCount: (count) => `${count} Token`,
  unlimitedRequests: '请求不限',
  unlimitedTokens: 'Token 不限',
  expires: (end) => `密钥于 ${end} 过期`,
  days: '最近 31 天',
  noUse: '这段时间没有用量。',
  day: '日期',
  model: '模型',
  input: '输入',
  output: '输出',
  images: '图片',
  cost: '费用',
  total: '总计',
  models: '可用的模型',
};

/** In the first language of the browser that there is. */
export function chooseTexts(languages: readonly string[]): { language: string; texts: MeTexts } {
  for (const language of languages) {
    if (language.startsWith('zh')) return { language: 'zh-CN', texts: zh };
    if (language.startsWith('en')) return { language, texts: en };
  }
  return { language: 'en', texts: en };
}
