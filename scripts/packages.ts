import { claudeEvents } from '../src/clients/claude/install.ts';
import { cursorEvents } from '../src/clients/cursor/install.ts';
import { pluginRule } from '../src/clients/cursor/rule.ts';
import { geminiEvents } from '../src/clients/gemini/install.ts';
import { instructions } from '../src/clients/installed-files.ts';

/**
 * The packages in `plugins/`, generated from the same descriptions as `holdfast install` uses: the files by path. `read`
 * returns a file of this project.
 */
export function packagedFiles(read: (path: string) => string): Map<string, string> {
  const { version, description, license, keywords } = JSON.parse(read('package.json')) as Record<string, unknown>;
  const about = { name: 'holdfast', version, description };
  const files = new Map<string, string>();
  const put = (path: string, content: object | string): void => {
    files.set(path, typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`);
  };
  for (const plugin of ['claude', 'gemini']) {
    put(`${plugin}/holdfast.cjs`, read('plugins/launcher.cjs'));
    for (const skill of ['holdfast', 'holdfast-orchestrator'])
      put(`${plugin}/skills/${skill}/SKILL.md`, read(`skills/${skill}/SKILL.md`));
  }

  // Claude Code, Codex, Copilot and Qwen Code read this one; each has other names for its tools.
  const root = `\${CLAUDE_PLUGIN_ROOT}/holdfast.cjs`;
  const alsoTools = {
    commands: 'run_shell_command',
    others: 'apply_patch|update_plan|write_file|edit|replace|read_file|read_many_files|todo_write',
  };
  put('claude/.claude-plugin/plugin.json', { ...about, author: { name: 'Holdfast' }, license, keywords });
  put('claude/.claude-plugin/marketplace.json', {
    name: 'holdfast',
    description,
    owner: { name: 'Holdfast' },
    plugins: [{ name: 'holdfast', source: './', description }],
  });
  put('claude/hooks/hooks.json', { description, hooks: listed(claudeEvents(`node "${root}" hook`, alsoTools)) });
  put('claude/.mcp.json', { mcpServers: { holdfast: { command: 'node', args: [root, 'mcp'] } } });

  const launcher = `\${extensionPath}\${/}holdfast.cjs`;
  put('gemini/gemini-extension.json', {
    ...about,
    contextFileName: 'GEMINI.md',
    mcpServers: { holdfast: { command: 'node', args: [launcher, 'mcp'] } },
  });
  put('gemini/hooks/hooks.json', { hooks: listed(geminiEvents(`node "${launcher}" hook`)) });
  put('gemini/GEMINI.md', `${instructions.join('\n')}\n`);

  put('cursor/hooks.json', { version: 1, hooks: listed(cursorEvents('holdfast-hook')) });
  put('cursor/mcp.json', { mcpServers: { holdfast: { command: 'holdfast', args: ['mcp'] } } });
  put('cursor/rules/holdfast.mdc', pluginRule);
  return files;
}

const listed = (events: Readonly<Record<string, object>>): Record<string, object[]> =>
  Object.fromEntries(Object.entries(events).map(([event, entry]) => [event, [entry]]));
