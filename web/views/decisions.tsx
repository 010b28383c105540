import { useState } from 'preact/hooks';
import type { Output } from '../api.ts';
import { Await, Card, Empty } from '../parts.tsx';
import { moment, type RunAt } from '../run.ts';
import { useAnswer } from '../state.ts';
import { Ago, Id, Passage, plural } from '../words.tsx';

type Decision = Output<'decisions'>['decisions'][number];

export function DecisionsView({ run, at }: RunAt) {
  const [limit, setLimit] = useState(50);
  const found = useAnswer('decisions', { all: true, limit, ...moment(at) }, run);
  return (
    <Card title="Decisions" count={found.data?.total}>
      <Await of={found}>
        {({ decisions, total }) =>
          decisions.length === 0 ? (
            <Empty title="No decisions yet.">
              Agents record decisions here; you can too: <code>holdfast decide "…" --why "…"</code>
            </Empty>
          ) : (
            <>
              <ul class="decisions">
                {decisions.map((decision) => (
                  <DecisionRow key={decision.id} decision={decision} />
                ))}
              </ul>
              {total > decisions.length && (
                <button type="button" class="button" onClick={() => setLimit(limit + 100)}>
                  {plural(total - decisions.length, 'more decision')}
                </button>
              )}
            </>
          )
        }
      </Await>
    </Card>
  );
}

function DecisionRow({ decision }: { decision: Decision }) {
  const { id, status, reason, context, alternatives = [], supersedes, supersededBy, retractedBecause } = decision;
  return (
    <li class={`decision decision-${status}`} id={`decision-${id}`} data-row tabIndex={-1}>
      <p class="decision-head">
        <Id>{id}</Id>
        {decision.type && <span class="tag">{decision.type}</span>}
        {decision.irreversible && <span class="tag tag-warn">irreversible</span>}
        {status !== 'active' && <span class="tag">{status}</span>}
        <span class="dim">
          by {decision.by} <Ago at={decision.at} />
          {decision.affects && decision.affects.length > 0 && `, on ${decision.affects.slice(0, 8).join(', ')}`}
        </span>
      </p>
      <div class="decision-text">
        <Passage text={decision.decision} chars={400} />
      </div>
      <dl class="facts">
        <dt>Reason</dt>
        <dd>
          <Passage text={reason} chars={400} />
        </dd>
        <dt>Context</dt>
        <dd>
          <Passage text={context} chars={300} />
        </dd>
        {alternatives.length > 0 && (
          <>
            <dt>Alternatives</dt>
            <dd>
              {alternatives.slice(0, 10).map((one) => (
                <Passage key={one} text={one} chars={200} />
              ))}
            </dd>
          </>
        )}
        {supersedes && (
          <>
            <dt>Replaces</dt>
            <dd>
              <Id>{supersedes}</Id>
            </dd>
          </>
        )}
        {supersededBy && (
          <>
            <dt>Replaced by</dt>
            <dd>
              <Id>{supersededBy}</Id>
            </dd>
          </>
        )}
        {retractedBecause && (
          <>
            <dt>Retracted</dt>
            <dd>
              <Passage text={retractedBecause} chars={300} />
            </dd>
          </>
        )}
      </dl>
    </li>
  );
}
