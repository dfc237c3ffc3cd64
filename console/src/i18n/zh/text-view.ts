// The view of long texts, in Chinese.

import type { textView as english } from '../en/text-view.ts';
import type { Translated } from '../texts.ts';

export const textView: Translated<typeof english> = {
  search: '查找',
  searchIn: '在{{name}}中查找',
  wrap: '自动换行',
  unwrap: '取消换行',
  copy: '复制{{name}}',
  noMatch: '未找到',
  matchOf: '{{current}} / {{total}}',
  previous: '上一处',
  next: '下一处',
};
