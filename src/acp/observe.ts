import { type JsonObject, listOf, objectOf, textOf } from '../clients/json-value.ts';
import type { HookSource, Moment } from '../clients/moment.ts';
import type { Spent, TodoStatus } from '../clients/tool-call.ts';
import { type Message, messageOf } from './message.ts';
import { hasCommand, isCommand, isFinal, merged, resultOf, type SeenCall, toolCallOf } from './tool-call.ts';

/** The name under which sessions of the proxy are recorded; those of hooks have the name of their client. */
export const CLIENT = 'acp';

/** What passed between an editor and an agent, as moments. It remembers what later messages refer to. */
export interface Observer {
  /** A line from the editor, before it is passed on. */
  fromEditor(parsed: unknown): { moments: Moment[]; prompt: FirstPrompt | null };
  /** A line from the agent. */
  fromAgent(parsed: unknown): Moment[];
  /** The agent is gone. */
  ended(): Moment[];
  /** As the agent calls itself; null until it was asked. */
  agent(): string | null;
}

/** The first prompt of a session in this process: its answer is put in front of it. */
export interface FirstPrompt {
  moment: Extract<Moment, { kind: 'prompt' }>;
}

interface SeenSession {
  cwd: string | null;
  /** A prompt was sent: what came before is the agent's replay of an earlier conversation. */
  isAtWork: boolean;
  said: string;
  calls: Map<string, SeenCall>;
  pressure: { used: number; size: number } | null;
}

type Asked = { is: 'initialize' } | { is: 'new'; cwd: string | null } | { is: 'prompt'; session: string };

const SAID_CHARS = 64 * 1024;
const CALLS = 1000;

export function createObserver(): Observer {
  const asked = new Map<string | number, Asked>();
  const sessions = new Map<string, SeenSession>();
  let agent: string | null = null;

  const sessionOf = (id: string, cwd: string | null = null): SeenSession => {
    const found = sessions.get(id) ?? { cwd, isAtWork: false, said: '', calls: new Map(), pressure: null };
    if (cwd !== null) found.cwd = cwd;
    sessions.set(id, found);
    return found;
  };
  const source = (session: string, id: string | null): HookSource => ({
    client: CLIENT,
    conversation: session,
    id,
    cwd: sessions.get(session)?.cwd ?? null,
    transcript: null,
    subagent: null,
    pid: null,
  });

  function prompted({ id, params }: Message, session: string): { moments: Moment[]; prompt: FirstPrompt | null } {
    const seen = sessionOf(session);
    const isFirst = !seen.isAtWork;
    Object.assign(seen, { isAtWork: true, said: '' });
    seen.calls.clear();
    const moment = { ...source(session, `prompt:${id}`), kind: 'prompt', request: requestIn(params) } as const;
    return isFirst ? { moments: [], prompt: { moment } } : { moments: [moment], prompt: null };
  }

  function answered(what: Asked, { result, error }: Message): Moment[] {
    if (what.is === 'initialize') {
      agent = textOf(objectOf(result?.['agentInfo'])['name']);
      return [];
    }
    if (what.is === 'new') {
      const id = textOf(result?.['sessionId']);
      if (id !== null) sessionOf(id, what.cwd);
      return [];
    }
    const seen = sessionOf(what.session);
    const from = source(what.session, null);
    if (error !== null) {
      const message = textOf(error['message']) ?? 'The agent reported an error.';
      return [{ ...from, kind: 'turn-failed', reason: 'error', message }];
    }
    const stop = textOf(result?.['stopReason']);
    // Nobody knows what of it was done: the next prompt records that it was interrupted.
    if (stop === 'cancelled') return [];
    if (stop !== 'end_turn' && stop !== null)
      return [{ ...from, kind: 'turn-failed', reason: 'error', message: `The agent stopped: ${stop}.` }];
    return [
      ...spentIn(objectOf(result?.['usage'])).map(
        (spent) => ({ ...from, kind: 'usage', spent, pressure: null }) as const,
      ),
      { ...from, kind: 'turn-end', lastMessage: seen.said.trim() || null, pressure: pressureOf(seen) },
    ];
  }

  function updated(session: string, update: JsonObject): Moment[] {
    const seen = sessions.get(session);
    if (!seen?.isAtWork) return [];
    switch (update['sessionUpdate']) {
      case 'agent_message_chunk':
        seen.said = `${seen.said}${textOf(objectOf(update['content'])['text']) ?? ''}`.slice(-SAID_CHARS);
        return [];
      case 'tool_call':
      case 'tool_call_update':
        return calledIn(seen, session, update);
      case 'plan':
        return plannedIn(session, update);
      case 'usage_update': {
        const { used, size } = update;
        if (typeof used === 'number' && typeof size === 'number') seen.pressure = { used, size };
        return [];
      }
      default:
        return [];
    }
  }

  function calledIn(seen: SeenSession, session: string, update: JsonObject): Moment[] {
    const id = textOf(update['toolCallId']);
    if (id === null) return [];
    const call = merged(seen.calls.get(id), id, update);
    if (seen.calls.size >= CALLS) seen.calls.clear();
    const isBeginning = !call.hasBegun && isCommand(call) && (hasCommand(call) || call.status === 'in_progress');
    seen.calls.set(id, { ...call, hasBegun: call.hasBegun || isBeginning });
    const from = source(session, id);
    const what = toolCallOf(call);
    if (isFinal(call)) {
      seen.calls.delete(id);
      return [{ ...from, kind: 'tool-after', call: what, result: resultOf(call) }];
    }
    return isBeginning ? [{ ...from, kind: 'tool-before', call: what }] : [];
  }

  function plannedIn(session: string, update: JsonObject): Moment[] {
    const entries = listOf(update['entries']).flatMap((one) => {
      const { content, status } = objectOf(one);
      const text = textOf(content);
      return text === null ? [] : [{ text, status: statuses.find((known) => known === status) ?? 'pending' }];
    });
    const call = { tool: 'plan', command: null, files: [], todos: { kind: 'list', entries } } as const;
    const result = { isFailure: false, isCancelled: false, exitCode: null };
    return [{ ...source(session, null), kind: 'tool-after', call, result }];
  }

  return {
    agent: () => agent,
    fromEditor(parsed) {
      const message = messageOf(parsed);
      const none = { moments: [], prompt: null };
      if (!message?.method) return none;
      const { id, method, params } = message;
      const session = textOf(params['sessionId']);
      const cwd = textOf(params['cwd']);
      if (method === 'initialize' && id !== null) asked.set(id, { is: 'initialize' });
      if (method === 'session/new' && id !== null) asked.set(id, { is: 'new', cwd });
      if (session === null) return none;
      if (method === 'session/load' || method === 'session/resume') sessionOf(session, cwd).isAtWork = false;
      if (method === 'session/prompt' && id !== null) {
        asked.set(id, { is: 'prompt', session });
        return prompted(message, session);
      }
      if (method === 'session/close') {
        const from = source(session, null);
        const isAtWork = sessions.get(session)?.isAtWork === true;
        sessions.delete(session);
        if (isAtWork) return { ...none, moments: [{ ...from, kind: 'session-end', reason: 'closed' }] };
      }
      return none;
    },
    fromAgent(parsed) {
      const message = messageOf(parsed);
      if (message === null) return [];
      if (message.method === 'session/update')
        return updated(textOf(message.params['sessionId']) ?? '', objectOf(message.params['update']));
      // It names the call that it asks for; the answer is the editor's.
      if (message.method === 'session/request_permission') {
        const call = objectOf(message.params['toolCall']);
        return updated(textOf(message.params['sessionId']) ?? '', { ...call, sessionUpdate: 'tool_call_update' });
      }
      const what = message.method === null && message.id !== null ? asked.get(message.id) : undefined;
      if (what === undefined || message.id === null) return [];
      asked.delete(message.id);
      return answered(what, message);
    },
    ended: () =>
      [...sessions]
        .filter(([, { isAtWork }]) => isAtWork)
        .map(([session]) => ({ ...source(session, null), kind: 'session-end', reason: 'the agent ended' })),
  };
}

const statuses = ['pending', 'in_progress', 'completed'] as const satisfies readonly TodoStatus[];

const pressureOf = ({ pressure }: SeenSession) =>
  pressure && pressure.size > 0 ? { percent: Math.min(100, (pressure.used / pressure.size) * 100) } : null;

/** What a turn used, from agents that say so. Their input leaves out what was cached, so it is what remains of the total. */
function spentIn({ totalTokens, outputTokens, cachedReadTokens }: JsonObject): Spent[] {
  if (typeof totalTokens !== 'number' || typeof outputTokens !== 'number' || totalTokens < outputTokens) return [];
  const cached = typeof cachedReadTokens === 'number' ? cachedReadTokens : 0;
  return [{ input: totalTokens - outputTokens, output: outputTokens, cached }];
}

/** The words of a prompt; what is attached is named. */
function requestIn(params: JsonObject): string {
  return listOf(params['prompt'])
    .flatMap((one) => {
      const { type, text, uri } = objectOf(one);
      if (type === 'image') return ['[Image]'];
      return textOf(text) ?? (type === 'resource_link' ? (textOf(uri) ?? []) : []);
    })
    .join('\n');
}
