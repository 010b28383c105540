import * as v from 'valibot';
import { UNKNOWN } from '../../core/evidence.ts';
import { Fault, quoted } from '../../core/fault.ts';
import { sha256 } from '../../core/sha256.ts';
import { oneLine } from '../../core/text.ts';
import { pathExists } from '../../workspace/read.ts';
import { noStateFolder, thisUser } from '../../workspace/state/folder.ts';
import { PROPOSALS_FILE, type Proposals } from '../../workspace/state/proposals.ts';
import { listTrust, revokeTrust, saveTrust, type Trust } from '../../workspace/state/trust.ts';
import { noWorkspace, type Workspace } from '../../workspace/workspace.ts';
import type { Context } from '../context.ts';
import { defineOperation, described } from '../operation.ts';
import { settingsInWords } from './parts/settings-in-words.ts';

const Agreement = v.object({ path: v.string(), at: v.string(), by: v.string(), settings: v.array(v.string()) });

export const trust = defineOperation({
  name: 'trust',
  summary: `Agree to the settings in ${PROPOSALS_FILE}, after seeing what they do; a person's act.`,
  scope: 'maintain',
  local: true,
  examples: ['holdfast trust', 'holdfast trust --show', 'holdfast trust --list', 'holdfast trust --revoke'],
  input: v.object({
    show: v.optional(described(v.boolean(), 'Show what would be agreed to, and its hash.')),
    list: v.optional(described(v.boolean(), 'Show every clone on this machine whose settings were agreed to.')),
    revoke: v.optional(described(v.boolean(), 'Take the agreement back.')),
    prune: v.optional(described(v.boolean(), 'Forget agreements for folders that are gone.')),
    yes: v.optional(
      described(v.string(), 'The first 12 digits of the hash that `--show` prints: agree without a question.'),
    ),
  }),
  output: v.object({
    state: v.picklist(['nothing', 'new', 'changed', 'trusted']),
    /** What is agreed to or would be, in words. */
    settings: v.array(v.string()),
    hash: v.nullable(v.string()),
    /** Another clone in which the same bytes were agreed to. */
    seen: v.nullable(v.object({ path: v.string(), at: v.string() })),
    list: v.optional(v.array(Agreement)),
  }),
  async run(context, { show = false, list = false, revoke = false, prune = false, yes }) {
    const workspace = context.workspace();
    if (!workspace) throw noWorkspace();
    const { state } = workspace;
    if (state === null) throw noStateFolder(thisUser());
    if (prune) {
      mustNotBeAgent(context);
      for (const one of listTrust(state)) if (!pathExists(one.place.path)) revokeTrust(state, one.clone);
    }
    if (list || prune) return { data: { ...viewOf(workspace), list: listTrust(state).map(agreementOf) } };
    if (show) return { data: viewOf(workspace) };
    if (revoke) {
      mustNotBeAgent(context);
      const wasThere = revokeTrust(state, workspace.clone.clone);
      const data = viewOf({ ...workspace, trustState: workspace.proposals === null ? 'nothing' : 'new' });
      return { data, changed: wasThere ? [{ path: 'trust', before: 'agreed', after: null }] : [] };
    }
    return agree(context, workspace, yes);
  },
  say: ({ state, settings, hash, seen, list }, pen) => {
    if (list) {
      return list.length === 0
        ? 'Nothing was agreed to on this machine.'
        : list
            .map(({ path, at, by, settings: told }) => `${path}\n  ${by}, ${at.slice(0, 10)}: ${told.join('; ')}`)
            .join('\n');
    }
    const head = {
      nothing: `There is no ${PROPOSALS_FILE} here. To agree without one means:`,
      new: 'These settings are not in force: nobody on this machine has agreed to them.',
      changed: `${PROPOSALS_FILE} changed since it was agreed to; nothing of it is in force.`,
      trusted: 'These settings are in force.',
    }[state];
    return [
      head,
      ...settings.map((line) => `  ${line}`),
      ...(seen === null ? [] : [`You agreed to the same settings in ${seen.path} on ${seen.at.slice(0, 10)}.`]),
      ...(hash === null || state === 'trusted' ? [] : [pen.dim(`Hash ${hash.slice(0, 12)}`)]),
    ].join('\n');
  },
});

async function agree(context: Context, workspace: Workspace, yes: string | undefined) {
  const { state, proposals } = workspace;
  mustNotBeAgent(context);
  if (proposals?.problem) throw unusable(proposals.problem);
  const hash = hashOf(workspace);
  if (yes !== undefined && yes.toLowerCase() !== hash.slice(0, 12)) {
    throw new Fault('usage', `${quoted(yes)} is not the hash of what is here now: ${hash.slice(0, 12)}.`, {
      hints: ['`holdfast trust --show` prints what is to be agreed to, and its hash.'],
    });
  }
  if (yes === undefined) {
    const { settings } = viewOf(workspace);
    const agreed = await context.ask?.(
      [`In ${workspace.root}:`, ...settings.map((line) => `  ${line}`)].join('\n'),
      'Agree?',
    );
    if (agreed === undefined) {
      throw new Fault('usage', 'There is no terminal to ask at.', {
        hints: [`Look at it with \`holdfast trust --show\`, then \`holdfast trust --yes ${hash.slice(0, 12)}\`.`],
      });
    }
    if (!agreed) throw new Fault('not_allowed', 'Not agreed. Nothing was changed.', { hints: [] });
  }
  const { actor, evidence } = context.identity;
  if (state === null) throw noStateFolder(thisUser());
  const made: Trust = {
    ...{
      clone: workspace.clone.clone,
      place: workspace.place,
      hash: proposals?.hash ?? null,
      settings: proposals?.settings ?? {},
    },
    ...{ at: context.now(), by: actor.name, evidence: evidence === 'terminal' ? evidence : 'stated' },
  };
  saveTrust(state, made);
  const data = viewOf({ ...workspace, trustState: proposals === null ? 'nothing' : 'trusted' });
  return { data, changed: [{ path: 'trust', before: workspace.trustState, after: data.state }] };
}

/** Evidence that is only stated is enough here, but not an agent's own. */
function mustNotBeAgent({ identity: { actor, evidence } }: Context): void {
  if (evidence !== 'agent-shell' && (actor.kind === 'person' || actor.name === UNKNOWN)) return;
  throw new Fault('not_allowed', `Only a person may agree to settings; ${actor.name} is an agent.`, {
    hints: ['Ask the person you work for to run `holdfast trust` at their terminal, and say why.'],
    data: { actor },
  });
}

function viewOf(workspace: Workspace) {
  const { trustState, state, proposals } = workspace;
  const seen = state && proposals && trustState !== 'trusted' ? sameElsewhere(state, workspace) : null;
  return { state: trustState, settings: wordsOf(workspace), hash: hashOf(workspace), seen };
}

function sameElsewhere(state: NonNullable<Workspace['state']>, { proposals, clone }: Workspace) {
  const same = listTrust(state).find((one) => one.hash === proposals?.hash && one.clone !== clone.clone);
  return same ? { path: same.place.path, at: same.at } : null;
}

function wordsOf({ proposals, trustState }: Workspace): string[] {
  if (proposals === null) return trustState === 'nothing' ? [OTHER_CLONES] : [];
  const ignored = proposals.unknown.map((key) => `${oneLine(key, 40)}: not known here, and ignored`);
  return [...settingsInWords(proposals.settings), ...ignored];
}

const OTHER_CLONES = 'runs of other clones of this repository, from a shared store, are shown here';

/** Without a file it is the workspace itself that is agreed to. */
const hashOf = ({ proposals, clone }: { proposals: Proposals | null; clone: Workspace['clone'] }): string =>
  proposals?.hash ?? sha256(`${clone.clone} ${clone.workspace}`);

const agreementOf = ({ place, at, by, settings }: Trust): v.InferOutput<typeof Agreement> => ({
  path: place.path,
  at,
  by,
  settings: settingsInWords(settings),
});

function unusable(problem: string): Fault {
  return new Fault('invalid', `${PROPOSALS_FILE} cannot be agreed to: ${problem}.`, {
    hints: ['Correct the file; nothing of it is in force.'],
  });
}
