// The bench's upstream of every wire: one answer, whole, as a burst of events or as paced events.

import { createServer, type ServerResponse } from 'node:http';
import { ALL_ANSWERS, type Answers, answersTo } from './answers.ts';
import { listenOnLoopback } from './listen-on-loopback.ts';
import { EVENTS_PER_STREAM, PLAYED_MODELS } from './models.ts';

const LAST = EVENTS_PER_STREAM - 1;

/** The events of a stream that is sent at once. */
const bursts = new Map(ALL_ANSWERS.map((answers) => [answers, burstOf(answers)]));

let streamsStarted = 0;

const server = createServer((request, response) => {
  const { method, url = '' } = request;
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    if (method === 'GET') sendWhole(response, answersTo(url).models);
    else answer(response, url, Buffer.concat(pieces));
  });
});
listenOnLoopback(server);

/** The model and whether it is a stream stand in the path or in the body. */
function answer(response: ServerResponse, url: string, body: Buffer): void {
  const answers = answersTo(url);
  const isStream = url.includes(':stream') || body.includes('"stream":true');
  if (!isStream) {
    sendWhole(response, answers.whole);
    return;
  }
  const paced = PLAYED_MODELS.find(
    ({ name, paceMs }) => paceMs > 0 && (url.includes(`/${name}:`) || body.includes(`"${name}"`)),
  );
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (paced === undefined) sendBurst(response, bursts.get(answers) ?? []);
  else sendPaced(response, answers, paced.paceMs);
}

function sendWhole(response: ServerResponse, text: string): void {
  const length = Buffer.byteLength(text);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': length });
  response.end(text);
}

function burstOf({ head, event, tail }: Answers): readonly Buffer[] {
  return Array.from({ length: EVENTS_PER_STREAM }, (_, index) => {
    const text = event(`word ${index} of the answer `, index === LAST);
    return Buffer.from(`${index === 0 ? head : ''}${text}${index === LAST ? tail : ''}`);
  });
}

function sendBurst(response: ServerResponse, burst: readonly Buffer[]): void {
  for (const piece of burst) response.write(piece);
  response.end();
}

/** The first event goes at once; the second one's delay spreads the streams over the pace. */
function sendPaced(response: ServerResponse, { head, event, tail }: Answers, paceMs: number): void {
  let sent = 0;
  let timer: NodeJS.Timeout | undefined;
  const sendOne = (): void => {
    const isLast = sent === LAST;
    const text = event(`word @${sendTime()}@ of the answer `, isLast);
    response.write(`${sent === 0 ? head : ''}${text}${isLast ? tail : ''}`);
    sent += 1;
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
