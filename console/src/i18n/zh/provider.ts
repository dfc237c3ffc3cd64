// The form of the external provider, in Chinese.

import type { provider as english } from '../en/provider.ts';
import type { Translated } from '../texts.ts';

export const provider: Translated<typeof english> = {
  title: '外部提供方',
  hint: '原生支持 Messages 协议的提供方。请求可以发往那里而不是账号。',
  inactive: '未使用。启用它、填写 Base URL 和密钥、并选择“从不”以外的模式后才会参与。',
  state: '提供方状态',
  requests: '它的请求',
  enabled: '使用此提供方',
  enabledHint: '仅用于 Messages 协议的请求。',
  modeOffHint: '此模式下不会向它发送请求。',
  baseUrl: 'Base URL',
  apiKey: 'API 密钥',
  apiKeySet: '已设置。留空则保持不变。',
  mode: '模式',
  modes: {
    off: '从不',
    exclusive: '所有 Messages 请求',
    pooled: '作为账号池中的一个账号',
    fallback: '没有可用账号时',
  },
  families: '各系列的模型',
  familiesHint: '没有精确映射匹配时使用。',
  opus: 'Opus',
  sonnet: 'Sonnet',
  haiku: 'Haiku',
  exact: '精确映射',
  exactHint: '每行一个：客户端模型 = 提供方模型',
  exactBad: '第 {{line}} 行不是“客户端模型 = 提供方模型”的形式。',
  mcp: 'MCP 服务',
  mcpEnabled: '向客户端提供 MCP 端点',
  webSearch: '网页搜索',
  webReader: '网页阅读',
  vision: '视觉',
  webSearchUrl: '其网页搜索 MCP 服务的地址',
  webReaderUrl: '其网页阅读 MCP 服务的地址',
  visionModel: '视觉模型',
  saved: '已保存提供方设置',
  urlBad: '请输入以 http:// 或 https:// 开头的网址。',
};
