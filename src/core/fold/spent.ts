import type { EventOf } from '../journal/event.ts';
import type { Usage } from './state.ts';

/** Tokens of one event; `input` includes the cached ones. */
export interface SpentTokens {
  input: number;
  output: number;
  cached: number | null;
}

/**
 * What an event says was spent. Before 0.2 `usage add` counted cached tokens outside of the input, and hooks inside. Such an
 * event does not say which: one of a hook, or of a session that a client reported, has them inside.
 */
export function spentIn({ body, evidence }: EventOf<'usage.added'>, isOfClient: boolean): SpentTokens {
  const { input, output, cached = null, includesCached } = body;
  if (cached === null) return { input, output, cached };
  const isInside = includesCached ?? (evidence === 'hook' || (evidence === undefined && isOfClient));
  return { input: isInside && cached <= input ? input : input + cached, output, cached };
}

/** The sums of an agent with one more report, also by model where it names one. */
export function addSpent(before: Usage | null, agent: string, spent: SpentTokens, model: string | undefined): Usage {
  const { models = [] } = before ?? {};
  const known = models.find((one) => one.model === model) ?? null;
  const others = models.filter((one) => one !== known);
  return {
    agent,
    ...plus(before, spent),
    ...(model ? { models: [...others, { model, ...plus(known, spent) }] } : models.length > 0 ? { models } : {}),
  };
}

type Sums = Pick<Usage, 'input' | 'output' | 'cached'>;

const plus = (before: Sums | null, { input, output, cached }: SpentTokens): Sums => ({
  input: (before?.input ?? 0) + input,
  output: (before?.output ?? 0) + output,
  cached: cached === null ? (before?.cached ?? null) : (before?.cached ?? 0) + cached,
});
