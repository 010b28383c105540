import * as v from 'valibot';
import { currentState } from './act.ts';
import { defineOperation } from './operation.ts';

const Totals = { input: v.number(), output: v.number(), cached: v.number() };

export const usage = defineOperation({
  name: 'usage',
  summary: 'Show the tokens spent, in all and by agent.',
  scope: 'read',
  input: v.object({}),
  output: v.object({ total: v.object(Totals), agents: v.array(v.object({ agent: v.string(), ...Totals })) }),
  async run(context) {
    const { usage: byAgent } = await currentState(context);
    const agents = [...byAgent.values()];
    const sum = (field: 'input' | 'output' | 'cached') => agents.reduce((total, one) => total + one[field], 0);
    return { data: { total: { input: sum('input'), output: sum('output'), cached: sum('cached') }, agents } };
  },
  say: ({ total, agents }, pen) =>
    agents.length === 0
      ? 'No token use is recorded.'
      : [
          `${pen.bold('in all')}  ${total.input} in, ${total.output} out, ${total.cached} cached`,
          ...agents.map((one) => `${one.agent}  ${one.input} in, ${one.output} out, ${one.cached} cached`),
        ].join('\n'),
});
