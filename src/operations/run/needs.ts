import * as v from 'valibot';
import { joined, line, id as ownId, word } from '../../core/line.ts';
import { runLabel } from '../../core/views/labels.ts';
import { type Need, needsOf } from '../../core/views/needs.ts';
import { stateOfRun } from '../../core/views/run-state.ts';
import { beginGitStatus, findEvidence } from '../brief/parts/evidence.ts';
import { defineOperation, shaped } from '../operation.ts';

export type RunNeed = Need & { run: string; title: string };

/** Runs whose files are compared with the record; older ones are rarely touched. */
const LOOKED_AT = 30;

export const needs = defineOperation({
  name: 'needs',
  summary: 'List what needs you: unknown outcomes, questions, gates, failures, mail and conflicts of all runs.',
  scope: 'read',
  input: v.object({}),
  output: v.object({
    needs: v.array(shaped<RunNeed>({ run: v.string(), title: v.string(), kind: v.string(), id: v.string() })),
    now: v.string(),
  }),
  async run(context) {
    const status = beginGitStatus(context);
    const engine = await context.engine();
    const workspace = context.workspace()?.ids;
    const heads = await engine.heads(workspace === undefined ? {} : { workspace });
    const found: RunNeed[] = [];
    let looks = 0;
    for (const { run, title, status: is } of heads) {
      if (is !== 'active') continue;
      const state = await engine.load(run);
      const liveness = await engine.liveness(state);
      const isOver = runLabel(stateOfRun(state, liveness).word) === 'finished';
      const isLooked = !isOver && looks++ < LOOKED_AT;
      const conflicts = isLooked ? (await findEvidence(context, state, { status })).open : [];
      found.push(...needsOf(state, liveness, conflicts).map((need) => ({ ...need, run, title })));
    }
    return { data: { needs: found, now: engine.now() } };
  },
  say: ({ needs: found }, pen) =>
    found.length === 0
      ? line`Nothing needs you.`
      : joined(
          found.map(({ run, kind, id, text }) => {
            const name = kind === 'gate' ? pen.quote(id, 'name') : ownId(id);
            return line`${pen.bold(name)} ${pen.dim(word(kind))} ${pen.quote(text, 'title', 100)} ${pen.dim(line`in ${pen.quote(run, 'name')}`)}`;
          }),
          '\n',
        ),
});
