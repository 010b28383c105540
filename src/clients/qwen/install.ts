import { join } from 'node:path';
import { type ClientInstall, matchedHooks, mcpEntry, namedHandler } from '../installation.ts';
import { agentsFile, skillFiles } from '../installed-files.ts';

/** Qwen Code: Claude's events in settings like Gemini's. */
export const install: ClientInstall = {
  commands: ['qwen'],
  folders: ['.qwen'],
  launch: {
    start: ['qwen', '-i'],
    headless: ['qwen', '-p'],
    resume: ['qwen', '--resume'],
    resumeLast: ['qwen', '--continue'],
  },
  files: (place) => [
    {
      path: join(place.scope === 'user' ? place.home : place.root, '.qwen/settings.json'),
      holds: 'hooks, MCP server',
      edits: [
        { kind: 'hooks', events: qwenEvents(place.start.hook) },
        { kind: 'entry', path: ['mcpServers', 'holdfast'], value: mcpEntry(place) },
      ],
    },
    ...skillFiles(place, '.agents'),
    ...(place.scope === 'user' ? [] : [agentsFile(place)]),
  ],
  steps: ({ scope }) => (scope === 'project' ? ['Start `qwen` here and trust the folder, if it asks (`/trust`).'] : []),
};

function qwenEvents(hook: string): Record<string, object> {
  const matchers = {
    SessionStart: null,
    UserPromptSubmit: null,
    PreToolUse: 'run_shell_command|ask_user_question|exit_plan_mode',
    PostToolUse:
      'run_shell_command|write_file|replace|edit|read_file|read_many_files|todo_write|ask_user_question|exit_plan_mode',
    PostToolUseFailure: 'run_shell_command|ask_user_question|exit_plan_mode',
    SubagentStart: null,
    SubagentStop: null,
    PreCompact: null,
    Stop: null,
    StopFailure: null,
    SessionEnd: null,
  };
  return matchedHooks(matchers, (event) => namedHandler('qwen', hook, event));
}
