import { hostname } from 'node:os';
import * as v from 'valibot';
import { type Evidence, evidenceInWords } from '../../core/evidence.ts';
import { asFault } from '../../core/fault.ts';
import { currentRun } from '../act.ts';
import { defineOperation } from '../operation.ts';

export const whoami = defineOperation({
  name: 'whoami',
  summary: 'Show who you are to Holdfast here: actor, session, run, clone and machine.',
  scope: 'read',
  local: true,
  input: v.object({}),
  output: v.object({
    actor: v.object({ kind: v.picklist(['agent', 'person']), name: v.string() }),
    evidence: v.string(),
    session: v.nullable(v.string()),
    run: v.nullable(v.string()),
    clone: v.nullable(v.string()),
    machine: v.nullable(v.string()),
    host: v.string(),
    folder: v.nullable(v.string()),
  }),
  async run(context) {
    const { actor, evidence, session } = context.identity;
    const workspace = context.workspace();
    const run = workspace ? await currentRun(context).catch(noRun) : null;
    const { clone = null, machine = null } = workspace?.clone ?? {};
    const folder = workspace?.folder ?? null;
    return { data: { actor, evidence, session, run, clone, machine, host: hostname(), folder } };
  },
  say: ({ actor, evidence, session, run, clone, machine, host, folder }, pen) =>
    [
      `${pen.bold(actor.name)} (${actor.kind}, ${evidenceInWords(evidence as Evidence)})`,
      `  session  ${session ?? 'none'}`,
      `  run      ${run ?? 'none'}`,
      `  data     ${folder ?? 'this folder is not a workspace'}${clone === null ? '' : ` (clone ${clone})`}`,
      `  machine  ${host}${machine === null ? '' : ` (${machine})`}`,
    ].join('\n'),
});

function noRun(thrown: unknown): null {
  if (asFault(thrown).code === 'not_found') return null;
  throw thrown;
}
