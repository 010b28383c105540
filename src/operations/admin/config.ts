import * as v from 'valibot';
import { Fault } from '../../core/fault.ts';
import { mustBePerson } from '../../core/rules/rule-context.ts';
import { oneLine } from '../../core/text.ts';
import { isOffEverywhere } from '../../workspace/state/recording.ts';
import type { WorkspaceConfig } from '../../workspace/state/workspace-settings.ts';
import { noWorkspace, saveConfig, type Workspace } from '../../workspace/workspace.ts';
import { defineOperation, described } from '../operation.ts';
import { settingsInWords } from './parts/settings-in-words.ts';

const names = ['store', 'notify'] as const;

export const config = defineOperation({
  name: 'config',
  summary: 'Show or change the settings of this workspace on this machine.',
  scope: 'maintain',
  local: true,
  words: ['name', 'value'],
  examples: [
    'holdfast config',
    'holdfast config store postgres://team@db.example.com/holdfast',
    'holdfast config notify https://ops.example.com/hook',
    'holdfast config notify notify-send Holdfast',
    'holdfast config notify --clear',
  ],
  input: v.object({
    name: v.optional(described(v.picklist(names), 'The setting; without it all are shown.')),
    value: v.optional(
      described(v.array(v.string()), 'Its value: an address, or for `notify` a program with its arguments.'),
    ),
    clear: v.optional(described(v.boolean(), 'Go back to the default.')),
  }),
  output: v.object({
    store: v.nullable(v.string()),
    notify: v.nullable(v.union([v.string(), v.array(v.string())])),
    dataFolder: v.string(),
    stateFolder: v.nullable(v.string()),
    /** Where each setting in force comes from. */
    origins: v.record(v.string(), v.string()),
    /** What `holdfast.json` proposes and nobody on this machine has agreed to. */
    proposed: v.array(v.string()),
    recording: v.string(),
  }),
  async run(context, { name, value = [], clear = false }) {
    const workspace = context.workspace();
    if (!workspace) throw noWorkspace();
    const shown = () => ({
      store: workspace.config.store ?? null,
      notify: workspace.config.notify ?? null,
      dataFolder: workspace.folder,
      stateFolder: workspace.state?.root ?? null,
      origins: originsOf(workspace, context.environment?.['HOLDFAST_STORE']),
      proposed: workspace.trustState === 'trusted' ? [] : settingsInWords(workspace.proposals?.settings ?? {}),
      recording: recordingIn(workspace),
    });
    if (name === undefined || (value.length === 0 && !clear)) return { data: shown() };
    mustBePerson(context.identity, 'change settings', 'holdfast config');
    const before = shown()[name];
    saveConfig(workspace, clear ? { [name]: undefined } : settingOf(name, value));
    return { data: shown(), changed: [{ path: `config.${name}`, before, after: shown()[name] }] };
  },
  say: ({ store, notify, dataFolder, stateFolder, origins, proposed, recording }, pen) => {
    const shownStore = store === null ? 'SQLite, in the data folder' : withoutPassword(store);
    const shownNotify = notify === null ? 'nobody' : typeof notify === 'string' ? notify : notify.join(' ');
    const rows = [
      ['store', shownStore],
      ['notify', shownNotify],
      ['recording', recording],
      ['data folder', dataFolder],
      ['state folder', stateFolder ?? 'none that can be used'],
    ] as const;
    return [
      ...rows.map(
        ([name, value]) => `${name.padEnd(14)}${value}${name in origins ? pen.dim(`  (${origins[name]})`) : ''}`,
      ),
      ...proposed.map(
        (one) => `${pen.warn('not in force')}  ${one} ${pen.dim('(holdfast.json; see `holdfast trust`)')}`,
      ),
    ].join('\n');
  },
});

function originsOf({ ownConfig, config: inForce }: Workspace, variable: string | undefined): Record<string, string> {
  const of = (name: keyof WorkspaceConfig): string =>
    ownConfig[name] !== undefined
      ? 'your settings'
      : inForce[name] !== undefined
        ? 'holdfast.json, trusted'
        : 'default';
  return { store: variable ? 'HOLDFAST_STORE' : of('store'), notify: of('notify'), recording: of('capture') };
}

function recordingIn({ config: { capture }, state }: Workspace): string {
  if (isOffEverywhere(state)) return 'off in all folders';
  if (capture?.off === true) return 'off';
  const ignored = [...(capture?.ignorePaths ?? []), ...(capture?.ignoreCommands ?? [])];
  return ignored.length > 0 ? `on, without ${oneLine(ignored.join(', '), 100)}` : 'on';
}

function settingOf(name: (typeof names)[number], value: readonly string[]): WorkspaceConfig {
  const [first = ''] = value;
  if (name === 'notify') return { notify: /^https?:\/\//i.test(first) && value.length === 1 ? first : [...value] };
  if (value.length === 1 && /^postgres(ql)?:\/\//.test(first)) return { store: first };
  throw new Fault('invalid', 'The store must be one PostgreSQL address.', {
    hints: ['`holdfast config store postgres://user@host:5432/database`; for a SQLite file use `--store FILE`.'],
  });
}

const withoutPassword = (address: string): string => address.replace(/^(\w+:\/\/[^:@/]*):[^@]*@/, '$1:…@');
