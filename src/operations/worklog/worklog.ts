import * as v from 'valibot';
import type { WorklogArchive } from '../../core/fold/state.ts';
import { WORKLOG_LIMIT_LINES } from '../../core/views/worklog.ts';
import { currentState } from '../act.ts';
import { defineOperation, shaped } from '../operation.ts';
import { compactionHints, worklogText } from './parts/file.ts';

export const worklog = defineOperation({
  name: 'worklog',
  summary: 'Print the worklog: status, decision index, notes and sessions.',
  scope: 'read',
  input: v.object({}),
  output: v.object({
    text: v.string(),
    lines: v.number(),
    limit: v.number(),
    entries: v.number(),
    archives: v.array(shaped<WorklogArchive>({ number: v.number(), entries: v.number(), proof: v.string() })),
    hints: v.array(v.string()),
    run: v.string(),
  }),
  async run(context) {
    const state = await currentState(context);
    const { lines, entries, archives } = state.worklog;
    return {
      data: {
        text: await worklogText(context, state),
        lines,
        limit: WORKLOG_LIMIT_LINES,
        entries,
        archives: [...archives],
        hints: compactionHints(state),
        run: state.run?.id ?? '',
      },
    };
  },
  say: ({ text, hints }) => [text.trimEnd(), ...hints].join('\n'),
});
