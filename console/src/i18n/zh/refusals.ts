// What a refusal is, in Chinese.

import type { refusals as english } from '../en/refusals.ts';
import type { Translated } from '../texts.ts';

export const refusals: Translated<typeof english> = {
  'invalid-request': '请求无效',
  unauthenticated: '凭据缺失或有误',
  forbidden: '不允许此操作',
  'not-found': '没有找到',
  'method-not-allowed': '此处没有这个方法',
  'too-large': '内容过大',
  'headers-too-large': '请求头过大',
  'unsupported-media-type': '不接受这种内容类型',
  'upgrade-refused': '此处仅支持 HTTP',
  'not-implemented': '此处不支持这部分 HTTP 功能',
  'rate-limited': '请求过多',
  'quota-exhausted': '配额已用尽',
  'upstream-auth': '上游拒绝了凭据',
  'upstream-unavailable': '上游出现故障',
  'upstream-rejected': '上游拒绝了请求',
  overloaded: '目前过于繁忙',
  timeout: '用时过长',
  'client-gone': '客户端已离开',
  internal: '网关出现故障',
  'missing-field': '缺少内容',
  'invalid-value': '该内容无法接受',
  'invalid-type': '该内容无法接受',
  'invalid-json': '不是有效的 JSON',
  unsupported: '不支持此功能',
  'model-not-found': '没有这个模型',
  'key-rejected': '密钥的规则拒绝了它',
  'address-blocked': '该地址不被放行',
  conflict: '与其他内容冲突',
  'unreadable-credential': '保存的凭据无法读取',
  'storage-unavailable': '数据库没有响应',
};
