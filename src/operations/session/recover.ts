import * as v from 'valibot';
import { transcriptClients } from '../../clients/index.ts';
import { Text } from '../../core/text.ts';
import { defineOperation, described } from '../operation.ts';

const Counts = { input: v.number(), output: v.number(), cached: v.number() };
const Files = v.array(v.object({ path: v.string(), change: v.string() }));
const Commands = v.array(v.object({ command: v.string(), outcome: v.string(), exitCode: v.nullable(v.number()) }));

export const recover = defineOperation({
  name: 'recover',
  summary: 'Rebuild a session that was cut off from its transcript.',
  scope: 'write',
  local: true,
  examples: [
    'holdfast recover',
    'holdfast recover --session S-3 --dry-run',
    'holdfast recover --transcript rollout.jsonl',
  ],
  input: v.object({
    transcript: v.optional(described(Text, 'The transcript file; found by the session when left out.')),
    client: v.optional(described(v.picklist(transcriptClients), 'Only transcripts of this client.')),
    dryRun: v.optional(described(v.boolean(), 'Show what would be recorded without recording it.')),
  }),
  output: v.object({
    client: v.string(),
    conversation: v.string(),
    transcript: v.string(),
    /** Null when nothing was recorded and there is no run. */
    run: v.nullable(v.string()),
    /** The session that has the recovered events; null when there was nothing to add. */
    session: v.nullable(v.string()),
    dryRun: v.boolean(),
    /** What was added, or would be, in sentences; empty when everything is known. */
    added: v.array(v.string()),
    found: v.object({
      goal: v.nullable(v.string()),
      lastRequest: v.nullable(v.string()),
      lastMessage: v.nullable(v.string()),
      endedAt: v.nullable(v.string()),
      files: Files,
      commands: Commands,
      running: v.array(v.string()),
      todos: v.array(v.object({ text: v.nullable(v.string()), status: v.nullable(v.string()) })),
      decisions: v.array(v.string()),
      spent: v.nullable(v.object(Counts)),
      /** What its subagents did, where they have their own files; their tokens are not in `spent`. */
      subagents: v.array(
        v.object({
          agent: v.string(),
          files: Files,
          commands: Commands,
          spent: v.nullable(v.object(Counts)),
          lastMessage: v.nullable(v.string()),
        }),
      ),
      models: v.array(v.string()),
      problems: v.array(v.string()),
    }),
  }),
  counts: true,
  async run(context, input) {
    const { recoverTranscript } = await import('./parts/recover-transcript.ts');
    return recoverTranscript(context, input);
  },
  say({ client, conversation, session, dryRun, added, found }, pen) {
    const what = `${client}, conversation ${conversation}`;
    if (added.length === 0) return `Everything in the transcript of ${what} is already recorded.`;
    const head = dryRun
      ? `Would be recorded from the transcript of ${pen.bold(what)}:`
      : `Recovered ${pen.bold(session ?? '')} from the transcript of ${what}:`;
    return [
      head,
      ...added.map((line) => `  ${line}`),
      ...found.problems.map((line) => pen.warn(line)),
      ...(dryRun ? [] : ['See the current position with `holdfast resume`.']),
    ].join('\n');
  },
});
