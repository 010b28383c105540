// Holdfast for OpenCode, which has no hook commands: this plugin writes its events into Holdfast's inbox, calls
// `holdfast hook opencode EVENT` where an answer is needed, and puts the brief from it into the conversation. Copy it to
// .opencode/plugins/ or ~/.config/opencode/plugins/. It never fails and never waits longer than the command may take.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** The command; `holdfast install` puts absolute paths here. */
const COMMAND = ['holdfast'];
/** What writes into the inbox, and for which machine; without it every event calls the command. */
const INBOX = null;
const LIMIT_MS = 6000;

/** The events that are passed on. */
const EVENTS = new Set(['session.created', 'session.idle', 'session.error', 'session.deleted', 'todo.updated']);

export const Holdfast = async ({ client, directory }) => {
  // One after the other, so that a start is recorded before its end.
  let last = Promise.resolve(null);
  const report = (event, input) => {
    last = last.then(() => pass(event, { directory, pid: process.pid, ...input })).catch(() => null);
    return last;
  };
  const windows = new Map();
  return {
    event: async ({ event }) => {
      const { type, properties = {} } = event;
      if (EVENTS.has(type)) await report(type, properties);
      const info = properties.info;
      if (type !== 'message.updated' || info?.role !== 'assistant' || !info.time?.completed) return;
      const { id, sessionID, role, time, tokens } = info;
      const contextWindow = await contextWindowOf(client, windows, info);
      report(type, { info: { id, sessionID, role, time, tokens }, ...(contextWindow ? { contextWindow } : {}) });
    },
    'chat.message': async (input, output) => {
      const { sessionID } = input;
      const answer = await report('chat.message', {
        input: { sessionID },
        output: { message: { id: output.message?.id }, parts: output.parts?.filter((part) => part.type === 'text') },
      });
      if (!answer?.context) return;
      const id = `prt_0000000000${Math.random().toString(36).slice(2, 12)}`;
      const part = {
        id,
        sessionID,
        messageID: output.message?.id,
        type: 'text',
        synthetic: true,
        text: answer.context,
      };
      output.parts.unshift(part);
    },
    'tool.execute.before': async ({ tool, sessionID, callID }, output) => {
      if (tool !== 'bash') return;
      await report('tool.execute.before', { input: { tool, sessionID, callID }, output: { args: output.args } });
    },
    'tool.execute.after': async ({ tool, sessionID, callID, args }, output) => {
      const { filePath, path, command, patchText } = args ?? {};
      const { exit, exists } = output?.metadata ?? {};
      report('tool.execute.after', {
        input: { tool, sessionID, callID, args: { filePath, path, command, patchText } },
        output: { metadata: { exit, exists } },
      });
    },
    'experimental.session.compacting': async ({ sessionID }, output) => {
      const answer = await report('experimental.session.compacting', { input: { sessionID } });
      if (answer?.context) output.context.push(answer.context);
    },
    dispose: async () => {
      await report('dispose', {});
    },
  };
};

/** The size of the model's context, asked once per model; null if unknown. */
async function contextWindowOf(client, windows, { providerID, modelID }) {
  const name = `${providerID}/${modelID}`;
  if (!windows.has(name)) {
    windows.set(name, null);
    try {
      const { data } = await client.config.providers();
      const provider = data.providers.find((one) => one.id === providerID);
      windows.set(name, provider?.models?.[modelID]?.limit?.context || null);
    } catch {
      // Then the use of the context is not reported.
    }
  }
  return windows.get(name);
}

/** Into the inbox, if the event needs no answer; else to the command, whose answer is returned. */
async function pass(event, input) {
  const left = writeReport(event, input);
  if (left === null) return null;
  if (!left.drain) return callHook(event, input);
  const drained = callHook(event, input, '--inbox');
  return left.soon ? null : drained;
}

const writer = openWriter();

function writeReport(event, input) {
  try {
    if (writer === null) return { run: true };
    const { machine, state } = INBOX;
    const text = JSON.stringify(input);
    return writer({
      client: 'opencode',
      event,
      dir: input.directory,
      input: text,
      agent: ownProcess(),
      machine,
      state,
    });
  } catch {
    return { run: true };
  }
}

function openWriter() {
  try {
    return INBOX === null ? null : createRequire(import.meta.url)(INBOX.writer).writeReport;
  } catch {
    return null;
  }
}

/** This process is the agent's. Its start is known where there is /proc. */
function ownProcess() {
  try {
    const start = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')[19];
    return { pid: process.pid, start, boot: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() };
  } catch {
    return undefined;
  }
}

/** The object that the hook printed; null for no output and for any error. */
function callHook(event, input, ...more) {
  return new Promise((resolve) => {
    const [file, ...words] = COMMAND;
    const child = spawn(file, [...words, 'hook', 'opencode', event, ...more], {
      cwd: input.directory,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const timer = setTimeout(() => child.kill(), LIMIT_MS);
    let text = '';
    child.stdout.on('data', (piece) => {
      text += piece;
    });
    child.stdin.on('error', () => undefined);
    child.on('error', () => finish(null));
    child.on('close', () => finish(parsed(text)));
    function finish(answer) {
      clearTimeout(timer);
      resolve(answer);
    }
    child.stdin.end(JSON.stringify(input));
  });
}

function parsed(text) {
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    return null;
  }
}
