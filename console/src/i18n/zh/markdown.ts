// Texts with Markdown, in Chinese.

import type { markdown as english } from '../en/markdown.ts';
import type { Translated } from '../texts.ts';

export const markdown: Translated<typeof english> = {
  code: '代码',
  codeIn: '{{name}} 代码',
  copyCode: '复制代码',
  table: '表格',
};
