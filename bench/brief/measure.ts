import { countTokens } from '@anthropic-ai/tokenizer';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { unknownLines } from '../../src/core/brief/grammar.suite.ts';
import { skeletonOf } from '../../src/core/injections.suite.ts';
import type { Reading, Story } from './stories.ts';

/** What one session was given, against what it had to be given. */
export interface Outcome {
  story: string;
  client: string;
  form: string;
  shown: number;
  wanted: number;
  /** Sentences that must not be there, or that are not of a brief. */
  wrong: readonly string[];
  missing: readonly string[];
  tokens: number;
}

export async function playStory({ name, play }: Story): Promise<Outcome[]> {
  return (await play()).map((reading) => judge(name, reading));
}

function judge(story: string, { client, text, header, must, not }: Reading): Outcome {
  const missing = must.filter((fact) => !fact.test(text)).map(String);
  const hasForm = header === null ? text === '' : header.test(text);
  const said = not.flatMap((pattern) => skeletonOrText(pattern, text).match(pattern)?.[0] ?? []);
  return {
    story,
    client,
    form: header === null ? 'nothing' : (text.split('UTC: ')[1]?.split('.')[0] ?? 'nothing'),
    shown: must.length - missing.length,
    wanted: must.length,
    wrong: [...said, ...(text === '' ? [] : unknownLines(text)), ...(hasForm ? [] : ['another form'])],
    missing,
    tokens: text === '' ? 0 : Math.max(encode(text).length, countTokens(text)),
  };
}

/** What users wrote is not a statement of the brief. */
const skeletonOrText = (pattern: RegExp, text: string): string =>
  pattern.flags.includes('i') ? skeletonOf(text) : text;
