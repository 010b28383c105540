import * as v from 'valibot';
import type { Usage } from '../../core/fold/state.ts';
import { currentState } from '../act.ts';
import { defineOperation } from '../operation.ts';

/** Null where it was not reported. */
const Tokens = v.nullable(v.number());
const Totals = { input: Tokens, output: Tokens, cached: Tokens };

export const usage = defineOperation({
  name: 'usage',
  summary: 'Show the tokens spent, in all and by agent.',
  scope: 'read',
  input: v.object({}),
  output: v.object({ total: v.object(Totals), agents: v.array(v.object({ agent: v.string(), ...Totals })) }),
  async run(context) {
    const { usage: byAgent } = await currentState(context);
    const agents = [...byAgent.values()];
    const sum = (field: 'input' | 'output' | 'cached') => {
      const reported = agents.flatMap((one) => one[field] ?? []);
      return reported.length === 0 && agents.length > 0 ? null : reported.reduce((total, tokens) => total + tokens, 0);
    };
    return { data: { total: { input: sum('input'), output: sum('output'), cached: sum('cached') }, agents } };
  },
  say: ({ total, agents }, pen) =>
    agents.length === 0
      ? 'No token use is recorded.'
      : [`${pen.bold('in all')}  ${counts(total)}`, ...agents.map((one) => `${one.agent}  ${counts(one)}`)].join('\n'),
});

function counts({ input, output, cached }: Omit<Usage, 'agent'>): string {
  return `${input ?? '?'} in, ${output ?? '?'} out, ${cached ?? '?'} cached`;
}
