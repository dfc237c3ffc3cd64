// The palette, in Chinese.

import type { palette as english } from '../en/palette.ts';
import type { Translated } from '../texts.ts';

export const palette: Translated<typeof english> = {
  title: '查找一切',
  placeholder: '页面、设置、账号、密钥、模型或请求 ID',
  found: '找到的内容',
  none: '没有匹配的内容。',
  request: '打开请求 {{id}}',
  setUp: '设置 {{name}}',
  groups: {
    requests: '请求',
    pages: '页面',
    actions: '操作',
    settings: '设置',
    accounts: '账号',
    keys: '密钥',
    models: '模型',
    clients: '客户端',
  },
};
