import { ActionButton } from '../action.tsx';
import { approveCompaction } from '../actions.ts';
import type { Need } from '../needs.tsx';
import { Card } from '../parts.tsx';
import { PlanTree } from '../plan-tree.tsx';
import { runHref } from '../route.ts';
import { isPlanned, type RunAt, type Status } from '../run.ts';
import { mayWrite, useAnswer } from '../state.ts';
import { Id, Line } from '../words.tsx';
import { RecordedWork } from './recorded-work.tsx';
import { OpenItems, Sessions } from './run-cards.tsx';

interface OverviewProps extends RunAt {
  status: Status;
  needs: readonly Need[];
}

export function OverviewView({ run, at, status, needs }: OverviewProps) {
  const { progress } = status;
  if (!isPlanned(status)) return <RecordedWork run={run} at={at} status={status} />;
  const count = progress.total > 0 ? `${progress.done}/${progress.total}` : undefined;
  return (
    <div class="columns">
      <div>
        <Card title="Plan" count={count}>
          <PlanTree run={run} isNow={at === null} steps={status.steps} needs={needs} />
        </Card>
      </div>
      <div>
        <Sessions run={run} at={at} status={status} />
        <OpenItems run={run} at={at} status={status} />
        <LatestDecisions run={run} status={status} />
        {at === null && mayWrite.value && status.run.status === 'active' && <Worklog run={run} />}
      </div>
    </div>
  );
}

const DECISIONS_SHOWN = 3;

function LatestDecisions({ run, status }: { run: string; status: Status }) {
  const { data } = useAnswer('decisions', { limit: DECISIONS_SHOWN }, run);
  if (status.totals.decisions === 0 || !data) return null;
  return (
    <Card title="Decisions" count={data.total} tools={<a href={runHref(run, { view: 'decisions' })}>all</a>}>
      <ul class="rows">
        {data.decisions.map(({ id, decision, irreversible }) => (
          <li key={id} class="row row-top" data-row tabIndex={-1}>
            <Id>{id}</Id>
            <span class="grow">
              <Line text={decision} chars={140} />
            </span>
            {irreversible && <span class="tag tag-warn">irreversible</span>}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Worklog({ run }: { run: string }) {
  const { data } = useAnswer('compact', {}, run);
  const moving = data?.entries.filter((entry) => entry.moves).length ?? 0;
  if (!data || (moving === 0 && data.unfinished.length === 0)) return null;
  return (
    <Card title="Worklog">
      <div class="row">
        <span class="grow dim">
          {data.lines} lines; {moving} entries can move to an archive, which leaves {data.linesAfter}.
        </span>
        <ActionButton
          quiet
          label="Approve"
          about="compaction"
          scope="maintain"
          action={() => approveCompaction(run, moving, data.lines, data.linesAfter)}
        />
      </div>
    </Card>
  );
}
