import type { Readable, Writable } from 'node:stream';
import { objectOf } from '../clients/json-value.ts';
import type { Moment } from '../clients/moment.ts';
import { parseLine } from './message.ts';
import { createObserver, type FirstPrompt, type Observer } from './observe.ts';

export interface Ends {
  fromEditor: Readable;
  toEditor: Writable;
  fromAgent: Readable;
  toAgent: Writable;
}

/** Takes moments one after the other, and gives the text for the agent. */
export interface Recording {
  take(moment: Moment): void;
  /** The text that goes before a first prompt; null for none, and if it is not there in time. */
  brief(moment: Moment): Promise<string | null>;
  /** Waits until all is recorded, for a limited time. */
  finish(): Promise<void>;
}

/**
 * Passes every line on as it is, in both directions, until the agent closes its output. One message changes: the first prompt of a
 * session gets the brief as its first block. What is seen is recorded beside it, so that a store that is away delays nothing.
 */
export async function runProxy(ends: Ends, recordingOf: (observer: Observer) => Recording): Promise<void> {
  const observer = createObserver();
  const recording = recordingOf(observer);
  const editor = passLines(ends.fromEditor, ends.toAgent, async (line) => {
    const parsed = parseLine(line);
    const { moments, prompt } = observer.fromEditor(parsed);
    for (const moment of moments) recording.take(moment);
    return prompt === null ? line : withBrief(line, parsed, prompt, recording);
  }).then(() => ends.toAgent.end());
  await passLines(ends.fromAgent, ends.toEditor, async (line) => {
    for (const moment of observer.fromAgent(parseLine(line))) recording.take(moment);
    return line;
  });
  void editor.catch(() => undefined);
  for (const moment of observer.ended()) recording.take(moment);
  await recording.finish();
}

async function withBrief(
  line: Uint8Array,
  parsed: unknown,
  { moment }: FirstPrompt,
  recording: Recording,
): Promise<Uint8Array> {
  const text = await recording.brief(moment);
  const { params, ...rest } = objectOf(parsed);
  const { prompt, ...others } = objectOf(params);
  if (text === null || !Array.isArray(prompt)) return line;
  const changed = { ...rest, params: { ...others, prompt: [{ type: 'text', text }, ...prompt] } };
  return Buffer.from(`${JSON.stringify(changed)}\n`);
}

const NEWLINE = 10;
/** A longer line is passed on in pieces and not looked at. */
const LINE_BYTES = 64 * 1024 * 1024;

/** Passes lines on, each after `change` has seen it; the end of the input, without a newline, as it is. */
async function passLines(
  from: Readable,
  to: Writable,
  change: (line: Uint8Array) => Promise<Uint8Array>,
): Promise<void> {
  let held: Buffer[] = [];
  let bytes = 0;
  let isTooLong = false;
  for await (const piece of from as AsyncIterable<Buffer>) {
    let start = 0;
    for (let at = piece.indexOf(NEWLINE); at >= 0; at = piece.indexOf(NEWLINE, start)) {
      const line = Buffer.concat([...held, piece.subarray(start, at + 1)]);
      start = at + 1;
      held = [];
      bytes = 0;
      await write(to, isTooLong ? line : await change(line));
      isTooLong = false;
    }
    held.push(piece.subarray(start));
    bytes += piece.length - start;
    if (bytes <= LINE_BYTES) continue;
    isTooLong = true;
    await write(to, Buffer.concat(held));
    held = [];
    bytes = 0;
  }
  if (bytes > 0) await write(to, Buffer.concat(held));
}

async function write(to: Writable, bytes: Uint8Array): Promise<void> {
  if (to.destroyed || to.write(bytes)) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      to.off('drain', done).off('close', done);
      resolve();
    };
    to.on('drain', done).on('close', done);
  });
}
