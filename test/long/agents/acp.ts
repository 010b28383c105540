import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bring, bringNode, pathOfCommand } from './bring.ts';
import { type ClientName, clients } from './clients.ts';
import type { Turn } from './model.ts';
import { longCommand, openScene, type Scene } from './scene.ts';
import { endById, until } from './start.ts';

/** An agent that speaks the Agent Client Protocol; its settings are those of a client. */
interface AcpAgent {
  as: ClientName;
  package: string;
  version: string;
  finish?: string;
  command: string;
  onNode: boolean;
  words: readonly string[];
}

const agents: readonly AcpAgent[] = [
  ...[
    { as: 'opencode', words: ['acp'] } as const,
    { as: 'gemini', words: ['--experimental-acp', '-m', 'gemini-2.5-pro', '--approval-mode', 'yolo'] } as const,
  ].map(({ as, words }): AcpAgent => {
    const client = clients.find(({ name }) => name === as);
    if (!client) throw new Error(`There is no client ${as}.`);
    return { ...client, as, words };
  }),
  {
    as: 'claude',
    package: '@agentclientprotocol/claude-agent-acp',
    version: '0.49.0',
    command: 'claude-agent-acp',
    onNode: true,
    words: [],
  },
  {
    as: 'codex',
    package: '@zed-industries/codex-acp',
    version: '0.16.0',
    command: 'codex-acp',
    onNode: true,
    words: [],
  },
];

const program = join(process.cwd(), 'dist/bin/holdfast.cjs');
const LIMIT_MS = 90_000;
const RECORDED_MS = 15_000;

/** Each agent behind the proxy: its work is recorded, it is killed in a command, and the next session gets the brief. */
export async function checkAcp(names: readonly string[]): Promise<boolean> {
  const node = bringNode();
  let isWell = true;
  for (const agent of agents) {
    if (names.length > 0 && !names.includes(agent.as)) continue;
    const folder = realpathSync(mkdtempSync(join(tmpdir(), `holdfast-acp-${agent.as}-`)));
    let failed = 0;
    const note = (step: string, why: string | null): void => {
      if (why !== null) {
        failed += 1;
        isWell = false;
      }
      console.log(`${why === null ? 'pass' : 'FAIL'}  ${agent.as.padEnd(8)}  ${step}${why === null ? '' : `: ${why}`}`);
    };
    try {
      const as = agent.package === clients.find(({ name }) => name === agent.as)?.package ? agent.as : agent.command;
      const installed = bring(as, agent.package, agent.version, node, agent.finish);
      const start = [...(agent.onNode ? [node] : []), pathOfCommand(installed, agent.command), ...agent.words];
      await check(await openScene(folder), agent, start, note);
      if (failed === 0) rmSync(folder, { recursive: true, force: true });
      else console.log(`      what it left is in ${folder}`);
    } catch (thrown) {
      note('the story', `${(thrown as Error).message} (${folder})`);
    }
  }
  return isWell;
}

async function check(
  scene: Scene,
  agent: AcpAgent,
  start: readonly string[],
  note: (step: string, why: string | null) => void,
): Promise<void> {
  const client = clients.find(({ name }) => name === agent.as);
  if (!client) return;
  const environment = scene.settle(client);
  const open = (): Editor => openEditor(scene, start, environment);
  try {
    const first = open();
    await first.begin();
    const before = scene.model.requests.length;
    const stop = await first.prompt('Let there be a greeting in greeting.txt.', [
      { want: { do: 'write', path: 'greeting.txt', text: 'hello\n' } },
      { want: { do: 'command', command: 'cat greeting.txt' } },
      { say: 'The greeting is written.' },
    ]);
    note('answers through the proxy', stop === 'end_turn' ? null : `it stopped with ${stop}`);
    await first.close();
    note('every line of the agent arrives unchanged', first.isUnchanged());
    const said = scene.model.requests.slice(before).some(({ text }) => text.includes('Holdfast record of'));
    note('nothing is said where nothing is unfinished', said ? 'a request has a brief' : null);
    const texts = scene.journal().map(({ type, text }) => `${type} ${text}`);
    const has = (...words: string[]): string | null =>
      texts.some((text) => words.every((word) => text.includes(word))) ? null : `no event has ${words.join(', ')}`;
    note('the request is in the journal', has('turn.began', 'Let there be a greeting'));
    note('the edit is in the journal', has('files.seen', 'greeting.txt'));
    note('the command is in the journal', has('effect.began', 'cat greeting.txt'));
    note('the end of the command is in the journal', has('effect.ended'));
    note('the last words are in the journal', has('turn.ended', 'The greeting is written.'));

    const second = open();
    await second.begin();
    void second.prompt('Ring the bell.', [{ want: { do: 'command', command: longCommand('bell') } }]).catch(() => null);
    const file = join(scene.home, 'bell.pid');
    const pid = await until(() => existsSync(file) && Number(readFileSync(file, 'utf8')), LIMIT_MS);
    // What is seen is recorded beside the messages.
    await until(() => scene.journal().some(({ text }) => text.includes('bell.pid')), RECORDED_MS);
    second.kill();
    if (pid) endById(pid);
    note('is killed in its command', pid ? null : 'the command never began');

    const third = open();
    await third.begin();
    const from = scene.model.requests.length;
    await third.prompt('continue', [{ say: 'The bell is to be rung.' }]);
    await third.close();
    const asked = scene.model.requests.slice(from).map(({ text }) => text);
    const told = asked.find((text) => text.includes('Holdfast record of')) ?? '';
    const missing = ['Ring the bell.', 'bell.pid', 'Uncertain'].filter((word) => !told.includes(word));
    note('the next session gets the brief', told === '' ? 'no request has it' : missing.join(', ') || null);
  } finally {
    scene.close();
  }
}

interface Editor {
  begin(): Promise<void>;
  /** The reason for which the turn stopped. */
  prompt(text: string, turns: readonly Turn[]): Promise<string>;
  close(): Promise<void>;
  kill(): void;
  /** Null, or the first line that differs from what the agent wrote. */
  isUnchanged(): string | null;
}

/** An editor that allows everything once. What the agent writes is copied by `tee` before the proxy gets it. */
function openEditor(scene: Scene, start: readonly string[], environment: Record<string, string>): Editor {
  const copy = join(scene.home, `agent-${Date.now()}.out`);
  const wrapper = join(scene.home, 'copied-agent');
  writeFileSync(wrapper, '#!/bin/bash\nout=$1; shift\nexec "$@" > >(exec tee "$out")\n', { mode: 0o755 });
  const child = spawn(process.execPath, [program, 'acp', '--', wrapper, copy, ...start], {
    cwd: scene.project,
    env: environment,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    errors = (errors + piece).slice(-500);
  });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  const answers = new Map<number, (message: Answer) => void>();
  let all = '';
  let rest = '';
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const handle = (message: Answer): void => {
    if (message.method === 'session/request_permission') {
      const chosen = message.params?.options?.find(({ kind }) => kind === 'allow_once');
      send({ id: message.id, result: { outcome: { outcome: 'selected', optionId: chosen?.optionId } } });
    } else if (message.method !== undefined) {
      if (message.id !== undefined) send({ id: message.id, error: { code: -32601, message: 'not offered' } });
    } else answers.get(message.id as number)?.(message);
  };
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    all += piece;
    rest += piece;
    for (let at = rest.indexOf('\n'); at >= 0; at = rest.indexOf('\n')) {
      const line = rest.slice(0, at);
      rest = rest.slice(at + 1);
      if (line.startsWith('{')) handle(JSON.parse(line) as Answer);
    }
  });
  let id = 0;
  let session = '';
  const call = (method: string, params: object): Promise<Answer['result']> =>
    new Promise((resolve, reject) => {
      id += 1;
      const timer = setTimeout(() => reject(new Error(`${method} took too long. ${errors}`)), LIMIT_MS);
      answers.set(id, ({ result, error }) => {
        clearTimeout(timer);
        if (error) reject(new Error(`${method}: ${JSON.stringify(error)}`));
        else resolve(result);
      });
      void ended.then(() => reject(new Error(`The agent ended. ${errors}`)));
      send({ id, method, params });
    });
  return {
    async begin() {
      const fs = { readTextFile: false, writeTextFile: false };
      await call('initialize', { protocolVersion: 1, clientCapabilities: { fs, terminal: false } });
      const opened = await call('session/new', { cwd: scene.project, mcpServers: [] });
      session = opened?.sessionId ?? '';
    },
    async prompt(text, turns) {
      scene.model.play(turns, scene.project);
      const done = await call('session/prompt', { sessionId: session, prompt: [{ type: 'text', text }] });
      return done?.stopReason ?? '';
    },
    async close() {
      child.stdin.end();
      const late = setTimeout(() => endById(-(child.pid ?? 0)), 15_000);
      await ended;
      clearTimeout(late);
    },
    kill: () => endById(-(child.pid ?? 0)),
    isUnchanged() {
      const wrote = readFileSync(copy, 'utf8');
      return wrote.startsWith(all) && all.length > 0 ? null : `${wrote.length} characters became ${all.length}`;
    },
  };
}

interface Answer {
  id?: number | string;
  method?: string;
  params?: { options?: { kind: string; optionId: string }[] };
  result?: { sessionId?: string; stopReason?: string };
  error?: object;
}
