import { countTokens } from '@anthropic-ai/tokenizer';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { unknownLines } from '../../src/core/brief/grammar.suite.ts';
import { dangerous, skeletonOf } from '../../src/core/injections.suite.ts';
import type { Variant } from './padding.ts';
import { openStage, type Stage } from './stage.ts';
import type { Reading, Story } from './story.ts';

/** What one session was given, against what it had to be given. */
export interface Outcome {
  story: string;
  variant: Variant;
  client: string;
  form: string;
  /** Every session of the story is in the run where it belongs. */
  isInRun: boolean;
  shown: number;
  wanted: number;
  /** Sentences that must not be there, that are not of a brief, or that are not true. */
  wrong: readonly string[];
  missing: readonly string[];
  tokens: number;
  isPlanned: boolean;
  text: string;
}

export async function playStory(story: Story, variant: Variant): Promise<Outcome[]> {
  const stage = openStage({ variant, ...(story.branch === undefined ? {} : { branch: story.branch }) });
  try {
    const { readings, runs } = await story.play(stage);
    const sorted = runs.map((group) => [...group].sort()).sort((a, b) => (a.join() < b.join() ? -1 : 1));
    const found = JSON.stringify(stage.runs());
    const strays = found === JSON.stringify(sorted) ? [] : [`runs ${found}, not ${JSON.stringify(sorted)}`];
    return readings.map((reading, index) => judge(story.name, variant, stage, reading, index === 0 ? strays : []));
  } finally {
    await stage.close();
  }
}

function judge(
  story: string,
  variant: Variant,
  { padding }: Stage,
  { client, text, form, must = [], not = [], untrue, mostTokens = Number.POSITIVE_INFINITY, isPlanned }: Reading,
  strays: readonly string[],
): Outcome {
  const plain = padding.without(text);
  const missing = must.filter((fact) => !fact.test(plain)).map(String);
  const hasForm = form === null ? text === '' : form.test(text);
  const said = not.flatMap((pattern) => skeletonOrText(pattern, plain).match(pattern)?.[0] ?? []);
  const tokens = text === '' ? 0 : Math.max(encode(text).length, countTokens(text));
  return {
    story,
    variant,
    client,
    form: form === null ? 'nothing' : (text.split('UTC: ')[1]?.split('.')[0] ?? 'nothing'),
    isInRun: strays.length === 0,
    shown: must.length - missing.length,
    wanted: must.length,
    wrong: [
      ...strays,
      ...said,
      ...untrue,
      ...(text === '' ? [] : unknownLines(text)),
      ...(dangerous.test(text.replaceAll('\n', '')) ? ['a character that hides or reorders text'] : []),
      ...(hasForm ? [] : ['another form']),
      ...(tokens > mostTokens ? [`${tokens} tokens`] : []),
    ],
    missing,
    tokens,
    isPlanned: isPlanned === true,
    text,
  };
}

const skeletonOrText = (pattern: RegExp, text: string): string =>
  pattern.flags.includes('i') ? skeletonOf(text) : text;
