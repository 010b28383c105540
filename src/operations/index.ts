import { abort } from './abort.ts';
import { archive } from './archive.ts';
import { checkpoint } from './checkpoint.ts';
import { claim } from './claim.ts';
import { complete } from './complete.ts';
import { confirm } from './confirm.ts';
import { decide } from './decide.ts';
import { decisions } from './decisions.ts';
import { doctor } from './doctor.ts';
import { effectBegin } from './effect-begin.ts';
import { effectEnd } from './effect-end.ts';
import { erase } from './erase.ts';
import { fail } from './fail.ts';
import { gate } from './gate.ts';
import { heartbeat } from './heartbeat.ts';
import { init } from './init.ts';
import { items } from './items.ts';
import { log } from './log.ts';
import { note } from './note.ts';
import { planAdd } from './plan-add.ts';
import { planImport } from './plan-import.ts';
import { planRemove } from './plan-remove.ts';
import { planSet } from './plan-set.ts';
import { planShow } from './plan-show.ts';
import { raise } from './raise.ts';
import { release } from './release.ts';
import { reopen } from './reopen.ts';
import { resume } from './resume.ts';
import { retract } from './retract.ts';
import { retry } from './retry.ts';
import { runs } from './runs.ts';
import { search } from './search.ts';
import { sessionEnd } from './session-end.ts';
import { sessionStart } from './session-start.ts';
import { sessions } from './sessions.ts';
import { settle } from './settle.ts';
import { skip } from './skip.ts';
import { start } from './start.ts';
import { status } from './status.ts';
import { supervise } from './supervise.ts';
import { unarchive } from './unarchive.ts';
import { usage } from './usage.ts';
import { usageAdd } from './usage-add.ts';
import { verify } from './verify.ts';
import { wait } from './wait.ts';

/** What can be called: everything the product can do, in the order of its help. */
export const operations = [
  init,
  resume,
  status,
  planShow,
  planAdd,
  planSet,
  planRemove,
  planImport,
  sessionStart,
  sessionEnd,
  heartbeat,
  start,
  checkpoint,
  complete,
  fail,
  retry,
  skip,
  reopen,
  confirm,
  release,
  verify,
  gate,
  decide,
  retract,
  raise,
  settle,
  note,
  usageAdd,
  usage,
  claim,
  effectBegin,
  effectEnd,
  log,
  search,
  decisions,
  items,
  runs,
  sessions,
  wait,
  archive,
  unarchive,
  abort,
  erase,
  supervise,
  doctor,
] as const;
