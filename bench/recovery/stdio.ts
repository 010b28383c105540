import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Adapter, AdapterOptions, Answer, EffectAnswer, Tool } from './adapter.ts';

/** A tool in any language: a program that answers one JSON object a line with one; see `bench/suite/README.md`. */
export async function stdioTool(command: string): Promise<Tool> {
  // Asked once for its name, in no folder of a work.
  const first = openProgram(command, { folder: process.cwd(), agent: 'nobody' });
  const { name, version, durability } = (await first.hello) as { name: string; version?: string; durability: string };
  first.end();
  return {
    id: `stdio:${command}`,
    name,
    durability: version === undefined ? durability : `${version}, ${durability}`,
    isProcess: true,
    packages: [],
    open: (options) => adapterOf(openProgram(command, options)),
  };
}

interface Program {
  hello: Promise<unknown>;
  call(name: string, given?: object): Promise<unknown>;
  end(): void;
}

function openProgram(command: string, { folder, agent }: Pick<AdapterOptions, 'folder' | 'agent'>): Program {
  // In the process group of the worker, so that both are killed at once.
  const child: ChildProcess = spawn('/bin/sh', ['-c', command], { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map<number, { resolve(answer: unknown): void; reject(error: Error): void }>();
  let last = 0;
  const fail = (message: string): void => {
    for (const { reject } of waiting.values()) reject(new Error(message));
    waiting.clear();
  };
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    const { id, answer, error } = JSON.parse(line) as { id: number; answer?: unknown; error?: string };
    const one = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) one?.resolve(answer);
    else one?.reject(new Error(error));
  });
  child.on('error', (error) => fail(error.message));
  child.on('close', (code) => fail(`${command} ended with ${code}`));
  child.stdin?.on('error', () => undefined);
  const call: Program['call'] = (name, given = {}) =>
    new Promise((resolve, reject) => {
      const id = ++last;
      waiting.set(id, { resolve, reject });
      child.stdin?.write(`${JSON.stringify({ id, call: name, ...given })}\n`);
    });
  return { call, hello: call('hello', { folder, agent }), end: () => child.stdin?.end() };
}

function adapterOf({ call, end }: Program): Adapter {
  const tell = (name: string) => async (given: object) => void (await call(name, given));
  return {
    begin: ({ goal, steps }) => tell('begin')({ goal, steps }),
    start: (step) => tell('start')({ step }),
    checkpoint: tell('checkpoint'),
    beginEffect: async (effect) => (await call('beginEffect', effect)) as EffectAnswer,
    endEffect: tell('endEffect'),
    decide: tell('decide'),
    redecide: tell('redecide'),
    block: tell('block'),
    changePlan: tell('changePlan'),
    complete: (step) => tell('complete')({ step }),
    resume: async () => (await call('resume')) as Answer,
    close: async () => end(),
  };
}
