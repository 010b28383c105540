import * as v from 'valibot';
import { Fault } from '../../core/fault.ts';
import { mustBePerson } from '../../core/rules/rule-context.ts';
import type { WorkspaceConfig } from '../../workspace/state/workspace-settings.ts';
import { noWorkspace, saveConfig } from '../../workspace/workspace.ts';
import { defineOperation, described } from '../operation.ts';

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
  }),
  async run(context, { name, value = [], clear = false }) {
    const workspace = context.workspace();
    if (!workspace) throw noWorkspace();
    const shown = () => ({
      store: workspace.config.store ?? null,
      notify: workspace.config.notify ?? null,
      dataFolder: workspace.folder,
      stateFolder: workspace.state?.root ?? null,
    });
    if (name === undefined || (value.length === 0 && !clear)) return { data: shown() };
    mustBePerson(context.identity, 'change settings', 'holdfast config');
    const before = shown()[name];
    saveConfig(workspace, clear ? { [name]: undefined } : settingOf(name, value));
    return { data: shown(), changed: [{ path: `config.${name}`, before, after: shown()[name] }] };
  },
  say: ({ store, notify, dataFolder, stateFolder }) =>
    [
      `store   ${store === null ? 'SQLite, in the data folder' : withoutPassword(store)}`,
      `notify  ${notify === null ? 'nobody' : typeof notify === 'string' ? notify : notify.join(' ')}`,
      `data folder   ${dataFolder}`,
      `state folder  ${stateFolder ?? 'none that can be used'}`,
    ].join('\n'),
});

function settingOf(name: (typeof names)[number], value: readonly string[]): WorkspaceConfig {
  const [first = ''] = value;
  if (name === 'notify') return { notify: /^https?:\/\//i.test(first) && value.length === 1 ? first : [...value] };
  if (value.length === 1 && /^postgres(ql)?:\/\//.test(first)) return { store: first };
  throw new Fault('invalid', 'The store must be one PostgreSQL address.', {
    hints: ['`holdfast config store postgres://user@host:5432/database`; for a SQLite file use `--store FILE`.'],
  });
}

const withoutPassword = (address: string): string => address.replace(/^(\w+:\/\/[^:@/]*):[^@]*@/, '$1:…@');
