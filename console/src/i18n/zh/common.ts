// Words that more than one page uses, in Chinese.

import type { common as english } from '../en/common.ts';
import type { Translated } from '../texts.ts';

export const common: Translated<typeof english> = {
  add: '添加',
  cancel: '取消',
  clear: '清除',
  close: '关闭',
  copied: '已复制',
  copy: '复制',
  copyFailed: '复制失败，请手动选中并复制。',
  loading: '加载中',
  more: '更多',
  never: '从未',
  on: '开',
  open: '打开',
  optional: '可选',
  remove: '移除',
  retry: '重试',
  save: '保存',
  saved: '已保存',
  showMore: '显示更多',
  showSecret: '显示输入的内容',
  undo: '撤销',
  undone: '已撤销',
  unknown: '未知',
  failed: '操作失败',
  failedToLoad: '无法加载',
  unreachable: '网关没有响应，请在恢复后重试。',
  unreachableYet: '网关没有响应，正在自动重试。',
  signedOut: '会话已结束，操作没有执行，请再试一次。',
  stale: '其他人刚刚修改了这里。内容已重新读取，请再修改一次。',
  resetsIn: '{{time}}后重置',
  resetsNow: '即将重置',
  justNow: '刚刚',
  percent: '剩余 {{value}}',
};
