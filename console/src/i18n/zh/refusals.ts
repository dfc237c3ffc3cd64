// What a refusal is, in Chinese.

import type { refusals as english } from '../en/refusals.ts';
import type { Translated } from '../texts.ts';

export const refusals: Translated<typeof english> = {
  'invalid-request': '请求无效',
  unauthenticated: '凭据无效或缺失',
  forbidden: '不允许',
  'not-found': '没有找到',
  'method-not-allowed': '不支持此方法',
  'too-large': '内容过大',
  'headers-too-large': '请求头过大',
  'unsupported-media-type': '不支持的内容类型',
  'upgrade-refused': '仅支持 HTTP',
  'not-implemented': '不支持这部分 HTTP 功能',
  'rate-limited': '超出速率限制',
  'quota-exhausted': '配额已用尽',
  'upstream-auth': '上游拒绝了凭据',
  'upstream-unavailable': '上游不可用',
  'upstream-rejected': '上游拒绝了请求',
  overloaded: '过载',
  timeout: '超时',
  'client-gone': '客户端断开',
  internal: '内部错误',
  'missing-field': '缺少值',
  'invalid-value': '值无效',
  'invalid-type': '类型无效',
  'invalid-json': '不是有效的 JSON',
  unsupported: '不支持',
  'model-not-found': '没有这个模型',
  'key-rejected': '超出密钥的限制',
  'address-blocked': 'IP 地址被屏蔽',
  conflict: '冲突',
  'unreadable-credential': '保存的凭据无法读取',
  'storage-unavailable': '数据库没有响应',
};
