import { useEffect, useRef, useState } from 'preact/hooks';
import { printable } from '../../src/core/text.ts';
import { Await, Card } from '../parts.tsx';
import type { RunAt } from '../run.ts';
import { useAnswer } from '../state.ts';
import { amountOf } from '../words.tsx';

const roles = ['worker', 'architect', 'orchestrator', 'verifier'] as const;
const SETTLE_MS = 150;

export function BriefView({ run, at }: RunAt) {
  const [budget, setBudget] = useState(2000);
  const [asked, setAsked] = useState(2000);
  const [role, setRole] = useState<(typeof roles)[number]>('worker');
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const brief = useAnswer('brief.show', { budget: asked, role }, run);
  const choose = (tokens: number): void => {
    setBudget(tokens);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setAsked(tokens), SETTLE_MS);
  };
  return (
    <Card title="The brief the next agent gets">
      {at !== null && <p class="dim pad">The brief always shows the current state.</p>}
      <div class="brief-tools">
        <label class="brief-budget">
          Budget
          <input
            type="range"
            min={200}
            max={6000}
            step={100}
            value={budget}
            onInput={(event) => choose(Number(event.currentTarget.value))}
          />
          <output>{amountOf(budget)} tokens</output>
        </label>
        <label>
          Role{' '}
          <select value={role} onChange={(event) => setRole(event.currentTarget.value as typeof role)}>
            {roles.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Await of={brief}>
        {({ sections, budget: { limit, used, omitted } }) => {
          const most = Math.max(...sections.map((section) => section.tokens), 1);
          const left = Object.entries(omitted).map(([name, count]) => `${count} ${name}`);
          return (
            <>
              <p class="pad">
                About <strong>{amountOf(used)}</strong> of {amountOf(limit)} tokens.
                {left.length > 0 && <span class="dim"> Left out: {left.join(', ')}.</span>}
              </p>
              <ol class="brief">
                {sections.map((section, index) => (
                  <li key={index} data-row tabIndex={-1}>
                    <p class="brief-cost">
                      <span>{section.title}</span>
                      <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
                        <rect width={(section.tokens / most) * 100} height="1" />
                      </svg>
                      <span class="dim nowrap">{section.tokens} tokens</span>
                    </p>
                    <pre dir="auto">{printable(withoutTitle(section))}</pre>
                  </li>
                ))}
              </ol>
            </>
          );
        }}
      </Await>
    </Card>
  );
}

/** The title is shown above, next to the section's cost. */
function withoutTitle({ title, text }: { title: string; text: string }): string {
  return text.startsWith(`${title}\n`) ? text.slice(title.length + 1) : text;
}
