// The page of the log, in Chinese.

import type { logs as english } from '../en/logs.ts';
import type { Translated } from '../texts.ts';

export const logs: Translated<typeof english> = {
  subtitle: '网关的日志，最新的在前。其中不会出现密钥和令牌。',
  follow: '跟随',
  pause: '暂停',
  search: '搜索日志',
  level: '级别',
  anyLevel: '所有级别',
  levels: {
    trace: 'trace 及以上',
    debug: 'debug 及以上',
    info: 'info 及以上',
    warn: 'warn 及以上',
    error: 'error 及以上',
    fatal: '仅 fatal',
  },
  list: '日志行',
  newLines_other: '{{count}} 行新日志',
  fields: '字段',
  openRequest: '查看请求',
  empty: '日志为空',
  emptyHint: '达到设置级别的日志会在写入时出现在这里。日志文件保留一周。',
  noMatch: '没有符合的日志',
  noMatchHint: '请选择更低的级别，或缩短搜索词。',
};
