import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Annotation, Command, interrupt, MemorySaver, Send, START, StateGraph } from '@langchain/langgraph';
import { afterEach, describe, expect, it } from 'vitest';
import { HoldfastSaver } from '../src/adapters/langgraph.ts';
import { testHoldfast } from '../src/testing.ts';
import { type Folder, newFolder } from './command-line.ts';
import { contextIn, hook, inputsOf } from './hook-player.ts';
import { openTestServer } from './http-server.ts';
import { installExample } from './program-pages.ts';

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

/** Starts a program; `until` waits for a text in its output. */
function start(folder: Folder, file: string) {
  const child = spawn(process.execPath, [file], { cwd: folder.path, env: folder.env });
  started.push(child);
  let out = '';
  const seen = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => (out.includes(text) ? resolve() : undefined);
      child.stdout.setEncoding('utf8').on('data', (piece: string) => {
        out += piece;
        look();
      });
      child.stderr.setEncoding('utf8').on('data', (piece: string) => {
        out += piece;
      });
      child.on('close', () => (out.includes(text) ? resolve() : reject(new Error(out))));
    });
  return { child, seen };
}

describe('the example of the documentation', () => {
  it('is killed at its question, is answered on the dashboard, and continues in a new process', async () => {
    const folder = newFolder();
    const file = installExample(folder.path, 'programs.md', 'refund.mjs', ['@langchain/langgraph', '@langchain/core']);
    const first = start(folder, file);
    await first.seen('Q-1 waits: Refund 480 euros for order 42?');
    first.child.kill('SIGKILL');
    await once(first.child, 'close');

    const [arrival] = inputsOf('claude', folder);
    const told = contextIn(hook(folder, 'claude', 'SessionStart', arrival?.input));
    expect(told).toContain(
      'Run "lg-order-42" "LangGraph thread order-42": kept by the program "langgraph"; last record',
    );
    expect(told).toContain('at "step 1 (loop): look_up".');
    expect(told).toContain('question to the user');
    expect(told).toContain('"Refund 480 euros for order 42?"');

    const server = openTestServer(folder.path);
    const token = server.tokenFor('person', 'ana', 'write');
    const { data } = (await (await server.post('needs', {}, { token })).json()) as { data: { needs: unknown } };
    expect(data.needs).toMatchObject([{ run: 'lg-order-42', kind: 'question', id: 'Q-1' }]);
    const answer = { id: 'Q-1', as: 'resolved', note: 'yes, all of it' };
    expect((await server.post('settle', answer, { token, run: 'lg-order-42' })).status).toBe(200);
    await server.close();

    const second = start(folder, file);
    await second.seen("answer: 'yes, all of it'");
    if (second.child.exitCode === null) await once(second.child, 'close');
    expect(second.child.exitCode).toBe(0);

    const next = { ...arrival?.input, session_id: '5f0c2a1e-7a3b-4f60-9a51-0d6c7be1a002' };
    expect(hook(folder, 'claude', 'SessionStart', next).out).toBe('');
    expect(folder.data('runs')['runs']).toMatchObject([
      { id: 'lg-order-42', source: 'langgraph', standing: { label: 'idle' } },
    ]);
  });
});

const Refund = Annotation.Root({
  note: Annotation<string>(),
  answers: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});
type Refund = typeof Refund.State;

describe('a thread', () => {
  const opened = async () => {
    const t = await testHoldfast({ agent: 'graph' });
    return { ...t, saver: new HoldfastSaver(t.hf) };
  };
  const config = (thread: string) => ({ configurable: { thread_id: thread } });

  it('asks again after each answer, in a task and in a subgraph, and settles what the program answers itself', async () => {
    const { hf, saver } = await opened();
    const inner = new StateGraph(Refund)
      .addNode('ask', () => {
        const first = interrupt('One?');
        return { answers: [first, interrupt('One?')] as string[] };
      })
      .addEdge(START, 'ask')
      .compile();
    const graph = new StateGraph(Refund)
      .addNode('inner', inner)
      .addEdge(START, 'inner')
      .compile({ checkpointer: saver });
    await graph.invoke({ note: '' }, config('t'));
    expect(await saver.questions('t')).toMatchObject([{ question: 'Q-1', text: 'One?', status: 'open', answer: null }]);
    await graph.invoke(new Command({ resume: 'a' }), config('t'));
    expect(await saver.questions('t')).toMatchObject([{ question: 'Q-2', text: 'One?', status: 'open' }]);
    const { answers } = (await graph.invoke(new Command({ resume: 'b' }), config('t'))) as Refund;
    expect(answers).toEqual(['a', 'b']);
    const { items } = await hf.as({ run: 'lg-t' }).items({ kind: 'question', all: true });
    expect(items.map(({ id, status }) => [id, status]).sort()).toEqual([
      ['Q-1', 'resolved'],
      ['Q-2', 'resolved'],
    ]);
    expect(await saver.questions('t')).toEqual([]);
  });

  it('gives the same states as the saver of LangGraph for branches and parallel tasks', async () => {
    const { saver } = await opened();
    const histories = await Promise.all(
      [saver, new MemorySaver()].map(async (checkpointer) => {
        const graph = new StateGraph(Refund)
          .addNode('fan', () => ({ note: 'fanned' }))
          .addNode('work', ({ note }) => ({ answers: [note] }))
          .addEdge(START, 'fan')
          .addConditionalEdges('fan', () => ['a', 'b', 'c'].map((note) => new Send('work', { note })), ['work'])
          .compile({ checkpointer });
        await graph.invoke({ note: 'go' }, config('10'));
        const history = async () => {
          const states = [];
          for await (const state of graph.getStateHistory(config('10'))) states.push(state);
          return states;
        };
        const [, before] = await history();
        // Another branch from the same checkpoint: its channels count on from the same versions.
        const branch = await graph.updateState(before?.config ?? {}, { answers: ['z'] }, 'work');
        await graph.invoke(null, branch);
        return (await history()).map(({ values, next, metadata }) => ({ values, next, step: metadata?.step }));
      }),
    );
    expect(histories[0]?.length).toBeGreaterThan(4);
    expect(histories[0]).toEqual(histories[1]);
  });

  it('is not found by a part of its id, is dropped, begins again, and is pruned', async () => {
    const { hf, saver } = await opened();
    const graph = new StateGraph(Refund)
      .addNode('work', () => ({ answers: ['x'] }))
      .addEdge(START, 'work')
      .compile({ checkpointer: saver });
    for (const thread of ['10', 'a thread/with *odd* ‮ words', '10']) await graph.invoke({ note: '' }, config(thread));
    expect(await saver.getTuple(config('1'))).toBeUndefined();
    expect((await saver.getTuple(config('a thread/with *odd* ‮ words')))?.checkpoint.channel_values['answers']).toEqual([
      'x',
    ]);
    const all = async (thread?: string) => {
      const ids: string[] = [];
      for await (const { config: found } of saver.list(thread === undefined ? {} : config(thread)))
        ids.push(found.configurable?.['thread_id']);
      return ids;
    };
    const before = (await all('10')).length;
    const latest = (await saver.getTuple(config('10')))?.checkpoint;
    await saver.prune('10', { keep: 2 });
    expect([before > 2, (await all('10')).length]).toEqual([true, 2]);
    expect((await saver.getTuple(config('10')))?.checkpoint).toEqual(latest);
    await saver.deleteThread('10');
    expect(await saver.getTuple(config('10'))).toBeUndefined();
    expect(new Set(await all())).toEqual(new Set(['a thread/with *odd* ‮ words']));
    expect((await hf.runs({ dropped: true })).dropped).toMatchObject([{ run: 'lg-10' }]);
    await saver.deleteThread('never');
    await graph.invoke({ note: '' }, config('10'));
    expect((await saver.getTuple(config('10')))?.checkpoint.channel_values['answers']).toEqual(['x']);
  });
});
