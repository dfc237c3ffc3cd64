// What end-to-end conversations are made of: prompts the sandbox obeys, a tool, a picture.

import { crc32, deflateSync } from 'node:zlib';

export const GREETING = 'HELLO-FROM-UPSTREAM';

/** What the sandbox calls the tool with, then says with its results. */
export const CALL_ONCE = 'CALL-TOOL weather {"city":"Paris"}';
export const CALL_TWICE = 'CALL-TOOL weather {"city":"Paris"} CALL-TOOL weather {"city":"Oslo"}';
export const RESULT_SEEN = 'TOOL-RESULT-SEEN';

export const WEATHER = {
  name: 'weather',
  description: 'Tells the weather of a city.',
  schema: {
    type: 'object' as const,
    properties: { city: { type: 'string' as const, description: 'Name of the city' } },
    required: ['city'],
  },
};

/** What the tool answers. */
export function weatherIn(city: string): string {
  return `sun over ${city}`;
}

/** A real PNG of 3 by 2 grey pixels, in base64. */
export const PNG = drawPng(3, 2);
/** What the sandbox reports when the picture arrived whole. */
export const PNG_REPORT = `image/png 3x2 px, ${Buffer.from(PNG, 'base64').length} bytes`;

function drawPng(width: number, height: number): string {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  const rows = Buffer.alloc(height * (width + 1), 0x80);
  for (let row = 0; row < height; row += 1) rows[row * (width + 1)] = 0;
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]).toString('base64');
}

function chunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(content.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}
