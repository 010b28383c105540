import * as v from 'valibot';
import { mustBePerson } from '../../core/rules/rule-context.ts';
import { Sentence } from '../../core/text.ts';
import { setMark } from '../../workspace/inbox.ts';
import type { CaptureConfig } from '../../workspace/state/workspace-settings.ts';
import { noWorkspace, saveConfig, type Workspace } from '../../workspace/workspace.ts';
import { defineOperation, described } from '../operation.ts';

export const capture = defineOperation({
  name: 'capture',
  summary: 'Switch recording off or on, or change what is recorded.',
  scope: 'maintain',
  by: 'person',
  words: ['state'],
  flags: { ignorePaths: 'ignore-path', ignoreCommands: 'ignore-command', clearIgnored: 'clear-ignored' },
  examples: ['holdfast capture off', 'holdfast capture on --ignore-path "secrets/**" --ignore-command "vault read"'],
  input: v.object({
    state: v.optional(
      described(v.picklist(['on', 'off']), 'Whether hooks record and add context; without it the settings are shown.'),
    ),
    ignorePaths: v.optional(described(v.array(Sentence), 'A path or glob whose files are not recorded.')),
    ignoreCommands: v.optional(
      described(v.array(Sentence), 'The beginning of commands that are not recorded; * matches anything.'),
    ),
    clearIgnored: v.optional(described(v.boolean(), 'Empty both lists first.')),
  }),
  output: v.object({
    state: v.picklist(['on', 'off']),
    ignorePaths: v.array(v.string()),
    ignoreCommands: v.array(v.string()),
  }),
  async run(context, input) {
    const workspace = context.workspace();
    if (!workspace) throw noWorkspace();
    const before = withDefaults(workspace.ownConfig.capture);
    const isChange = Object.values(input).some((value) => value !== undefined);
    if (!isChange) return { data: before };
    mustBePerson(context.identity, 'change what is recorded', 'holdfast capture');
    const after = {
      state: input.state ?? before.state,
      ignorePaths: joined(input.clearIgnored ? [] : before.ignorePaths, input.ignorePaths),
      ignoreCommands: joined(input.clearIgnored ? [] : before.ignoreCommands, input.ignoreCommands),
    };
    const changed = (Object.keys(after) as (keyof typeof after)[])
      .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
      .map((name) => ({ path: `capture.${name}`, before: before[name], after: after[name] }));
    if (changed.length > 0) save(workspace, after);
    return { data: after, changed };
  },
  say: ({ state, ignorePaths, ignoreCommands }, pen) =>
    [
      `Hooks record ${state === 'on' ? pen.good('what agents do here') : pen.warn('nothing here')}.`,
      ...(ignorePaths.length > 0 ? [`Ignored files: ${ignorePaths.join(', ')}.`] : []),
      ...(ignoreCommands.length > 0 ? [`Ignored commands: ${ignoreCommands.join(', ')}.`] : []),
    ].join('\n'),
});

function withDefaults(config: CaptureConfig | undefined) {
  return {
    state: config?.off === true ? ('off' as const) : ('on' as const),
    ignorePaths: config?.ignorePaths ?? [],
    ignoreCommands: config?.ignoreCommands ?? [],
  };
}

const joined = (before: readonly string[], more: readonly string[] = []): string[] => [
  ...new Set([...before, ...more]),
];

function save(workspace: Workspace, { state, ignorePaths, ignoreCommands }: ReturnType<typeof withDefaults>): void {
  const capture = { ...(state === 'off' ? { off: true } : {}), ignorePaths, ignoreCommands };
  saveConfig(workspace, { capture });
  setMark(workspace.files, 'off', state === 'off');
}
