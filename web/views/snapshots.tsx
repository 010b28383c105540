import { useState } from 'preact/hooks';
import type { Output } from '../api.ts';
import { Await, Card, Empty, Pill } from '../parts.tsx';
import type { RunAt } from '../run.ts';
import { useAnswer } from '../state.ts';
import { Ago, Id, Passage, plural } from '../words.tsx';

type Snapshot = Output<'snapshots'>['snapshots'][number];
type Rule = Output<'check'>['rules'][number];

export function Snapshots({ run, at }: RunAt) {
  const [limit, setLimit] = useState(30);
  const found = useAnswer('snapshots', { limit }, run);
  const checked = useAnswer('check', { all: true }, run);
  const rulesOf = (id: string): Rule[] | null => {
    const one = checked.data?.snapshots.find((snapshot) => snapshot.id === id);
    return one ? (checked.data?.rules.filter((rule) => rule.at === one.at) ?? []) : null;
  };
  return (
    <Card title="Snapshots" count={found.data?.snapshots.length || undefined}>
      {at !== null && <p class="dim pad">Snapshots are always shown as they are now.</p>}
      <Await of={found}>
        {({ snapshots }) =>
          snapshots.length === 0 ? (
            <Empty title="No snapshots yet.">
              Every session writes one when it ends; <code>holdfast snapshot</code> writes one now.
            </Empty>
          ) : (
            <>
              <ul class="rows">
                {snapshots.map((snapshot) => (
                  <SnapshotRow
                    key={snapshot.id}
                    snapshot={snapshot}
                    rules={rulesOf(snapshot.id)}
                    fault={checked.fault?.message}
                  />
                ))}
              </ul>
              {snapshots.length === limit && (
                <button type="button" class="button" onClick={() => setLimit(limit + 100)}>
                  Earlier ones
                </button>
              )}
            </>
          )
        }
      </Await>
    </Card>
  );
}

function SnapshotRow({
  snapshot,
  rules,
  fault,
}: {
  snapshot: Snapshot;
  rules: readonly Rule[] | null;
  fault: string | undefined;
}) {
  const failed = rules?.filter((rule) => rule.result === 'fail').length ?? 0;
  const unsure = rules?.filter((rule) => rule.result === 'cannot-tell').length ?? 0;
  const verdict = !rules ? null : failed > 0 ? 'fail' : 'pass';
  return (
    <li class="row row-top" data-row tabIndex={-1}>
      {verdict ? <Pill label={verdict} /> : <span class="tag">{fault ? 'not checked' : 'checking'}</span>}
      <div class="grow">
        <p>
          <strong>{snapshot.agent}</strong> <Id>{snapshot.id}</Id>{' '}
          <span class="dim">
            {snapshot.session}, <Ago at={snapshot.at} />, {snapshot.reason ?? 'during the session'}
            {snapshot.reconstructed && ', reconstructed'}
          </span>
        </p>
        {snapshot.next && <Passage text={snapshot.next} chars={240} />}
        {fault && !rules && <p class="dim">{fault}</p>}
        {rules && (
          <details>
            <summary>
              {plural(rules.length, 'rule')}:{' '}
              {failed + unsure === 0 ? 'all checks passed' : `${failed} failed, ${unsure} unknown`}
            </summary>
            <ul class="rules">
              {rules.map((rule) => (
                <li key={rule.rule}>
                  <Pill label={rule.result} /> <strong>{rule.rule}</strong> <span class="dim">{rule.why}</span>
                </li>
              ))}
            </ul>
          </details>
        )}
      </div>
    </li>
  );
}
