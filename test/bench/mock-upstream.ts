// The bench's upstream: one answer, whole, as a burst of events or as paced events.

import { createServer, type ServerResponse } from 'node:http';
import { listenOnLoopback } from './listen-on-loopback.ts';
import { EVENTS_PER_STREAM, PLAYED_MODELS } from './models.ts';

const encodeEvent = (text: string, isLast: boolean): string =>
  `data: ${answerText(text, isLast)}\r\n\r\n`;

const wholeAnswer = Buffer.from(answerText('word of the answer '.repeat(20), true));
const burstEvents = Array.from({ length: EVENTS_PER_STREAM }, (_, index) =>
  Buffer.from(encodeEvent(`word ${index} of the answer `, index === EVENTS_PER_STREAM - 1)),
);
const modelList = Buffer.from(
  JSON.stringify({
    models: PLAYED_MODELS.map(({ name }) => ({
      name: `models/${name}`,
      inputTokenLimit: 1_048_576,
      outputTokenLimit: 65_536,
      supportedGenerationMethods: ['generateContent', 'countTokens'],
    })),
  }),
);

let streamsStarted = 0;

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => answer(request.url ?? '', response));
});
listenOnLoopback(server);

function answer(url: string, response: ServerResponse): void {
  if (url.includes(':streamGenerateContent')) {
    const paceMs = PLAYED_MODELS.find(({ name }) => url.includes(`/${name}:`))?.paceMs ?? 0;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (paceMs === 0) sendBurst(response);
    else sendPaced(response, paceMs);
    return;
  }
  const body = url.includes(':generateContent') ? wholeAnswer : modelList;
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}

function sendBurst(response: ServerResponse): void {
  for (const event of burstEvents) response.write(event);
  response.end();
}

/** The first event goes at once; the second one's delay spreads the streams over the pace. */
function sendPaced(response: ServerResponse, paceMs: number): void {
  let sent = 0;
  let timer: NodeJS.Timeout | undefined;
  const sendOne = (): void => {
    sent += 1;
    const isLast = sent === EVENTS_PER_STREAM;
    response.write(encodeEvent(`word @${sendTime()}@ of the answer `, isLast));
    if (!isLast) return;
    clearInterval(timer);
    response.end();
  };
  sendOne();
  streamsStarted += 1;
  timer = setTimeout(
    () => {
      timer = setInterval(sendOne, paceMs);
    },
    (streamsStarted * 7) % paceMs,
  );
  response.on('close', () => clearInterval(timer));
}

/** Milliseconds since the epoch with microseconds, the same clock in every process of this machine. */
function sendTime(): string {
  return (performance.timeOrigin + performance.now()).toFixed(3);
}

function answerText(text: string, isLast: boolean): string {
  return JSON.stringify({
    candidates: [
      {
        content: { role: 'model', parts: [{ text }] },
        index: 0,
        ...(isLast && { finishReason: 'STOP' }),
      },
    ],
    usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 100, totalTokenCount: 112 },
    modelVersion: 'bench',
    responseId: 'bench-1',
  });
}
