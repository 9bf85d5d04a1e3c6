import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { SerialWorker } from '../security/serial-worker.js';
import { scaled } from './support/patience.js';

/** Answers what it gets, in order; loops at `loop` and ends at `exit`. */
const source = `const { parentPort } = require('node:worker_threads');
let count = 0;
parentPort.on('message', (message) => {
  if (message === 'loop') for (;;);
  if (message === 'exit') process.exit();
  parentPort.postMessage([message, (count += 1)]);
});`;

const send = (worker: SerialWorker, message: string, timeoutMs = 60_000) =>
  worker.run(timeoutMs, (call) => call(message));

test('tasks run one after another in one thread', async () => {
  const worker = new SerialWorker(source, '');
  const answers = ['a', 'b', 'c'].map((message) => send(worker, message));
  expect(await Promise.all(answers)).toEqual([
    ['a', 1],
    ['b', 2],
    ['c', 3],
  ]);
});

test('a task that takes too long ends the thread, and the next has another', async () => {
  const worker = new SerialWorker(source, '');
  expect(await send(worker, 'a')).toEqual(['a', 1]);
  const late = send(worker, 'loop', 50);
  const next = send(worker, 'b');
  const ended = await Promise.race([
    late.catch(String),
    pause(scaled(10_000), 'it still runs', { ref: false }),
  ]);
  expect(ended).toBe('Error: the worker thread was ended');
  expect(await next).toEqual(['b', 1]);
});

test('a thread that ends by itself fails its task, and the next has another', async () => {
  const worker = new SerialWorker(source, '');
  await expect(send(worker, 'exit')).rejects.toThrow('the worker thread ended');
  expect(await send(worker, 'b')).toEqual(['b', 1]);
});
