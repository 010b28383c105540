// Holdfast for OpenCode, which has no hook commands: this plugin hands on what happens to `holdfast hook opencode EVENT`
// and puts the brief it gets back into the conversation. Copy it to .opencode/plugins/ or ~/.config/opencode/plugins/.
// It never fails and never waits longer than the command itself may take.
import { spawn } from 'node:child_process';

/** How the command is called; an installer may put whole paths here. */
const COMMAND = ['holdfast'];
const LIMIT_MS = 6000;

/** Events of OpenCode that say something about the work. */
const EVENTS = new Set(['session.created', 'session.idle', 'session.error', 'session.deleted', 'todo.updated']);

export const Holdfast = async ({ client, directory }) => {
  // One after the other: what began is recorded before it ends.
  let last = Promise.resolve(null);
  const tell = (event, payload) => {
    last = last.then(() => callHook(event, { directory, pid: process.pid, ...payload })).catch(() => null);
    return last;
  };
  const windows = new Map();
  return {
    event: async ({ event }) => {
      const { type, properties = {} } = event;
      if (EVENTS.has(type)) await tell(type, properties);
      const info = properties.info;
      if (type !== 'message.updated' || info?.role !== 'assistant' || !info.time?.completed) return;
      const { id, sessionID, role, time, tokens } = info;
      const contextWindow = await contextWindowOf(client, windows, info);
      tell(type, { info: { id, sessionID, role, time, tokens }, ...(contextWindow ? { contextWindow } : {}) });
    },
    'chat.message': async (input, output) => {
      const { sessionID } = input;
      const said = await tell('chat.message', {
        input: { sessionID },
        output: { message: { id: output.message?.id }, parts: output.parts?.filter((part) => part.type === 'text') },
      });
      if (!said?.context) return;
      const id = `prt_0000000000${Math.random().toString(36).slice(2, 12)}`;
      const part = { id, sessionID, messageID: output.message?.id, type: 'text', synthetic: true, text: said.context };
      output.parts.unshift(part);
    },
    'tool.execute.before': async ({ tool, sessionID, callID }, output) => {
      if (tool !== 'bash') return;
      await tell('tool.execute.before', { input: { tool, sessionID, callID }, output: { args: output.args } });
    },
    'tool.execute.after': async ({ tool, sessionID, callID, args }, output) => {
      const { filePath, path, command, patchText } = args ?? {};
      const { exit, exists } = output?.metadata ?? {};
      tell('tool.execute.after', {
        input: { tool, sessionID, callID, args: { filePath, path, command, patchText } },
        output: { metadata: { exit, exists } },
      });
    },
    'experimental.session.compacting': async ({ sessionID }, output) => {
      const said = await tell('experimental.session.compacting', { input: { sessionID } });
      if (said?.context) output.context.push(said.context);
    },
    dispose: async () => {
      await tell('dispose', {});
    },
  };
};

/** How much the model takes, asked once for each model; null where it cannot be told. */
async function contextWindowOf(client, windows, { providerID, modelID }) {
  const name = `${providerID}/${modelID}`;
  if (!windows.has(name)) {
    windows.set(name, null);
    try {
      const { data } = await client.config.providers();
      const provider = data.providers.find((one) => one.id === providerID);
      windows.set(name, provider?.models?.[modelID]?.limit?.context || null);
    } catch {
      // Then nothing is said about how full it is.
    }
  }
  return windows.get(name);
}

/** The object that the hook printed; null for silence and for whatever goes wrong. */
function callHook(event, payload) {
  return new Promise((resolve) => {
    const [file, ...words] = COMMAND;
    const child = spawn(file, [...words, 'hook', 'opencode', event], {
      cwd: payload.directory,
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
    child.stdin.end(JSON.stringify(payload));
  });
}

function parsed(text) {
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    return null;
  }
}
