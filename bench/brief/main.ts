import { type Outcome, playStory } from './measure.ts';
import { stories } from './stories.ts';

const MEDIAN_TOKENS = 400;
const MOST_TOKENS = 600;

/** `npm run bench brief [STORY]`: plays stories through hooks, and says what the next session was told. */
export async function runBrief(names: readonly string[], say: (sentence: string) => void): Promise<void> {
  const unknown = names.filter((name) => !stories.some((story) => story.name === name));
  if (unknown.length > 0) {
    say(`There is no story ${unknown.join(', ')}. There are ${stories.map(({ name }) => name).join(', ')}.`);
    process.exitCode = 2;
    return;
  }
  const outcomes: Outcome[] = [];
  for (const story of stories.filter(({ name }) => names.length === 0 || names.includes(name))) {
    say(`Playing ${story.name}: ${story.about} …`);
    outcomes.push(...(await playStory(story)));
  }
  console.log(tableOf(outcomes));
  const tokens = outcomes.map((one) => one.tokens).filter((count) => count > 0);
  tokens.sort((a, b) => a - b);
  const sum = (of: (one: Outcome) => number): number => outcomes.reduce((total, one) => total + of(one), 0);
  const [shown, wanted, wrong] = [sum((one) => one.shown), sum((one) => one.wanted), sum((one) => one.wrong.length)];
  const median = tokens[tokens.length >> 1] ?? 0;
  const most = tokens.at(-1) ?? 0;
  console.log(`\n${shown} of ${wanted} facts, ${wrong} false; tokens: median ${median}, most ${most}.`);
  for (const { story, missing, wrong: lines } of outcomes)
    for (const line of [...missing.map((one) => `missing ${one}`), ...lines]) console.log(`story ${story}: ${line}`);
  if (shown < wanted || wrong > 0 || median > MEDIAN_TOKENS || most > MOST_TOKENS) process.exitCode = 1;
}

function tableOf(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map(({ story, client, form, shown, wanted, wrong, tokens }) => [
    ...[story, client, form, `${shown} of ${wanted}`, String(wrong.length), String(tokens)],
  ]);
  return [['story', 'client', 'form', 'shown', 'false', 'tokens'], ['---', '---', '---', '---', '---', '---'], ...rows]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n');
}
