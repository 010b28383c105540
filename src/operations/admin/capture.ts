import * as v from 'valibot';
import { mustBePerson } from '../../core/rules/rule-context.ts';
import { Sentence } from '../../core/text.ts';
import { inWords, msBetween } from '../../core/time.ts';
import { repositoryAt } from '../../workspace/git/repository.ts';
import { setMark } from '../../workspace/inbox.ts';
import { noStateFolder, openStateFolder, thisUser } from '../../workspace/state/folder.ts';
import { isOffEverywhere, recordedFolders, setOffEverywhere } from '../../workspace/state/recording.ts';
import type { CaptureConfig } from '../../workspace/state/workspace-settings.ts';
import { noWorkspace, saveConfig, type Workspace } from '../../workspace/workspace.ts';
import type { Context } from '../context.ts';
import { defineOperation, described, type Pen } from '../operation.ts';

const State = v.picklist(['on', 'off']);

const Capture = v.object({
  state: State,
  ignorePaths: v.array(v.string()),
  ignoreCommands: v.array(v.string()),
  /** For all folders of this user. */
  everywhere: State,
  /** With `--list`: where something was recorded or recording is off. */
  folders: v.optional(v.array(v.object({ path: v.string(), state: State, usedAt: v.nullable(v.string()) }))),
  now: v.string(),
});
type Capture = v.InferOutput<typeof Capture>;

export const capture = defineOperation({
  name: 'capture',
  summary: 'Switch recording off or on, or change what is recorded.',
  scope: 'maintain',
  by: 'person',
  words: ['state'],
  flags: { ignorePaths: 'ignore-path', ignoreCommands: 'ignore-command', clearIgnored: 'clear-ignored' },
  local: ['everywhere', 'list'],
  examples: [
    'holdfast capture off',
    'holdfast capture off --everywhere',
    'holdfast capture --list',
    'holdfast capture on --ignore-path "secrets/**" --ignore-command "vault read"',
  ],
  input: v.object({
    state: v.optional(described(State, 'Whether hooks record and add context; without it the settings are shown.')),
    everywhere: v.optional(described(v.boolean(), 'In all your folders; what is set for one stays set.')),
    list: v.optional(described(v.boolean(), 'List the folders where something was recorded, or recording is off.')),
    ignorePaths: v.optional(described(v.array(Sentence), 'A path or glob whose files are not recorded.')),
    ignoreCommands: v.optional(
      described(v.array(Sentence), 'The beginning of commands that are not recorded; * matches anything.'),
    ),
    clearIgnored: v.optional(described(v.boolean(), 'Empty both lists first.')),
  }),
  output: Capture,
  async run(context, { list, everywhere, ...input }) {
    const state = openStateFolder(thisUser());
    const shown = (settings: ReturnType<typeof withDefaults>): Capture => ({
      ...settings,
      everywhere: isOffEverywhere(state) ? 'off' : 'on',
      ...(list && state
        ? { folders: recordedFolders(state).map(({ isOff, ...one }) => ({ ...one, state: isOff ? 'off' : 'on' })) }
        : {}),
      now: context.now(),
    });
    const isChange = Object.values(input).some((value) => value !== undefined);
    const workspace = context.workspace();
    const before = withDefaults(workspace?.ownConfig.capture);
    if (!isChange) return { data: shown(before) };
    mustBePerson(context.identity, 'change what is recorded', 'holdfast capture');
    if (everywhere === true && input.state !== undefined) {
      if (state === null) throw noStateFolder(thisUser());
      const was = isOffEverywhere(state) ? 'off' : 'on';
      setOffEverywhere(state, input.state === 'off');
      const changed = was === input.state ? [] : [{ path: 'capture.everywhere', before: was, after: input.state }];
      return { data: shown(before), changed };
    }
    const after = {
      state: input.state ?? before.state,
      ignorePaths: joined(input.clearIgnored ? [] : before.ignorePaths, input.ignorePaths),
      ignoreCommands: joined(input.clearIgnored ? [] : before.ignoreCommands, input.ignoreCommands),
    };
    const changed = (Object.keys(after) as (keyof typeof after)[])
      .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
      .map((name) => ({ path: `capture.${name}`, before: before[name], after: after[name] }));
    if (changed.length > 0) save(workspace ?? newWorkspace(context), after);
    return { data: shown(after), changed };
  },
  say,
});

/** Recording can be switched off before anything is recorded. */
function newWorkspace(context: Context): Workspace {
  if (repositoryAt(context.dir) === null) throw noWorkspace();
  const made = context.createWorkspace();
  if (made === null) throw noWorkspace();
  return made;
}

function say({ state, ignorePaths, ignoreCommands, everywhere, folders, now }: Capture, pen: Pen): string {
  const here = `Hooks record ${state === 'on' && everywhere === 'on' ? pen.good('what agents do here') : pen.warn('nothing here')}.`;
  return [
    here,
    ...(everywhere === 'off'
      ? ['Recording is off in all your folders; `holdfast capture on --everywhere` switches it on.']
      : []),
    ...(state === 'on' && everywhere === 'on'
      ? [pen.dim('`holdfast capture off` stops it here, `holdfast capture off --everywhere` in all folders.')]
      : []),
    ...(state === 'off' ? [pen.dim('`holdfast capture on` switches it on.')] : []),
    ...(ignorePaths.length > 0 ? [`Ignored files: ${ignorePaths.join(', ')}.`] : []),
    ...(ignoreCommands.length > 0 ? [`Ignored commands: ${ignoreCommands.join(', ')}.`] : []),
    ...(folders ?? []).map(({ path, state: is, usedAt }) => {
      const mark = is === 'on' && everywhere === 'on' ? pen.good('on ') : pen.warn('off');
      return `  ${mark}  ${path}  ${pen.dim(usedAt === null ? 'nothing recorded' : `last used ${inWords(msBetween(usedAt, now))} ago`)}`;
    }),
    ...(folders?.length === 0 ? ['Nothing was recorded in any folder yet.'] : []),
  ].join('\n');
}

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
  const config = { ...(state === 'off' ? { off: true } : {}), ignorePaths, ignoreCommands };
  saveConfig(workspace, { capture: config });
  setMark(workspace.files, 'off', state === 'off');
}
