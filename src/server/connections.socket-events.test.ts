import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { onSocket } from './connections.ts';

test('any number of requests hear of their connection through one listener', () => {
  const socket = new Socket();
  const before = socket.listenerCount('drain');
  const heard: number[] = [];
  const stops = Array.from({ length: 20 }, (_, index) =>
    onSocket(socket, 'drain', () => heard.push(index)),
  );
  expect(socket.listenerCount('drain')).toBe(before + 1);
  socket.emit('drain');
  expect(heard.toSorted((left, right) => left - right)).toEqual([...stops.keys()]);
  for (const stop of stops.slice(1)) stop();
  socket.emit('drain');
  expect(heard.slice(20)).toEqual([0]);
  expect(onSocket(new Socket(), 'close', () => {})).not.toThrow();
  expect(socket.listenerCount('drain')).toBe(before + 1);
});

test('who stops listening is told no more, and keeps nobody from hearing', () => {
  const socket = new Socket();
  const heard: string[] = [];
  const stops = new Map<string, () => void>();
  const listen = (name: string, ends: readonly string[]): void => {
    const listener = (): void => {
      heard.push(name);
      for (const each of ends) stops.get(each)?.();
    };
    stops.set(name, onSocket(socket, 'close', listener));
  };
  listen('a', ['a', 'd']);
  listen('b', ['b']);
  listen('c', ['c']);
  listen('d', []);
  socket.emit('close');
  socket.emit('close');
  expect(heard).toEqual(['a', 'b', 'c']);
});
