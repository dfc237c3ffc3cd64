// LangChain's chat models against a gateway: answers, streams, tool loops and structured output. Runs beside its packages.

import { ChatAnthropic } from '@langchain/anthropic';
import { HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatGoogleGenerativeAI } from '@langchain/google-genai';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';

const [url, apiKey, name] = process.argv.slice(2);
const openAi = { model: name, apiKey, configuration: { baseURL: `${url}/v1` }, maxRetries: 0 };
const MODELS = {
  chat: () => new ChatOpenAI({ ...openAi, useResponsesApi: false }),
  responses: () => new ChatOpenAI({ ...openAi, useResponsesApi: true }),
  messages: () =>
    new ChatAnthropic({
      model: name,
      apiKey,
      anthropicApiUrl: url,
      maxTokens: 2000,
      maxRetries: 0,
    }),
  generate: () => new ChatGoogleGenerativeAI({ model: name, apiKey, baseUrl: url, maxRetries: 0 }),
};

let reads = 0;
const readSecret = tool(
  ({ path }) => {
    reads += 1;
    return `secret of ${path}`;
  },
  { name: 'read_secret', description: 'Reads a file', schema: z.object({ path: z.string() }) },
);
const ask = {
  messages: [new HumanMessage('CALL-TOOL read_secret {"path":"secret.txt"}')],
};

const textOf = ({ content }) =>
  typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('');
const isSeen = (text) => text.includes('TOOL-RESULT-SEEN') && text.includes('secret of secret.txt');

const CHECKS = {
  async answer(model) {
    const { usage_metadata: usage } = await model.invoke('Say hello');
    return usage.output_tokens > 0;
  },
  async stream(model) {
    let whole;
    for await (const piece of await model.stream('Say hello'))
      whole = whole?.concat(piece) ?? piece;
    return textOf(whole) !== '' && whole.usage_metadata.output_tokens > 0;
  },
  async 'tool loop'(model) {
    const { messages } = await createReactAgent({ llm: model, tools: [readSecret] }).invoke(ask);
    return isSeen(textOf(messages.at(-1)));
  },
  async 'streamed tool loop'(model) {
    let text = '';
    const agent = createReactAgent({ llm: model, tools: [readSecret] });
    for await (const [piece] of await agent.stream(ask, { streamMode: 'messages' })) {
      if (piece.getType() === 'ai') text += textOf(piece);
    }
    return isSeen(text);
  },
  async 'structured output'(model) {
    const schema = z.object({ name: z.string(), size: z.number().nullable() });
    const river = await model.withStructuredOutput(schema, { name: 'river' }).invoke('A river');
    return schema.safeParse(river).success;
  },
};

const failures = [];
for (const [protocol, create] of Object.entries(MODELS)) {
  for (const [what, check] of Object.entries(CHECKS)) {
    const isGood = await check(create()).catch((error) => String(error));
    if (isGood !== true) failures.push(`${protocol}, ${what}: ${isGood}`);
  }
}
console.log(JSON.stringify({ failures, reads }));
