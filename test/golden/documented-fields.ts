// The fields that the vendors' own types document for what is answered in their protocols, as data.

/**
 * A field's type: `string`, `number`, `boolean`, `any`, the name of another entry, `x[]` of these,
 * `x|null`, or the words it may be. An entry whose name ends in `:` is one of those that begin with it,
 * by the value's `type`.
 */
export type Documents = Readonly<
  Record<string, Readonly<Record<string, string | readonly string[]>>>
>;

const DELTA_USAGE = {
  input_tokens: 'number',
  output_tokens: 'number',
  cache_creation_input_tokens: 'number',
  cache_read_input_tokens: 'number',
  output_tokens_details: 'OutputDetails|null',
  server_tool_use: 'ServerToolUsage|null',
};
const STOP = {
  stop_reason: 'StopReason|null',
  stop_sequence: 'string|null',
  stop_details: 'StopDetails|null',
  container: 'any',
};
const RESULT = { tool_use_id: 'string', caller: 'any' };

/** Source: `resources/messages/messages.d.ts`, `models.d.ts` and `shared.d.ts` of the TypeScript SDK. */
export const MESSAGES: Documents = {
  Message: {
    ...{ id: 'string', type: ['message'], role: ['assistant'], model: 'string', ...STOP },
    ...{ content: 'block:[]', usage: 'Usage' },
  },
  Usage: {
    ...DELTA_USAGE,
    ...{ cache_creation: 'any', inference_geo: 'string|null' },
    service_tier: ['standard', 'priority', 'batch'],
  },
  DeltaUsage: DELTA_USAGE,
  OutputDetails: { thinking_tokens: 'number' },
  ServerToolUsage: { web_search_requests: 'number', web_fetch_requests: 'number' },
  StopReason: {
    '': [
      ...['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'pause_turn', 'refusal'],
      'model_context_window_exceeded',
    ],
  },
  StopDetails: { type: ['refusal'], category: 'string|null', explanation: 'string|null' },
  'block:text': { type: ['text'], text: 'string', citations: 'citation:[]|null' },
  'block:thinking': { type: ['thinking'], thinking: 'string', signature: 'string' },
  'block:redacted_thinking': { type: ['redacted_thinking'], data: 'string' },
  // `signature` is the gateway's own: thought signatures of calls come back there.
  'block:tool_use': {
    ...{ type: ['tool_use'], id: 'string', name: 'string', input: 'any', caller: 'any' },
    signature: 'string',
  },
  // Pictures in answers are the gateway's own, in the shape they have in requests.
  'block:image': { type: ['image'], source: 'ImageSource' },
  ImageSource: { type: ['base64'], media_type: 'string', data: 'string' },
  'block:server_tool_use': {
    ...{ type: ['server_tool_use'], id: 'string', input: 'any', caller: 'any' },
    name: ['web_search', 'web_fetch', 'code_execution', 'bash_code_execution'],
  },
  'block:web_search_tool_result': {
    type: ['web_search_tool_result'],
    ...RESULT,
    content: 'hit:[]',
  },
  'hit:web_search_result': {
    ...{ type: ['web_search_result'], url: 'string', title: 'string' },
    ...{ encrypted_content: 'string', page_age: 'string|null' },
  },
  'block:web_fetch_tool_result': { type: ['web_fetch_tool_result'], ...RESULT, content: 'page:' },
  'page:web_fetch_result': {
    ...{ type: ['web_fetch_result'], url: 'string', retrieved_at: 'string|null' },
    content: 'Page',
  },
  'page:web_fetch_tool_result_error': {
    type: ['web_fetch_tool_result_error'],
    error_code: [
      ...['invalid_tool_input', 'url_too_long', 'url_not_allowed', 'url_not_accessible'],
      ...['unsupported_content_type', 'too_many_requests', 'max_uses_exceeded', 'unavailable'],
    ],
  },
  Page: { type: ['document'], source: 'any', title: 'string|null', citations: 'any' },
  'citation:web_search_result_location': {
    ...{ type: ['web_search_result_location'], url: 'string', title: 'string|null' },
    ...{ cited_text: 'string', encrypted_index: 'string' },
  },
  'event:message_start': { type: ['message_start'], message: 'Message' },
  'event:content_block_start': {
    ...{ type: ['content_block_start'], index: 'number', content_block: 'block:' },
  },
  'event:content_block_delta': { type: ['content_block_delta'], index: 'number', delta: 'delta:' },
  'event:content_block_stop': { type: ['content_block_stop'], index: 'number' },
  'event:message_delta': { type: ['message_delta'], delta: 'Stop', usage: 'DeltaUsage' },
  'event:message_stop': { type: ['message_stop'] },
  'event:ping': { type: ['ping'] },
  'event:error': { type: ['error'], error: 'Fault', request_id: 'string' },
  Stop: STOP,
  'delta:text_delta': { type: ['text_delta'], text: 'string' },
  'delta:thinking_delta': { type: ['thinking_delta'], thinking: 'string' },
  'delta:signature_delta': { type: ['signature_delta'], signature: 'string' },
  'delta:input_json_delta': { type: ['input_json_delta'], partial_json: 'string' },
  'delta:citations_delta': { type: ['citations_delta'], citation: 'citation:' },
  Fault: {
    type: [
      ...['invalid_request_error', 'authentication_error', 'billing_error', 'permission_error'],
      ...['not_found_error', 'request_too_large', 'rate_limit_error', 'timeout_error'],
      ...['api_error', 'overloaded_error'],
    ],
    message: 'string',
    details: 'any',
  },
  Count: { input_tokens: 'number' },
  // `object` belongs to the OpenAI-style list, which stands under the same path.
  Models: {
    ...{ data: 'Model[]', has_more: 'boolean', first_id: 'string|null', last_id: 'string|null' },
    object: ['list'],
  },
  Model: {
    ...{ type: ['model'], id: 'string', display_name: 'string', created_at: 'string' },
    ...{ max_input_tokens: 'number|null', max_tokens: 'number|null', capabilities: 'any' },
    ...{ lifecycle: ['active', 'deprecated', 'retired'], line: 'any' },
    ...{ deprecated_at: 'string|null', retires_at: 'string|null' },
    ...{ object: ['model'], created: 'number', owned_by: 'string' },
  },
};

/** Source: the discovery document of `generativelanguage` v1beta, and `genai.d.ts` of the TypeScript SDK. */
export const GENERATE: Documents = {
  Answer: {
    ...{ candidates: 'Candidate[]', promptFeedback: 'PromptFeedback', usageMetadata: 'Usage' },
    ...{ modelVersion: 'string', responseId: 'string' },
  },
  Candidate: {
    ...{ content: 'Content', finishReason: 'FinishReason', finishMessage: 'string' },
    ...{ index: 'number', tokenCount: 'number', avgLogprobs: 'number', safetyRatings: 'any' },
    ...{ citationMetadata: 'Citations', groundingMetadata: 'Grounding' },
    ...{ urlContextMetadata: 'UrlContext', logprobsResult: 'Logprobs' },
  },
  FinishReason: {
    '': [
      ...['STOP', 'MAX_TOKENS', 'SAFETY', 'RECITATION', 'LANGUAGE', 'OTHER', 'BLOCKLIST'],
      ...['PROHIBITED_CONTENT', 'SPII', 'MALFORMED_FUNCTION_CALL', 'IMAGE_SAFETY'],
      ...['UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS', 'IMAGE_PROHIBITED_CONTENT'],
      ...['NO_IMAGE', 'IMAGE_RECITATION', 'IMAGE_OTHER', 'MISSING_THOUGHT_SIGNATURE'],
      'MALFORMED_RESPONSE',
    ],
  },
  PromptFeedback: {
    blockReason: ['SAFETY', 'OTHER', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'IMAGE_SAFETY'],
    // Of the platform's own API and the SDKs.
    blockReasonMessage: 'string',
    safetyRatings: 'any',
  },
  Content: { role: ['model'], parts: 'Part[]' },
  Part: {
    ...{ text: 'string', thought: 'boolean', thoughtSignature: 'string', inlineData: 'Blob' },
    ...{ functionCall: 'Call', executableCode: 'Code', codeExecutionResult: 'CodeResult' },
  },
  Blob: { mimeType: 'string', data: 'string' },
  Call: { id: 'string', name: 'string', args: 'any' },
  Code: { id: 'string', language: ['LANGUAGE_UNSPECIFIED', 'PYTHON'], code: 'string' },
  CodeResult: {
    ...{ id: 'string', output: 'string' },
    outcome: ['OUTCOME_OK', 'OUTCOME_FAILED', 'OUTCOME_DEADLINE_EXCEEDED'],
  },
  Citations: { citationSources: 'Citation[]', citations: 'Citation[]' },
  Citation: { startIndex: 'number', endIndex: 'number', uri: 'string', license: 'string' },
  Grounding: {
    ...{ groundingChunks: 'Chunk[]', groundingSupports: 'Support[]', webSearchQueries: 'string[]' },
    ...{ searchEntryPoint: 'any', retrievalMetadata: 'any' },
  },
  Chunk: { web: 'Web' },
  Web: { uri: 'string', title: 'string' },
  Support: {
    ...{ segment: 'Segment', groundingChunkIndices: 'number[]', confidenceScores: 'number[]' },
  },
  Segment: { partIndex: 'number', startIndex: 'number', endIndex: 'number', text: 'string' },
  UrlContext: { urlMetadata: 'Url[]' },
  Url: {
    retrievedUrl: 'string',
    urlRetrievalStatus: [
      ...['URL_RETRIEVAL_STATUS_UNSPECIFIED', 'URL_RETRIEVAL_STATUS_SUCCESS'],
      ...['URL_RETRIEVAL_STATUS_ERROR', 'URL_RETRIEVAL_STATUS_PAYWALL'],
      'URL_RETRIEVAL_STATUS_UNSAFE',
    ],
  },
  Logprobs: {
    ...{ chosenCandidates: 'Rated[]', topCandidates: 'Top[]', logProbabilitySum: 'number' },
  },
  Top: { candidates: 'Rated[]' },
  Rated: { token: 'string', tokenId: 'number', logProbability: 'number' },
  Usage: {
    ...{ promptTokenCount: 'number', cachedContentTokenCount: 'number' },
    ...{ candidatesTokenCount: 'number', toolUsePromptTokenCount: 'number' },
    ...{ thoughtsTokenCount: 'number', totalTokenCount: 'number' },
    ...{ promptTokensDetails: 'Modality[]', cacheTokensDetails: 'Modality[]' },
    ...{ candidatesTokensDetails: 'Modality[]', toolUsePromptTokensDetails: 'Modality[]' },
  },
  Modality: {
    modality: ['TEXT', 'IMAGE', 'VIDEO', 'AUDIO', 'DOCUMENT'],
    tokenCount: 'number',
  },
  Refusal: { error: 'Status' },
  Status: {
    ...{ code: 'number', message: 'string', details: 'any' },
    status: [
      ...['CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND'],
      ...['ALREADY_EXISTS', 'PERMISSION_DENIED', 'UNAUTHENTICATED', 'RESOURCE_EXHAUSTED'],
      ...['FAILED_PRECONDITION', 'ABORTED', 'OUT_OF_RANGE', 'UNIMPLEMENTED', 'INTERNAL'],
      ...['UNAVAILABLE', 'DATA_LOSS'],
    ],
  },
  Count: {
    ...{ totalTokens: 'number', cachedContentTokenCount: 'number' },
    ...{ promptTokensDetails: 'Modality[]', cacheTokensDetails: 'Modality[]' },
  },
  Embedded: { embedding: 'Embedding', usageMetadata: 'Usage' },
  EmbeddedBatch: { embeddings: 'Embedding[]', usageMetadata: 'Usage' },
  Embedding: { values: 'number[]', shape: 'number[]' },
  Models: { models: 'Model[]', nextPageToken: 'string' },
  // The last two are the product's own.
  Model: {
    ...{ name: 'string', baseModelId: 'string', version: 'string', displayName: 'string' },
    ...{ description: 'string', inputTokenLimit: 'number', outputTokenLimit: 'number' },
    ...{ supportedGenerationMethods: 'string[]', thinking: 'boolean', temperature: 'number' },
    ...{ maxTemperature: 'number', topP: 'number', topK: 'number' },
    ...{ maxOutputTokens: 'number', supportsThinking: 'boolean' },
  },
};
