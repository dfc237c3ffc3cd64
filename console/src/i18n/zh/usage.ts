// The page of the usage, in Chinese.

import type { usage as english } from '../en/usage.ts';
import type { Translated } from '../texts.ts';

export const usage: Translated<typeof english> = {
  subtitle: '按模型、账号、密钥和协议统计的请求与 Token，以及来自缓存的比例。',
  period: '时间',
  periods: { day: '24 小时', week: '7 天', month: '30 天', quarter: '90 天' },
  step: '间隔',
  steps: { hour: '小时', day: '天', week: '周' },
  by: '分组',
  groups: { model: '模型', account: '账号', key: '密钥', protocol: '协议', none: '不分组' },
  byTitles: { model: '按模型', account: '按账号', key: '按密钥', protocol: '按协议', none: '总计' },
  zone: '时区',
  download: '下载 CSV',
  empty: '这段时间没有用量',
  emptyHint:
    '每个请求会在一分钟内计入，删除请求日志后仍然保留。请选择更长的时间，或发送第一个请求。',
  requests: '请求',
  table: '表格',
  tokens: 'Token',
  errors: '错误',
  cache: '来自缓存',
  input: '输入',
  output: '输出',
  images: '图片',
  imagesDrawn_other: '生成 {{formatted}} 张图片',
  inOut: '输入 {{input}} · 输出 {{output}}',
  errorShare: '占全部请求的 {{share}}',
  cacheHint: '{{tokens}} 个输入 Token 来自缓存',
  noGroup: '（无）',
  others: '其他',
  chartTitle: 'Token 用量趋势',
  chartTitleErrors: '请求随时间变化',
  show: '显示',
  measures: { tokens: 'Token', requests: '请求' },
  kinds: {
    fresh: '输入',
    written: '写入缓存的输入',
    cached: '缓存的输入',
    thought: '思考',
    output: '输出',
    good: '成功',
    failed: '失败',
  },
  chartLabel: '{{from}} 至 {{to}} 的{{measure}}；峰值 {{peak}}。',
};
