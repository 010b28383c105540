import { type Outcome, playStory } from './measure.ts';
import { type Variant, variants } from './padding.ts';
import { stories } from './stories.ts';

const MEDIAN_TOKENS = 400;
const MOST_TOKENS = 600;
const MOST_PLANNED_TOKENS = 1200;

/**
 * `npm run bench brief [STORY…] [VARIANT…] [text]`: plays stories through hooks, and says what the next session was told.
 * With `text` it also prints each brief.
 */
export async function runBrief(words: readonly string[], say: (sentence: string) => void): Promise<void> {
  const names = words.filter((word) => stories.some((story) => story.name === word));
  const told = variants.filter((variant) => words.includes(variant));
  const unknown = words.filter((word) => ![...names, ...told, 'text'].includes(word));
  if (unknown.length > 0) {
    say(
      `There is no story or variant ${unknown.join(', ')}. There are ${stories.map(({ name }) => name).join(', ')}; ${variants.join(', ')}; and \`text\`.`,
    );
    process.exitCode = 2;
    return;
  }
  const chosen = stories.filter(({ name }) => names.length === 0 || names.includes(name));
  for (const variant of told.length > 0 ? told : variants) {
    say(`Playing ${chosen.length} stories, ${variant} …`);
    const outcomes: Outcome[] = [];
    for (const story of chosen) outcomes.push(...(await playStory(story, variant)));
    if (!report(variant, outcomes, words.includes('text'))) process.exitCode = 1;
  }
}

function report(variant: Variant, outcomes: readonly Outcome[], withText: boolean): boolean {
  console.log(`\n${tableOf(outcomes)}`);
  if (withText) for (const { story, client, text } of outcomes) console.log(`\n--- ${story}, ${client}\n${text}`);
  const adHoc = outcomes.filter((one) => !one.isPlanned).map((one) => one.tokens);
  const tokens = adHoc.filter((count) => count > 0).sort((a, b) => a - b);
  const sum = (of: (one: Outcome) => number): number => outcomes.reduce((total, one) => total + of(one), 0);
  const [shown, wanted, wrong] = [sum((one) => one.shown), sum((one) => one.wanted), sum((one) => one.wrong.length)];
  const median = tokens[tokens.length >> 1] ?? 0;
  const most = tokens.at(-1) ?? 0;
  const planned = Math.max(0, ...outcomes.filter((one) => one.isPlanned).map((one) => one.tokens));
  const strays = outcomes.filter((one) => !one.isInRun).length;
  console.log(
    `\n${variant}: ${shown} of ${wanted} facts, ${wrong} false, ${strays} stories with a session in another run; tokens: median ${median}, most ${most}, planned ${planned}.`,
  );
  for (const { story, client, missing, wrong: lines } of outcomes)
    for (const one of [...missing.map((fact) => `missing ${fact}`), ...lines])
      console.log(`story ${story}, ${client}: ${one}`);
  const isTold = shown === wanted && wrong === 0 && strays === 0;
  // A brief whose sections are overfull takes what it may.
  return (
    isTold && (median <= MEDIAN_TOKENS || variant === 'full') && most <= MOST_TOKENS && planned <= MOST_PLANNED_TOKENS
  );
}

function tableOf(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map(({ story, client, form, isInRun, shown, wanted, wrong, tokens }) => [
    ...[story, client, form, isInRun ? 'yes' : 'no', `${shown} of ${wanted}`, String(wrong.length), String(tokens)],
  ]);
  const head = ['story', 'client', 'form', 'in its run', 'shown', 'false', 'tokens'];
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
